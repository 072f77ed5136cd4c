"""Uploads, and imports of folders by the command."""

import hashlib
import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast
from uuid import uuid4

import httpx
import pytest
from vitrine import Vitrine
from vitrine.transfer.importing import import_directory
from vitrine.transfer.journal import Journal
from vitrine.transfer.opening import Settings

from tests.journeys.runtime import Api, Runtime, noise

MIB = 1024**2
PARTS = 12

DYING = """
import os, signal, sys, threading
from vitrine.cli.app import main
from vitrine.transfer.journal import JournalEntry

left, lock, note = int(sys.argv.pop(1)), threading.Lock(), JournalEntry.record

def noting(*noted):
    global left
    note(*noted)
    with lock:
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

JournalEntry.record = noting
main()
"""
"""The command, which kills itself when its journal has this many parts.

An outside observer might be late on a busy machine.
"""


def vitrine(
    runtime: Runtime, home: Path, *arguments: str | Path, dies_after: int = 0
) -> subprocess.Popen[str]:
    """The command with a journal of its own; it may be killed after this many parts."""
    program = ["-c", DYING, str(dies_after)] if dies_after else ["-m", "vitrine"]
    command = [sys.executable, *program, *map(str, arguments)]
    command += ["--endpoint", str(runtime.state / "endpoint.json")]
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "XDG_STATE_HOME": str(home)},
    )


def import_killed(runtime: Runtime, home: Path, folder: Path, database: str, *, parts: int) -> None:
    """Import a folder until so many parts are stored."""
    named = ("--database", database, "--part-size", "5", "--jobs", "1")
    running = vitrine(runtime, home, "import", folder, *named, dies_after=parts)
    printed, errors = running.communicate(timeout=600)
    assert running.returncode == -signal.SIGKILL, printed + errors


class Counting(httpx.HTTPTransport):
    """Records the parts that are sent; a part may be sent again if its reply was lost."""

    def __init__(self) -> None:
        super().__init__()
        self.parts = set[str]()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if request.method == "PUT":
            self.parts.add(request.url.params["partNumber"])
        return super().handle_request(request)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """One file of twelve parts of 5 MiB."""
    path = tmp_path / "big" / "scan" / "cloud.bin"
    path.parent.mkdir(parents=True)
    path.write_bytes(os.urandom(PARTS * 5 * MIB))
    return tmp_path / "big"


def whole_parts(listed: list[Any], file: Path) -> list[Any]:
    """The parts with complete content: the local store also lists one that was cut off."""
    content = file.read_bytes()
    slices = (content[(part["PartNumber"] - 1) * 5 * MIB :][: 5 * MIB] for part in listed)
    return [
        part
        for part, bytes_ in zip(listed, slices, strict=True)
        if part["ETag"].strip('"') == hashlib.md5(bytes_, usedforsecurity=False).hexdigest()
    ]


def test_an_import_that_was_killed_continues_in_the_middle_of_a_file(
    runtime: Runtime, api: Api, folder: Path, tmp_path: Path
) -> None:
    database, home = f"db-{uuid4().hex[:8]}", tmp_path / "home"
    import_killed(runtime, home, folder, database, parts=3)

    (asset,) = api.ok("GET", f"/database/{database}/assets")["Items"]
    place = f"/database/{database}/assets/{asset['assetId']}"
    assert api.ok("GET", f"{place}/listFiles")["items"] == []
    journal = Journal(home / "vitrine" / "uploads", runtime.endpoint["api"])
    (entry,) = journal.entries()
    renewed = api.ok(
        "POST", f"/uploads/{entry.upload_id}/renew", {"files": [{"relativeKey": "/cloud.bin"}]}
    )
    stored = len(whole_parts(renewed["files"][0]["storedParts"], folder / "scan" / "cloud.bin"))
    assert 3 <= stored < PARTS

    transport = Counting()
    endpoint = runtime.endpoint
    with Vitrine(endpoint["api"], endpoint["adminApiKey"], storage_transport=transport) as client:
        report = import_directory(
            client, folder, database_id=database, jobs=1, settings=Settings(journal=journal)
        )
    assert [file.status.value for file in report.files] == ["uploaded"]
    assert len(transport.parts) == PARTS - stored
    link = api.ok("POST", f"{place}/download", {"downloadType": "assetFile", "key": "/cloud.bin"})
    body = httpx.get(link["downloadUrl"], timeout=60).content
    assert body == (folder / "scan" / "cloud.bin").read_bytes()
    assert list(journal.entries()) == []


