"""`python -m benchmarks.large`: an asset of many files is renamed, gets versions, is read whole,
archived, brought back, deleted.

Each request must answer within five seconds whatever the number of files; jobs do the rest, of
which this prints the seconds until they have ended and every document is right, and the memory that
the worker took. With `--kill` the runtime dies in the middle of each job and is started again.
"""

import json
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any
from urllib.parse import quote

import boto3
import httpx
import typer
from botocore.config import Config
from rich.console import Console

from benchmarks import deep_pages
from local.engines import Options
from tests.journeys.runtime import Api, Runtime, kill_with_children

MOST_SECONDS = 5.0
_WORKERS = ("Worker", "IndexFanOut", "IndexObjects", "IndexSettle")
_PATIENCE = 1800.0
_MEBIBYTE = 1024 * 1024
_ASSET, _DATABASE = "large", "large-assets"
_VERSION = "1"
_MOST_NAMED = 10_000
_PATH = f"/database/{_DATABASE}/assets/{_ASSET}"
_screen = Console(highlight=False, soft_wrap=True)
app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@dataclass(frozen=True)
class Change:
    """A request, and how many file documents are active, archived and named so when it is done."""

    name: str
    method: str
    path: str
    body: dict[str, Any]
    active: int
    archived: int
    asset_name: str


@dataclass
class Taken:
    """Seconds of the request and until the index was right; highest memory of one worker."""

    request: float
    whole: float = 0.0
    worker_mebibytes: list[int] = field(default_factory=list[int])


@app.command()
def main(
    *,
    files: Annotated[int, typer.Option(min=1)] = 10_000,
    kill: Annotated[bool, typer.Option(help="Kill the runtime in the middle of each job.")] = False,
    output: Annotated[Path, typer.Option(help="Where to write the JSON.")] = Path(
        ".local/bench-large.json"
    ),
) -> None:
    """Time the changes of one large asset on the whole local product."""
    with TemporaryDirectory(prefix="vitrine-bench-") as name:
        runtime = Runtime(Path(name) / "state")
        try:
            runtime.up(*([] if kill else ["--in-memory"]))
            _make(runtime, files)
            before, after = _changes(files)
            taken = {one.name: _change(runtime, one, files=files, kill=kill) for one in before}
            api = _warm(runtime)
            reads = deep_pages.read(api, _PATH, _VERSION, lambda name: _memory(runtime, name))
            _tell(reads)
            named = _named_files(runtime, files)
            for one in (named, *after):
                taken[one.name] = _change(runtime, one, files=files, kill=kill)
        finally:
            runtime.down()
    result = {
        "files": files,
        "killed": kill,
        "changes": {name: vars(each) for name, each in taken.items()},
        "reads": reads,
    }
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    _screen.print(f"written to {output}")
    slow = [name for name, each in taken.items() if each.request > MOST_SECONDS]
    slow += [name for name, each in reads.items() if each["longest"] > MOST_SECONDS]
    for each in slow:
        _screen.print(f"over {MOST_SECONDS:g} s: the request to {each} it")
    raise typer.Exit(1 if slow else 0)


def _changes(files: int) -> tuple[list[Change], list[Change]]:
    """Those before all files are read, and those after it."""
    comment = {"comment": "all of them", "useLatestFiles": True}
    return [
        Change("rename", "PUT", "", {"assetName": "renamed"}, files, 0, "renamed"),
        Change("version", "POST", "/createVersion", comment, files, 0, "renamed"),
    ], [
        Change("archive", "DELETE", "/archiveAsset", {"confirmArchive": True}, 0, files, "renamed"),
        Change(
            "unarchive", "PUT", "/unarchiveAsset", {"confirmUnarchive": True}, files, 0, "renamed"
        ),
        Change("delete", "DELETE", "/deleteAsset", {"confirmPermanentDelete": True}, 0, 0, ""),
    ]


def _named_files(runtime: Runtime, files: int) -> Change:
    """A version of files that the request names: all of them, or as many as it may."""
    named = deep_pages.name_all(runtime.client(), _PATH, _VERSION)[:_MOST_NAMED]
    body = {"comment": "named", "useLatestFiles": False, "files": named}
    return Change("version of named files", "POST", "/createVersion", body, files, 0, "renamed")


def _tell(reads: dict[str, dict[str, float]]) -> None:
    for name, figures in reads.items():
        _screen.print(
            f"{name}: {figures['files']} files by {figures['requests']} requests, the longest "
            f"{figures['longest']:.2f} s, the last pages {figures['ratio']:.2f} times the first, "
            f"{figures['mebibytes']} MiB"
        )


