"""The first steps of the guide, as they are written, on DynamoDB Local."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from click.testing import CliRunner, Result
from vitrine_mlflow.__main__ import main
from vitrine_mlflow.table import create_request

from local.engines import LOOPBACK, Options, free_port
from tests.engines import ROOT
from tests.integration.tracking.server import end, wait
from tests.integration.tracking.stores import TrackingTables

if TYPE_CHECKING:
    from tests.engines import RealEngines

GUIDE = ROOT / "docs" / "guides" / "tracking.md"
ADDRESS = "127.0.0.1:5000"


def _steps() -> list[str]:
    section = (
        GUIDE.read_text(encoding="utf-8").partition("## First steps\n")[2].partition("\n## ")[0]
    )
    blocks = re.findall(r"^```sh\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in block.splitlines()]


def _environment(engines: "RealEngines", home: Path, port: int) -> dict[str, str]:
    """The environment of the commands: the engine in place of AWS, and another port."""
    options = Options()
    return {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(home),
        "AWS_ENDPOINT_URL_DYNAMODB": engines.url("dynamodb"),
        "AWS_ACCESS_KEY_ID": options.access_key,
        "AWS_SECRET_ACCESS_KEY": options.secret_key,
        "MLFLOW_DISABLE_TELEMETRY": "true",
        "MLFLOW_PORT": str(port),
        "GIT_PYTHON_REFRESH": "quiet",
    }


def test_the_first_run_is_in_the_ui(engines: "RealEngines", tmp_path: Path) -> None:
    install, create, serve, export, log = _steps()
    assert install == "pip install 'vitrine-mlflow[server]'"  # the environment has it
    assert export == f"export MLFLOW_TRACKING_URI=http://{ADDRESS}"
    port = free_port()
    environment = _environment(engines, tmp_path, port)

    def run(step: str, **more: str) -> str:
        done = subprocess.run(
            shlex.split(step), cwd=tmp_path, env={**environment, **more},
            capture_output=True, text=True, check=False, timeout=120,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    assert "Created the table 'mlflow' in eu-central-1" in run(create)
    assert "Nothing was changed" in run(create)
    log_file = tmp_path / "server.log"
    with log_file.open("wb") as output:
        server = subprocess.Popen(
            shlex.split(serve), cwd=tmp_path, env=environment,
            stdout=output, stderr=output, start_new_session=True,
        )  # fmt: skip
    try:
        url = f"http://{LOOPBACK}:{port}"
        wait(server, f"{url}/health", log_file)
        run(log, MLFLOW_TRACKING_URI=url)
        query = {"experiment_ids": ["0"], "max_results": 100}
        reply: Any = httpx.post(f"{url}/ajax-api/2.0/mlflow/runs/search", json=query).json()
        assert [
            (metric["key"], metric["value"]) for metric in reply["runs"][0]["data"]["metrics"]
        ] == [("loss", 0.5)]
    finally:
        end(server)


def _create(engines: "RealEngines", table: str, monkeypatch: pytest.MonkeyPatch) -> Result:
    options = Options()
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", options.access_key)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", options.secret_key)
    options_of_table = ("--table", table, "--region", options.region)
    return CliRunner().invoke(
        main, ["create-table", *options_of_table, "--endpoint-url", engines.url("dynamodb")]
    )


def _without_an_index(request: Any) -> None:
    request["GlobalSecondaryIndexes"].pop()


def _without_a_local_index(request: Any) -> None:
    request["LocalSecondaryIndexes"].pop(0)


def _with_keys_only(request: Any) -> None:
    request["GlobalSecondaryIndexes"][3]["Projection"] = {"ProjectionType": "KEYS_ONLY"}


def _without_a_sort_key(request: Any) -> None:
    request["GlobalSecondaryIndexes"][0]["KeySchema"].pop()


@pytest.mark.parametrize(
    ("change", "reported"),
    [
        (_without_an_index, "GSI5 is missing"),
        (_without_a_local_index, "LSI1 is missing"),
        (_with_keys_only, "GSI4 lacks attributes"),
        (_without_a_sort_key, "the key of GSI1 is another"),
    ],
)
def test_a_table_of_another_form_is_refused_by_what_differs(
    change: Any, reported: str, engines: "RealEngines", tracking_tables: TrackingTables,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    name = f"other{change.__name__}"
    request = create_request(name)
    change(request)
    keyed = (*request["GlobalSecondaryIndexes"], *request["LocalSecondaryIndexes"], request)
    used = {key["AttributeName"] for source in keyed for key in source["KeySchema"]}
    request["AttributeDefinitions"] = [
        attribute
        for attribute in request["AttributeDefinitions"]
        if attribute["AttributeName"] in used
    ]
    tracking_tables.client.create_table(**request)
    refused = _create(engines, name, monkeypatch)
    assert refused.exit_code == 1
    assert reported in refused.output


def test_bad_arguments_of_the_command_are_one_line(
    engines: "RealEngines", monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("no", "a b c", "ü" * 5, "x" * 256):
        refused = _create(engines, name, monkeypatch)
        assert (refused.exit_code, f"--table: '{name}'" in refused.output) == (2, True)
    monkeypatch.delenv("AWS_DEFAULT_REGION", raising=False)
    monkeypatch.delenv("AWS_REGION", raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", os.devnull)
    nowhere = CliRunner().invoke(main, ["create-table", "--table", "mlflow"])
    assert (nowhere.exit_code, "--region" in nowhere.output) == (1, True)
    wrong = CliRunner().invoke(
        main, ["create-table", "--table", "mlflow", "--region", "x", "--endpoint-url", "localhost"]
    )
    assert (wrong.exit_code, "--endpoint-url" in wrong.output) == (2, True)