def test_the_command_continues_an_upload_by_its_id(
    runtime: Runtime, api: Api, folder: Path, tmp_path: Path
) -> None:
    database, home = f"db-{uuid4().hex[:8]}", tmp_path / "home"
    import_killed(runtime, home, folder, database, parts=1)

    def run(*arguments: str) -> dict[str, object]:
        printed, errors = vitrine(runtime, home, "uploads", *arguments, "--json").communicate(
            timeout=600
        )
        assert printed, errors
        return json.loads(printed)

    listed = run("list", "--here")["items"]
    upload_id = cast("list[dict[str, str]]", listed)[0]["uploadId"]
    assert run("show", upload_id)["state"] == "open"
    counts = run("resume", upload_id)["counts"]
    assert isinstance(counts, dict)
    assert (counts["uploaded"], counts["failed"]) == (1, 0)
    assert run("show", upload_id)["state"] == "completed"
    assert run("list", "--here")["items"] == []


ASSETS = 6


def vitrine_command(runtime: Runtime, *arguments: str | Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "vitrine", *map(str, arguments)]
    command += ["--endpoint", str(runtime.state / "endpoint.json")]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def completed(runtime: Runtime, *arguments: str | Path, seconds: float = 600) -> str:
    """Run a command that must succeed; return its output."""
    running = vitrine_command(runtime, *arguments)
    printed, errors = running.communicate(timeout=seconds)
    assert running.returncode == 0, printed + errors
    return printed


def figures(
    runtime: Runtime, folder: Path, database: str, *, seconds: float = 600
) -> dict[str, int]:
    """Run the demo, which must find every file; return its last line."""
    options = ("--database", database, "--timeout", str(seconds))
    printed = completed(runtime, "demo", folder, *options, seconds=1.5 * seconds)
    return json.loads(printed.strip().splitlines()[-1])


@dataclass(frozen=True)
class Imported:
    """A folder, the database of its import, and the result of the import."""

    folder: Path
    database: str
    figures: dict[str, int]


@pytest.fixture(scope="module")
def imported(runtime: Runtime, tmp_path_factory: pytest.TempPathFactory) -> Imported:
    folder = folder_of_assets(tmp_path_factory.mktemp("folders") / "import me", ASSETS)
    database = f"db-{uuid4().hex[:8]}"
    return Imported(folder, database, figures(runtime, folder, database))


def folder_of_assets(root: Path, assets: int = 12) -> Path:
    """Write assets of ten files each; names have blanks, `+`, Unicode or no extension.

    None is of a format that is inspected: the tests are about names.
    """
    names = ("a.bin", "b b.csv", "c+d.dat", "ü.log", "no-extension", "sub/e.md", "sub/f#g.txt")
    for asset in range(assets):
        for number, name in enumerate((*names, "empty.bin", "h.json", "deep/er/i.xml")):
            path = root / f"asset {asset:02}" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            size = 0 if name.startswith("empty") else 1000 + number
            path.write_bytes(noise(size, f"{asset}/{name}"))
    return root


def test_odd_names_are_all_found(imported: Imported) -> None:
    assert imported.figures["searchable"] == imported.figures["files"] == 10 * ASSETS


def test_a_second_import_uploads_nothing(runtime: Runtime, imported: Imported) -> None:
    options = ("--database", imported.database, "--json")
    printed = completed(runtime, "import", imported.folder, *options)
    counts = json.loads(printed)["counts"]
    assert (counts["uploaded"], counts["skipped"]) == (0, 10 * ASSETS)


def test_downloaded_files_equal_the_imported_ones(
    runtime: Runtime, imported: Imported, tmp_path: Path
) -> None:
    target = tmp_path / "fetched"
    completed(runtime, "download", imported.database, "asset 03", "--output", target)
    source = imported.folder / "asset 03"
    paths = sorted(p.relative_to(source) for p in source.rglob("*") if p.is_file())
    assert sorted(p.relative_to(target) for p in target.rglob("*") if p.is_file()) == paths
    for path in paths:
        assert (target / path).read_bytes() == (source / path).read_bytes()