def _make(runtime: Runtime, files: int) -> None:
    """An asset whose files are put straight into its folder, and all of them indexed."""
    api = runtime.client()
    api.new_database(_DATABASE)
    api.new_asset(_DATABASE, "new", assetId=_ASSET)
    bucket = api.ok("GET", "/buckets")["Items"][0]["bucketName"]
    s3 = boto3.client(
        "s3",
        endpoint_url=runtime.endpoint["s3"],
        region_name=Options().region,
        **runtime.keys,
        config=Config(max_pool_connections=8),
    )
    began = time.perf_counter()
    with ThreadPoolExecutor(8) as clients:
        keys = (f"{_ASSET}/part-{number:05}.bin" for number in range(files))
        for put in [clients.submit(s3.put_object, Bucket=bucket, Key=k, Body=b"x") for k in keys]:
            put.result()
    _until_right(runtime, lambda: _counts(runtime, "new") == (files, 0, files))
    _screen.print(f"{files} files put and found after {time.perf_counter() - began:.0f} s")


def _change(runtime: Runtime, change: Change, *, files: int, kill: bool) -> Taken:
    api = _warm(runtime)
    began = time.perf_counter()
    said = api.ok(change.method, f"{_PATH}{change.path}", change.body)
    taken = Taken(time.perf_counter() - began)
    if kill:
        time.sleep(2)
        kill_with_children(runtime.endpoint["pid"])
        runtime.up()
    named = change.active + change.archived

    def right() -> bool:
        taken.worker_mebibytes.append(_memory(runtime, *_WORKERS))
        return _counts(runtime, change.asset_name) == (change.active, change.archived, named)

    if "jobId" in said:
        watching = runtime.client()
        _until(lambda: _is_done(watching, said["jobId"]))
    taken.whole = _until_right(runtime, right) - began
    taken.worker_mebibytes = [max(taken.worker_mebibytes)]
    _screen.print(
        f"{change.name}: request {taken.request:.2f} s, all of {files} files right after "
        f"{taken.whole:.0f} s, worker {taken.worker_mebibytes[0]} MiB"
    )
    return taken


def _is_done(api: Api, job_id: str) -> bool:
    """Whether a job has ended well.

    Raises:
        RuntimeError: it has ended otherwise.
    """
    job = api.ok("GET", f"/jobs/{quote(job_id)}")
    if job["state"] in {"failed", "cancelled"}:
        raise RuntimeError(f"job {job_id}: {job['problems']}")
    return job["state"] == "done"


def _warm(runtime: Runtime) -> Api:
    """A client of functions that run already: how long they need to start is another matter."""
    api = runtime.client()
    api.send("GET", f"{_PATH}?showArchived=true")
    api.send("GET", f"{_PATH}/listFiles?pageSize=1")
    api.send("GET", f"{_PATH}/getVersions")
    api.refused("POST", f"{_PATH}/export", {"maxAssets": 0})
    for path, confirmed in (
        ("archiveAsset", "confirmArchive"),
        ("deleteAsset", "confirmPermanentDelete"),
    ):
        api.refused("DELETE", f"{_PATH}/{path}", {confirmed: False})
    return api


def _counts(runtime: Runtime, asset_name: str) -> tuple[int, int, int]:
    """File documents that are active, archived, and that carry the asset's name."""
    of_asset: dict[str, Any] = {"term": {"str_assetid.keyword": _ASSET}}
    searches: list[dict[str, Any]] = []
    for term in (
        {"bool_archived": False},
        {"bool_archived": True},
        {"str_assetname.keyword": asset_name},
    ):
        query = {"bool": {"filter": [of_asset, {"term": term}]}}
        searches += [{}, {"query": query, "size": 0, "track_total_hits": True}]
    lines = "".join(json.dumps(line) + "\n" for line in searches)
    answer = httpx.post(
        f"{runtime.endpoint['opensearch']}/files-*/_msearch",
        content=lines,
        headers={"Content-Type": "application/x-ndjson"},
        timeout=60,
    ).raise_for_status()
    found = [int(one["hits"]["total"]["value"]) for one in answer.json()["responses"]]
    return found[0], found[1], found[2]


def _memory(runtime: Runtime, *names: str) -> int:
    """The mebibytes of the largest process of these functions."""
    functions = runtime.admin("GET", "/functions")
    sizes = [
        facts["memoryBytes"] // max(1, len(facts["processes"])) // _MEBIBYTE
        for name, facts in functions.items()
        if name.endswith(names)
    ]
    return max(sizes, default=0)


def _until_right(runtime: Runtime, right: Callable[[], bool]) -> float:
    """Wait until the index is right, and is so still when nothing is under way any more.

    Answers with the time when it was right first.

    Raises:
        RuntimeError: it is not within half an hour, or is not any more.
    """
    _until(right)
    first = time.perf_counter()
    _until(lambda: bool(runtime.admin("GET", "/drained")["drained"]))
    if not right():
        raise RuntimeError("the index was right, and is not any more")
    return first


def _until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            raise RuntimeError(f"not so after {_PATIENCE:g} s")
        time.sleep(1)


if __name__ == "__main__":
    app()
