"""A thousand models are uploaded at once: all are processed, with limited concurrency.

They are uploaded to a database without processing first, because the memory of the runtime for
uploads is measured without that of processing.
"""

import json
import os
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from datetime import datetime
from itertools import accumulate
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.journeys.runtime import Api, Runtime
from tests.journeys.test_import import figures

UPLOADS = int(os.environ.get("UPLOADS", "1000"))
ASSETS = 10
AT_ONCE = 3
"""The setting `executionsAtOnce` of the local stage."""
DATABASE = "thousand"
GIBIBYTE = 1024**3
SECONDS = 120 + 2 * UPLOADS
"""Two seconds per upload, on two busy cores."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Assets of triangles, each of another size."""
    for number in range(UPLOADS):
        asset = tmp_path / "models" / f"asset-{number % ASSETS}"
        asset.mkdir(parents=True, exist_ok=True)
        text = f"v 0 0 0\nv {number + 1} 0 0\nv 0 1 0\nf 1 2 3\n"
        (asset / f"{number:04}.obj").write_text(text)
    return tmp_path / "models"


@contextmanager
def watched(pid: int) -> Generator[list[int]]:
    """Yield the resident bytes of a process and its children, once a second."""
    ended, seen = threading.Event(), [_resident(pid)]

    def watch() -> None:
        while not ended.wait(1):
            seen.append(_resident(pid))

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield seen
    finally:
        ended.set()
        thread.join()


def _resident(pid: int) -> int:
    """Unshared memory: shared memory of several processes would count several times."""
    runner = psutil.Process(pid)
    found = 0
    for process in (runner, *runner.children(recursive=True)):
        try:
            found += process.memory_full_info().uss
        except psutil.NoSuchProcess:
            continue  # it has ended meanwhile
    return found


def executions(api: Api) -> list[dict[str, Any]]:
    """All executions on the assets of the database."""
    found: list[dict[str, Any]] = []
    for asset in api.ok("GET", f"/database/{DATABASE}/assets")["Items"]:
        path = f"/database/{DATABASE}/assets/{asset['assetId']}/workflows/executions"
        page = api.ok("GET", path)["message"]
        found += page["Items"]
        while "NextToken" in page:
            page = api.ok("GET", path, params={"startingToken": page["NextToken"]})["message"]
            found += page["Items"]
    return found


def most_at_once(found: list[dict[str, Any]]) -> int:
    """Maximum number of executions at the same time; one that ends releases its place first."""
    changes = [(datetime.fromisoformat(one["startedAt"]), 1) for one in found]
    changes += [(datetime.fromisoformat(one["stoppedAt"]), -1) for one in found]
    return max(accumulate(change for _, change in sorted(changes)))


def test_a_thousand_uploads_are_all_processed(runtime: Runtime, folder: Path) -> None:
    pid = json.loads((runtime.state / "runner.json").read_text())["pid"]
    plain = runtime.client().new_database("thousand-plain", processing=False)
    with watched(pid) as without:
        assert figures(runtime, folder, plain, seconds=SECONDS)["unexplained"] == UPLOADS
    with watched(pid) as resident:
        found = figures(runtime, folder, DATABASE, seconds=SECONDS)
    assert found["searchable"] == found["files"] == UPLOADS
    assert found["facts"] == found["thumbnails"] == found["glbs"] == UPLOADS
    runs = executions(runtime.client())
    assert [one["executionStatus"] for one in runs] == ["SUCCEEDED"] * UPLOADS
    most = most_at_once(runs)
    more = max(resident) - max(without)
    sys.stdout.write(
        f"{UPLOADS} uploads: {most} executions at once, {more / GIBIBYTE:.2f} GiB more memory\n"
    )
    assert most <= AT_ONCE
    assert more < GIBIBYTE
