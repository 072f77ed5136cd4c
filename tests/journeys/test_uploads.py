"""Uploads that are broken off: the client killed half-way, the runtime in the middle of a copy."""

import hashlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, cast
from uuid import uuid4

import httpx
import pytest
from vitrine import Vitrine
from vitrine.transfer.importing import import_directory
from vitrine.transfer.journal import Journal
from vitrine.transfer.opening import Settings

from tests.journeys.runtime import Api, Runtime, kill_with_children, put_parts, wait_until

MIB = 1024**2
PARTS = 12
LARGE = 20 * MIB
"""Copied in parts of a quarter of it."""


DYING = """
import os, signal, sys, threading
from vitrine.cli.app import main
from vitrine.transfer.journal import JournalEntry

left, lock, note = int(sys.argv.pop(1)), threading.Lock(), JournalEntry.note

def noting(*noted):
    global left
    note(*noted)
    with lock:
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

JournalEntry.note = noting
main()
"""
"""The command, which kills itself as soon as so many parts are noted in its journal: a busy machine
might let who looks from outside come too late."""


def vitrine(
    runtime: Runtime, home: Path, *arguments: str | Path, dies_after: int = 0
) -> subprocess.Popen[str]:
    """The command, with a journal of its own; it may be killed after so many parts."""
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
    """Notes the parts that are sent; one may be sent again, where its answer got lost."""

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
    """The parts that hold what they should: the local store lists one that was cut off, too."""
    content = file.read_bytes()
    slices = (content[(part["PartNumber"] - 1) * 5 * MIB :][: 5 * MIB] for part in listed)
    return [
        part
        for part, bytes_ in zip(listed, slices, strict=True)
        if part["ETag"].strip('"') == hashlib.md5(bytes_, usedforsecurity=False).hexdigest()
    ]


def test_an_import_that_was_killed_goes_on_in_the_middle_of_a_file(
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
    assert [one.status.value for one in report.files] == ["uploaded"]
    assert len(transport.parts) == PARTS - stored
    link = api.ok("POST", f"{place}/download", {"downloadType": "assetFile", "key": "/cloud.bin"})
    body = httpx.get(link["downloadUrl"], timeout=60).content
    assert body == (folder / "scan" / "cloud.bin").read_bytes()
    assert list(journal.entries()) == []


def test_the_command_goes_on_with_an_upload_by_its_id(
    runtime: Runtime, api: Api, folder: Path, tmp_path: Path
) -> None:
    database, home = f"db-{uuid4().hex[:8]}", tmp_path / "home"
    import_killed(runtime, home, folder, database, parts=1)

    def ask(*arguments: str) -> dict[str, object]:
        printed, errors = vitrine(runtime, home, "uploads", *arguments, "--json").communicate(
            timeout=600
        )
        assert printed, errors
        return json.loads(printed)

    listed = ask("list")["items"]
    upload_id = cast("list[dict[str, str]]", listed)[0]["uploadId"]
    assert ask("show", upload_id)["state"] == "open"
    counts = ask("resume", upload_id)["counts"]
    assert isinstance(counts, dict)
    assert (counts["uploaded"], counts["failed"]) == (1, 0)
    assert ask("show", upload_id)["state"] == "completed"
    assert ask("list")["items"] == []


def completed_large_file(api: Api) -> tuple[str, str, list[bytes]]:
    """A file of 400 MiB whose upload is completed: its asset, the upload's path, its parts."""
    api.new_database("museum")
    asset_id = api.new_asset("museum", "statue")
    bodies = [os.urandom(50 * MIB) for _ in range(8)]
    scope = {"assetId": asset_id, "databaseId": "museum", "uploadType": "assetFile"}
    wanted = [{"relativeKey": "/cloud.bin", "num_parts": 8, "file_size": 400 * MIB}]
    begun = api.ok("POST", "/uploads", {**scope, "files": wanted})
    done = put_parts(begun["files"][0], bodies)
    upload = f"/uploads/{begun['uploadId']}"
    answer = api.ok("POST", f"{upload}/complete", {**scope, "files": [done]})
    assert answer["largeFileAsynchronousHandling"] is True
    return asset_id, upload, bodies


def test_a_large_file_survives_the_death_of_the_runtime_in_the_middle_of_its_copy(
    own_runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CDK_CONTEXT_JSON", json.dumps({"largeFileBytes": LARGE}))
    own_runtime.up()
    api = own_runtime.client()
    asset_id, upload, bodies = completed_large_file(api)
    place = f"/database/museum/assets/{asset_id}"
    key = api.ok("GET", place)["assetLocation"]["Key"] + "cloud.bin"
    (buckets,) = own_runtime.state.glob("**/s3/buckets")

    def copied() -> int:
        """Parts of the copy, as versitygw keeps them."""
        folder = f"*/.sgwtmp/multipart/{hashlib.sha256(key.encode()).hexdigest()}"
        return len(list(buckets.glob(f"{folder}/*/*")))

    wait_until(lambda: copied() > 8, every=0.005)  # it may be made in a second
    kill_with_children(own_runtime.endpoint["pid"])
    assert 8 < copied() < 80
    own_runtime.up()
    api = own_runtime.client()

    def is_finished() -> bool:
        return api.ok("GET", upload)["state"] != "working"

    wait_until(is_finished, seconds=600)
    (file,) = api.ok("GET", upload)["files"]
    assert (file["state"], file["largeFileAsynchronousHandling"]) == ("done", True)
    info = api.ok(
        "GET", f"{place}/fileInfo", params={"filePath": "/cloud.bin", "includeVersions": "true"}
    )
    assert [version["size"] for version in info["versions"]] == [400 * MIB]
    link = api.ok("POST", f"{place}/download", {"downloadType": "assetFile", "key": "/cloud.bin"})
    digest = hashlib.sha256()
    with httpx.stream("GET", link["downloadUrl"], timeout=60) as response:
        for piece in response.iter_bytes(MIB):
            digest.update(piece)
    assert digest.hexdigest() == hashlib.sha256(b"".join(bodies)).hexdigest()
    assert list(buckets.glob("*/.sgwtmp/multipart/*/*/*")) == []


def test_an_upload_that_is_given_up_leaves_nothing(api: Api, database: str) -> None:
    asset = api.new_asset(database, "given up")
    scope = {"assetId": asset, "databaseId": database, "uploadType": "assetFile"}
    wanted = [{"relativeKey": "/a.glb", "file_size": 10, "num_parts": 1}]
    begun = api.ok("POST", "/uploads", {**scope, "files": wanted})
    done = put_parts(begun["files"][0], [b"0123456789"])
    upload = f"/uploads/{begun['uploadId']}"
    assert api.send("DELETE", upload).status_code == 200
    assert api.send("GET", upload).status_code == api.send("DELETE", upload).status_code == 404
    assert api.refused("POST", f"{upload}/complete", {**scope, "files": [done]})[0] == 404
    assert api.ok("GET", f"/database/{database}/assets/{asset}/listFiles")["items"] == []
