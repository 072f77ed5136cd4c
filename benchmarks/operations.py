"""The requests of one API operation to DynamoDB, S3, OpenSearch and SQS: exact counts.

The whole product runs (`python -m local up --record`), and proxies before the engines count the
requests of each function. Each operation is called once to warm the functions up, and counted the
second time.
"""

import subprocess
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

from backend.spec.functions import FUNCTIONS
from backend.spec.functions.operations import AUTHORIZER
from backend.spec.functions.workers import INDEX_SETTLE
from tests.journeys.runtime import Api, Runtime

_LISTED = 100
_FEW_FILES, _MANY_FILES = 1, 50


@dataclass
class OperationRequests:
    """Requests by operation of each engine.

    The units that DynamoDB Local reports are not AWS's: `benchmarks.costs` computes those.
    """

    requests: dict[str, dict[str, int]] = field(default_factory=dict[str, dict[str, int]])

    def total(self, engine: str) -> int:
        return sum(self.requests.get(engine, {}).values())

    def add(self, engine: str, operation: str, count: int) -> None:
        operations = self.requests.setdefault(engine, {})
        operations[operation] = operations.get(operation, 0) + count


@dataclass(frozen=True)
class Operation:
    """A name and a call; it is called with 0 to warm up and with 1 to be counted."""

    name: str
    call: Callable[[int], Any]


def count_requests(say: Callable[[str], None]) -> dict[str, dict[str, Any]]:
    """The requests by operation and path (see `_path_of`).

    Raises:
        RuntimeError: the runtime does not start.
    """
    with TemporaryDirectory(prefix="vitrine-bench-") as name:
        runtime = Runtime(Path(name) / "state")
        try:
            say("starting the product")
            _start(runtime)
            return {
                operation.name: _counted(runtime, operation, say)
                for operation in _operations(runtime.client())
            }
        finally:
            runtime.down()


def _start(runtime: Runtime) -> None:
    try:
        runtime.up("--in-memory", "--record")
    except (AssertionError, subprocess.SubprocessError) as error:
        raise RuntimeError(f"the product does not start: {error}") from error


def _counted(runtime: Runtime, operation: Operation, say: Callable[[str], None]) -> dict[str, Any]:
    say(operation.name)
    operation.call(0)
    runtime.drain()
    runtime.admin("DELETE", "/requests")
    operation.call(1)
    runtime.drain()
    by_path: dict[str, OperationRequests] = {}
    tree = cast("dict[str, Any]", runtime.admin("GET", "/requests?by=function"))
    for engine, operations in tree.items():
        for name, callers in operations.items():
            for caller, count in callers.items():
                path = _path_of(engine, name, caller)
                if path is not None:
                    by_path.setdefault(path, OperationRequests()).add(
                        engine, name, count["requests"]
                    )
    return {path: asdict(requests) for path, requests in by_path.items()}


def _path_of(engine: str, operation: str, caller: str) -> str | None:
    """Return the path of a request: the client's, the API's, that of indexing, or that of settling.

    The authorizer is left out: its replies are cached, so it rarely sends requests. Requests to
    OpenSearch do not name their function: bulks count as indexing, although some are of settling,
    and all others are of searches.
    """
    if engine == "opensearch":
        return "indexing" if operation.endswith("_bulk") else "request"
    name = next((f.name for f in FUNCTIONS if caller.endswith(f"-{f.name}")), caller)
    if name == AUTHORIZER.name:
        return None
    if name == INDEX_SETTLE.name:
        return "settle"
    if name.startswith("Index"):
        return "indexing"
    return "request" if name else "client"


def _record(key: str) -> dict[str, str]:
    return {"metadataKey": key, "metadataValue": "value", "metadataValueType": "string"}


def _operations(api: Api) -> list[Operation]:
    databases = [api.new_database(f"bench-{number}") for number in (0, 1)]
    database = databases[0]
    for number in range(_LISTED):
        api.new_asset(database, f"listed {number}")
    assets = [api.new_asset(databases[1], f"asset {number}") for number in (0, 1)]
    base = [f"/database/{databases[1]}/assets/{asset}" for asset in assets]

    def describe(records: int) -> Callable[[int], Any]:
        body = {"metadata": [_record(f"key-{records}-{number}") for number in range(records)]}
        return lambda number: api.ok("POST", f"{base[number]}/metadata", body)

    def upload(files: int) -> Callable[[int], Any]:
        content = {f"/{files}/part-{number}.glb": [b"content"] for number in range(files)}
        return lambda number: api.upload(databases[1], assets[number], content)

    return [
        Operation("create a database", lambda n: api.new_database(f"bench-new-{n}")),
        Operation("create an asset", lambda n: api.new_asset(databases[1], f"new {n}")),
        Operation("get an asset", lambda n: api.ok("GET", base[n])),
        Operation(
            f"list {_LISTED} assets",
            lambda _: api.ok("GET", f"/database/{database}/assets?maxItems={_LISTED}"),
        ),
        Operation(
            "change an asset's description",
            lambda n: api.ok("PUT", base[n], {"description": "changed"}),
        ),
        Operation("add 1 metadata record", describe(1)),
        Operation("add 10 metadata records", describe(10)),
        Operation(f"upload {_FEW_FILES} file", upload(_FEW_FILES)),
        Operation(f"upload {_MANY_FILES} files", upload(_MANY_FILES)),
        Operation(
            f"list {_FEW_FILES + _MANY_FILES} files",
            lambda n: api.ok("GET", f"{base[n]}/listFiles"),
        ),
        Operation("a simple search", lambda _: api.search(query="part", entityTypes=["file"])),
    ]
