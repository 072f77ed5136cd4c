"""A file of 2 GiB, through the command, interrupted by kills: the result has the same bytes.

The client is killed first, then the runtime with all engines, then the runtime again while its
worker copies the file, which exceeds `LARGE_FILE_BYTES`. The content differs in each MiB, so that
no part can replace another one unnoticed.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from local.engines import free_port
from tests.journeys.replaying import PATIENCE, PatientApi
from tests.journeys.runtime import Api, Runtime, kill_with_children, wait_until

MIB = 1024**2
SIZE_MIB = 2048
PART_MIB = 32
PARTS = SIZE_MIB // PART_MIB
DATABASE = "scans"


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    """A folder that is removed at the end, with the runtime's data.

    Pytest keeps its own folders.
    """
    yield tmp_path
    shutil.rmtree(tmp_path, ignore_errors=True)


def large_file(path: Path) -> str:
    """Write the file; return its digest."""
    digest = hashlib.sha256()
    path.parent.mkdir(parents=True)
    with path.open("wb") as file:
        for number in range(SIZE_MIB):
            piece = hashlib.sha256(str(number).encode()).digest() * (MIB // 32)
            digest.update(piece)
            file.write(piece)
    return digest.hexdigest()


def importing(runtime: Runtime, place: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "vitrine", "import", str(place / "big")]
    command += ["--database", DATABASE, "--part-size", str(PART_MIB), "--json"]
    command += ["--endpoint", str(runtime.state / "endpoint.json")]
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "XDG_STATE_HOME": str(place / "home")},
    )


def kill_all(runtime: Runtime, importing: subprocess.Popen[str]) -> None:
    """The product with all its engines, and the client."""
    kill_with_children(runtime.endpoint["pid"])
    importing.kill()
    importing.communicate(timeout=PATIENCE)


def sent(place: Path) -> int:
    """Parts that the client has recorded as sent; the journal's first line names the files."""
    lines = (len(p.read_text().splitlines()) for p in (place / "home").rglob("*.upload"))
    return max(0, sum(lines) - 1)


def downloaded(api: Api, asset: str) -> str:
    """The digest of the stored file."""
    path = f"/database/{DATABASE}/assets/{asset}/download"
    link = api.ok("POST", path, {"downloadType": "assetFile", "key": "/cloud.bin"})
    digest = hashlib.sha256()
    with httpx.stream("GET", link["downloadUrl"], timeout=120) as answer:
        for piece in answer.iter_bytes(MIB):
            digest.update(piece)
    return digest.hexdigest()


def uploads(place: Path) -> list[Any]:
    """The ids of uploads that the client has started."""
    files = (place / "home").rglob("*.upload")
    return [json.loads(path.read_text().splitlines()[0])["upload_id"] for path in files]


def test_two_gibibytes_arrive_whole_though_everything_is_killed(
    place: Path, own_runtime: Runtime
) -> None:
    port = ("--port", str(free_port()))  # the client's journal identifies the upload by the address
    digest = large_file(place / "big" / "scan" / "cloud.bin")
    own_runtime.up(*port)
    running = importing(own_runtime, place)
    wait_until(lambda: sent(place) >= PARTS // 4, seconds=PATIENCE)
    running.kill()
    running.communicate(timeout=60)
    first = sent(place)
    assert PARTS // 4 <= first < PARTS

    running = importing(own_runtime, place)
    wait_until(lambda: sent(place) >= first + PARTS // 4, seconds=PATIENCE)
    kill_all(own_runtime, running)
    assert sent(place) < PARTS

    own_runtime.up(*port)
    (upload_id,) = uploads(place)
    running = importing(own_runtime, place)
    api = PatientApi(own_runtime.client().http)
    path = f"/uploads/{upload_id}"
    wait_until(lambda: api.ok("GET", path)["state"] == "working", seconds=PATIENCE)
    kill_all(own_runtime, running)

    own_runtime.up(*port)
    api = PatientApi(own_runtime.client().http)
    wait_until(lambda: api.ok("GET", path)["state"] != "working", seconds=PATIENCE)
    (file,) = api.ok("GET", path)["files"]
    assert (file["state"], file["largeFileAsynchronousHandling"]) == ("done", True)
    (asset,) = api.ok("GET", f"/database/{DATABASE}/assets")["Items"]
    assert downloaded(api, asset["assetId"]) == digest

    running = importing(own_runtime, place)
    printed, errors = running.communicate(timeout=PATIENCE)
    assert running.returncode == 0, printed + errors
    counts = json.loads(printed)["counts"]
    assert (counts["uploaded"], counts["skipped"]) == (0, 1)
