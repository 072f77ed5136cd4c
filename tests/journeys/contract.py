"""Whether every route answers as the OpenAPI document says, whatever it is sent (schemathesis).

`PART=journeys` sends some 800 requests to what `make run` serves (`test_docs.py`); `make prove
PART=fuzz` sends more to a runtime of its own (`long/test_contract.py`).
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
"""Cases per operation in the phase that draws them at random; `make fuzz` draws a hundred."""
PHASES = os.environ.get("FUZZ_PHASES", "examples,fuzzing")
"""Phases of schemathesis; `make fuzz` adds `coverage`, 6,000 cases at the limits of schemas."""

DATABASE, ASSET, DOOMED, FILE = "museum", "pump-house", "condemned", "/scans/pump.e57"
ENDING = {"delete_asset", "archive_asset"}
"""What ends an asset; these get one of their own, so that the others meet one that is there."""

LOCKING_OUT = {
    *("update_api_key", "delete_api_key", "delete_role", "update_role"),
    *("create_user_roles", "update_user_roles", "delete_user_roles"),
}
"""What could take the key or the rights away that the other operations are asked with."""

CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
)


def furnish(api: Api) -> None:
    """Put something into a product."""
    api.new_database(DATABASE)
    for asset_id in (ASSET, DOOMED):
        api.new_asset(DATABASE, asset_id, assetId=asset_id)
        api.upload(DATABASE, asset_id, {FILE: [noise(100, asset_id)]})
    api.ok("POST", "/tag-types", {"tagTypeName": "condition", "description": "how it is"})
    tag = {"tagName": "restored", "tagTypeName": "condition", "description": "made anew"}
    api.ok("POST", "/tags", tag)


def check_contract(runtime: Runtime, folder: Path) -> None:
    """Send every operation requests, first those that lock nobody out.

    Raises:
        AssertionError: an answer is none that the document knows.
    """
    document = _meeting_what_is_there(runtime.client())
    (folder / "openapi.json").write_text(json.dumps(document))
    names = {
        operation["operationId"]
        for operations in document["paths"].values()
        for operation in operations.values()
    }
    locking_out = _options("include", sorted(LOCKING_OUT & names))
    others = _options("exclude", sorted(LOCKING_OUT & names))
    _run(runtime, folder, f"{PHASES},stateful", others)
    _run(runtime, folder, PHASES, locking_out)


def _meeting_what_is_there(api: Api) -> dict[str, Any]:
    """The document whose paths name things that exist, or one that does not.

    Ids that are only drawn at random would never be any other answer than 404.
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
        # one thread: CPython 3.11's parser is not safe in two, and hypothesis parses
        *("--workers", "1", "--continue-on-failure", "--max-redirects", "0", "--no-color"),
        *("--seed", os.environ[SEED]),
        # the gateway answers after thirty seconds at the latest, once it knows who asks
        *("--warnings", "off", "--request-timeout", "60", *operations),
        *("--suppress-health-check", "too_slow"),  # the machine may be busy
    ]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr[-2_000:]
    assert "passed" in done.stdout
