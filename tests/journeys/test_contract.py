"""The replies of every route match the OpenAPI document: schemathesis sends requests to it.

It takes over 20 seconds: `PART=journeys` sends some 400 requests to a separate runtime, because
random requests delete what others need; `PART=fuzz` sends those at the limits of schemas, too.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.amounts import amount
from tests.journeys.runtime import Api, Runtime, noise
from tests.journeys.shared import SEED

EXAMPLES = str(amount("FUZZ_EXAMPLES"))
"""Random cases per operation; `make fuzz` draws a hundred."""
PHASES = os.environ.get("FUZZ_PHASES", "examples,fuzzing")
"""Phases of schemathesis; `make fuzz` adds `coverage`, 6,000 cases at the limits of schemas."""

DATABASE, ASSET, DOOMED, FILE = "museum", "pump-house", "condemned", "/scans/pump.e57"
ENDING = {"delete_asset", "archive_asset"}
"""Operations that end an asset; they use a separate one, so that the others find theirs."""

REVOKING = {
    *("update_api_key", "delete_api_key", "delete_role", "update_role"),
    *("update_own_api_key", "delete_own_api_key"),
    *("create_user_roles", "update_user_roles", "delete_user_roles"),
}
"""Operations that can revoke the key or the permissions of this test's requests."""

# Methods of VAMS 2.6 that are not served are no operations of the document; `coverage` sends them.
CONFIG = """
[checks.not_a_server_error]
expected-statuses = ["2xx", "3xx", "4xx", 501]
"""
CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
)


def create_objects(api: Api) -> None:
    """Create the objects that paths of the requests name."""
    api.new_database(DATABASE)
    for asset_id in (ASSET, DOOMED):
        api.new_asset(DATABASE, asset_id, assetId=asset_id)
        api.upload(DATABASE, asset_id, {FILE: [noise(100, asset_id)]})
    api.ok("POST", "/tag-types", {"tagTypeName": "condition", "description": "how it is"})
    tag = {"tagName": "restored", "tagTypeName": "condition", "description": "made anew"}
    api.ok("POST", "/tags", tag)


def check_contract(runtime: Runtime, folder: Path) -> None:
    """Send requests to every operation; those that can revoke the test's own access come last.

    Raises:
        AssertionError: a reply does not match the document.
    """
    document = _with_examples(runtime.client())
    (folder / "openapi.json").write_text(json.dumps(document))
    (folder / "schemathesis.toml").write_text(CONFIG)
    names = {
        operation["operationId"]
        for operations in document["paths"].values()
        for operation in operations.values()
    }
    revoking = _options("include", sorted(REVOKING & names))
    others = _options("exclude", sorted(REVOKING & names))
    _run(runtime, folder, f"{PHASES},stateful", others)
    _run(runtime, folder, PHASES, revoking)


def _with_examples(api: Api) -> dict[str, Any]:
    """Return the document with examples of ids: existing ones, and one that does not exist.

    Random ids alone would only result in 404.
    """
    document = api.ok("GET", "/openapi.json")
    for operations in document["paths"].values():
        for operation in operations.values():
            asset = DOOMED if operation["operationId"] in ENDING else ASSET
            known = {"databaseId": DATABASE, "assetId": asset, "filePath": FILE}
            for parameter in operation["parameters"]:
                if parameter["name"] in known:
                    there = known[parameter["name"]]
                    parameter["schema"] = {"type": "string", "enum": [there, "absent-one"]}
    return document


def _options(kind: str, names: list[str]) -> list[str]:
    return [option for name in names for option in (f"--{kind}-operation-id", name)]


def _run(runtime: Runtime, folder: Path, phases: str, operations: list[str]) -> None:
    command = [
        str(Path(sys.executable).with_name("schemathesis")),
        *("run", "openapi.json", "--url", runtime.endpoint["api"]),
        *("--header", f"Authorization: {runtime.endpoint['adminApiKey']}"),
        *("--phases", phases, "--max-examples", EXAMPLES, "--checks", ",".join(CHECKS)),
        # one thread: CPython 3.11's parser, which hypothesis uses, is not safe in two
        *("--workers", "1", "--continue-on-failure", "--max-redirects", "0", "--no-color"),
        *("--seed", os.environ[SEED]),
        # the gateway replies within thirty seconds, after the authorizer
        *("--warnings", "off", "--request-timeout", "60", *operations),
        *("--suppress-health-check", "too_slow"),  # on a busy machine
    ]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr[-2_000:]
    assert "passed" in done.stdout


def test_every_route_matches_the_openapi_document(own_runtime: Runtime, tmp_path: Path) -> None:
    own_runtime.up("--in-memory")
    create_objects(own_runtime.client())
    check_contract(own_runtime, tmp_path)
