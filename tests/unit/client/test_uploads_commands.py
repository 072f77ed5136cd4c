"""The commands for open uploads."""

import json
from pathlib import Path

import httpx
import pytest

from tests.unit.client.fake_files import Document, OpenUpload
from tests.unit.client.fake_server import FakeServer
from tests.unit.client.shell import Shell


@pytest.fixture
def broken_off(shell: Shell, server: FakeServer, tmp_path: Path) -> str:
    """An import of ten parts, of which seven are stored; the upload's id."""
    path = tmp_path / "garage" / "car" / "body.glb"
    path.parent.mkdir(parents=True)
    path.write_bytes(bytes(range(250)) * 4)
    server.part_size = 100
    server.fail("PUT", r"storage/put.*/(8|9|10)$", *(httpx.ConnectError("no") for _ in range(99)))
    shell.run("import", str(tmp_path / "garage"), "--jobs", "1")
    assert shell.code == 1
    server.faults.clear()
    server.storage_requests.clear()
    (upload_id,) = server.uploads
    return upload_id


def test_uploads_of_here_and_of_other_machines_are_listed_and_shown(
    shell: Shell, broken_off: str
) -> None:
    files: dict[str, Document] = {"/a.glb": {"relativeKey": "/a.glb", "file_size": 7}}
    shell.server.uploads["y-other"] = OpenUpload(asset_id="car", files=files)
    listed = json.loads(shell.run("uploads", "list", "--json"))["items"]
    assert [
        (row["uploadId"], row["files"], row["size"], row["startedHere"])
        for row in sorted(listed, key=lambda row: row["size"])
    ] == [("y-other", 1, 7, False), (broken_off, 1, 1000, True)]
    assert shell.run("uploads", "list", "--here").split("\t")[0] == broken_off
    assert "y-other" not in shell.out
    shown = json.loads(shell.run("uploads", "show", broken_off, "--json"))
    assert (shown["state"], shown["files"][0]["state"]) == ("open", "open")
    assert shell.run("uploads", "show", broken_off).split("\t")[2] == "open"
    shell.run("uploads", "show", "y-none")
    assert shell.code == 3


def test_an_upload_is_continued(shell: Shell, server: FakeServer, broken_off: str) -> None:
    report = json.loads(shell.run("uploads", "resume", broken_off, "--jobs", "1", "--json"))
    assert (shell.code, report["counts"]["uploaded"]) == (0, 1)
    numbers = [int(request.url.path.rpartition("/")[2]) for request in server.storage_requests]
    assert numbers == [8, 9, 10]
    assert json.loads(shell.run("uploads", "list", "--json"))["items"] == []


def test_what_an_upload_lacks_is_named(shell: Shell, broken_off: str) -> None:
    (shell.folder / "garage" / "car" / "body.glb").unlink()
    report = json.loads(shell.run("uploads", "resume", broken_off, "--json"))
    assert (shell.code, report["files"][0]["reason"]) == (1, "no longer exists")
    shell.run("uploads", "resume", "y-other")  # of another machine
    assert shell.code == 2
    assert "import the folder again" in shell.err
    shell.server.uploads.clear()
    shell.run("uploads", "resume", broken_off)
    assert shell.code == 3
    assert json.loads(shell.run("uploads", "list", "--json"))["items"] == []


def test_an_upload_is_abandoned(shell: Shell, server: FakeServer, broken_off: str) -> None:
    shell.run("uploads", "abort", broken_off)
    assert (shell.code, server.uploads) == (0, {})
    assert json.loads(shell.run("uploads", "list", "--json"))["items"] == []
    shell.run("uploads", "abort", broken_off)
    assert shell.code == 3
