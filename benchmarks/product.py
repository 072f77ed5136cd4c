"""The whole product as `make run` serves it, with an additional route that echoes.

The echo passes the same gateway, authorizer and kind of process as every other route, so the cost
of a route beyond the echo is the product's own.
"""

import copy
import json
import subprocess
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from local.synthesis import synthesize
from tests.journeys.runtime import Runtime

ECHO_PATH = "/echo"
_MODEL = "ConfigurationApi"
_CODE = 'def handler(event, context):\n    return {"statusCode": 200, "body": "{}"}\n'


@contextmanager
def served(say: Callable[[str], None]) -> Generator[Runtime]:
    """A product with a temporary folder and tables in memory; everything is deleted afterwards.

    Raises:
        RuntimeError: the product does not start.
    """
    with TemporaryDirectory(prefix="vitrine-bench-") as name:
        folder = Path(name)
        say("starting the product")
        assembly = synthesize(folder / "assembly", {})
        _add_echo(assembly)
        runtime = Runtime(folder / "state")
        try:
            runtime.up("--in-memory", "--assembly", str(assembly))
        except (AssertionError, subprocess.SubprocessError) as error:
            raise RuntimeError(f"the product does not start: {error}") from error
        try:
            yield runtime
        finally:
            runtime.down()


def _add_echo(assembly: Path) -> None:
    """Add a function, its integration and its route to the template of the API."""
    [template] = assembly.glob("*-api.template.json")
    [manifest] = assembly.glob("*-api.assets.json")
    (assembly / "asset.echo").mkdir()
    (assembly / "asset.echo" / "echo.py").write_text(_CODE, encoding="utf-8")
    _change(manifest, _with_asset)
    _change(template, _with_route)


def _with_asset(manifest: dict[str, Any]) -> None:
    asset = copy.deepcopy(next(iter(manifest["files"].values())))
    asset["source"] = {"path": "asset.echo", "packaging": "zip"}
    for destination in asset["destinations"].values():
        destination["objectKey"] = "echo.zip"
    manifest["files"]["echo"] = asset


def _with_route(template: dict[str, Any]) -> None:
    resources = template["Resources"]
    function = copy.deepcopy(resources[_MODEL])
    function["Properties"]["Code"]["S3Key"] = "echo.zip"
    function["Properties"]["Handler"] = "echo.handler"
    integration = copy.deepcopy(resources[f"{_MODEL}Integration"])
    integration["Properties"]["IntegrationUri"] = {"Fn::GetAtt": ["Echo", "Arn"]}
    route = copy.deepcopy(resources["RouteConfigurationGetSecureConfig"])
    route["Properties"]["RouteKey"] = f"GET {ECHO_PATH}"
    route["Properties"]["Target"] = {"Fn::Join": ["", ["integrations/", {"Ref": "EchoParts"}]]}
    resources |= {"Echo": function, "EchoParts": integration, "EchoRoute": route}


def _change(file: Path, change: Callable[[dict[str, Any]], None]) -> None:
    content = json.loads(file.read_text(encoding="utf-8"))
    change(content)
    file.write_text(json.dumps(content), encoding="utf-8")
