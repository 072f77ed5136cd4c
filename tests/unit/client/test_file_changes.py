"""Changing files from the client: the calls and the commands."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
import typer
from vitrine import ConflictError, Vitrine

from tests.unit.client.fake_server import BUCKET, FakeServer
from tests.unit.client.shell import Shell

IDS = ("garage", "pump-1")
BASE = "/database/garage/assets/pump-1"


class FileServer(FakeServer):
    """A server that accepts every change of files and records the requests."""

    def __init__(self) -> None:
        super().__init__()
        self.changes: list[tuple[str, str, Any]] = []
        self.job_id: str | None = None
        self.facts: dict[str, Any] = {}
        self.requested: list[tuple[str, dict[str, str]]] = []
        self.inner = self.api
        self.api = httpx.MockTransport(self._facts_or_else)

    def _facts_or_else(self, request: httpx.Request) -> httpx.Response:
        verb = request.url.path.removeprefix(BASE).strip("/")
        if verb not in self.facts:
            return self._change_or_else(request)
        self.requested.append((verb, dict(request.url.params)))
        return httpx.Response(200, json=self.facts[verb])

    def _change_or_else(self, request: httpx.Request) -> httpx.Response:
        verb = request.url.path.removeprefix(BASE).strip("/")
        if request.method == "GET" or not request.url.path.startswith(BASE + "/"):
            return self.inner.handle_request(request)
        body: dict[str, Any] = json.loads(request.content or "{}")
        self.changes.append((request.method, verb, body or None))
        if body.get("sourcePath") == "/taken.glb":
            return httpx.Response(409, json={"message": "it has it already", "code": "FileExists"})
        known: dict[str, Any] = {"success": True, "message": "done"}
        known |= {} if self.job_id is None else {"jobId": self.job_id}
        if verb == "createFolder":
            return httpx.Response(200, json={**known, "relativeKey": body["relativeKey"]})
        if verb == "deleteAssetPreview":
            return httpx.Response(200, json={**known, "assetId": IDS[1]})
        if verb in {"moveFile", "copyFile"}:
            paths = [body["sourcePath"], body["destinationPath"]]
            return httpx.Response(200, json={**known, "affectedFiles": paths})
        path = str(body["filePath"])
        more: dict[str, Any] = {
            "filePath": path,
            "affectedFiles": [path],
            "revertedFromVersionId": verb.rpartition("/")[2],
            "newVersionId": "v9",
            "primaryType": body.get("primaryType", ""),
            "deletedCount": 3,
        }
        return httpx.Response(200, json={**known, **more})


@pytest.fixture
def server() -> FileServer:
    return FileServer()


@pytest.fixture
def shell(server: FileServer, tmp_path: Path) -> Shell:
    return Shell(server, tmp_path)


@pytest.fixture(autouse=True)
def pump(server: FileServer, client: Vitrine) -> None:
    client.databases.create("garage", description="All of it", default_bucket_id=BUCKET)
    client.assets.create("garage", "Old Pump", description="A pump", asset_id="pump-1")
    server.changes.clear()


def test_every_change_is_sent_as_in_the_contract(client: Vitrine, server: FileServer) -> None:
    files = client.files
    assert files.create_folder(IDS, "/parts").relative_key == "/parts/"
    assert files.move(IDS, "/a.glb", "/b.glb").affected_files == ("/a.glb", "/b.glb")
    files.copy(IDS, "/a.glb", "/b.glb", to_database="museum", to_asset="bust")
    files.archive(IDS, "/parts", folder=True)
    files.unarchive(IDS, "/a.glb")
    files.delete(IDS, "/a.glb")
    assert files.revert(IDS, "/a.glb", "v1").new_version_id == "v9"
    assert files.set_primary(IDS, "/a.glb", "other", other="proxy").primary_type == "other"
    assert files.delete_asset_preview(IDS).asset_id == "pump-1"
    assert files.delete_auxiliary(IDS, "/a.glb").deleted_count == 3
    file, move = {"filePath": "/a.glb"}, {"sourcePath": "/a.glb", "destinationPath": "/b.glb"}
    to = {"destinationDatabaseId": "museum", "destinationAssetId": "bust"}
    assert server.changes == [
        ("POST", "createFolder", {"relativeKey": "/parts/"}),
        ("POST", "moveFile", move),
        ("POST", "copyFile", {**move, **to}),
        ("DELETE", "archiveFile", {"filePath": "/parts", "isPrefix": True}),
        ("POST", "unarchiveFile", file),
        ("DELETE", "deleteFile", {**file, "isPrefix": False, "confirmPermanentDelete": True}),
        ("POST", "revertFileVersion/v1", file),
        ("PUT", "setPrimaryFile", {**file, "primaryType": "other", "primaryTypeOther": "proxy"}),
        ("DELETE", "deleteAssetPreview", None),
        ("DELETE", "deleteAuxiliaryPreviewAssetFiles", file),
    ]


def test_a_destination_that_is_taken_is_a_conflict(client: Vitrine) -> None:
    with pytest.raises(ConflictError, match="already"):
        client.files.move(IDS, "/taken.glb", "/b.glb")


def test_the_commands_name_the_asset_and_print_what_was_changed(
    shell: Shell, server: FileServer
) -> None:
    line = shell.run("files", "move", "garage", "Old Pump", "/a.glb", "/b.glb")
    assert [row.split("\t")[0] for row in line.splitlines()] == ["/a.glb", "/b.glb"]
    assert shell.run("files", "mkdir", "garage", "pump-1", "/parts") == "/parts/\n"
    copied = ("files", "copy", "garage", "pump-1", "/a.glb", "/b.glb")
    assert shell.json(*copied, "--to", "museum/bust")["jobState"] == "done"
    assert server.changes[-1][2]["destinationDatabaseId"] == "museum"
    assert server.changes[-1][2]["destinationAssetId"] == "bust"
    assert shell.json("files", "archive", "garage", "pump-1", "/a", "--folder")["success"] is True
    assert shell.json("files", "unarchive", "garage", "pump-1", "/a.glb")["success"] is True
    assert shell.json("files", "revert", "garage", "pump-1", "/a.glb", "v1")["newVersionId"] == "v9"
    lod = shell.json("files", "set-primary", "garage", "pump-1", "/a.glb", "lod1")
    assert lod["primaryType"] == "lod1"
    for command in ("delete", "delete-auxiliary"):
        assert shell.json("files", command, "garage", "pump-1", "/a.glb", "--yes")["success"]
    assert shell.json("files", "delete-preview", "garage", "pump-1", "--yes")["assetId"] == "pump-1"


def test_a_reply_with_a_job_prints_its_id(shell: Shell, server: FileServer) -> None:
    server.job_id = "changeFiles.1"
    line = shell.run("files", "delete", "garage", "pump-1", "/parts", "--folder", "--yes")
    assert line == "/parts\tchangeFiles.1\trunning\n"


@pytest.mark.parametrize("command", ["delete", "delete-auxiliary"])
def test_nothing_is_deleted_without_a_terminal_for_confirmation(
    shell: Shell, server: FileServer, command: str
) -> None:
    shell.run("files", command, "garage", "pump-1", "/a.glb")
    assert shell.code == 2
    assert server.changes == []


USERS = {"items": [{"filePath": f"/{name}.obj"} for name in "bcdefgh"]}


def test_a_move_names_the_files_that_refer_to_the_file(shell: Shell, server: FileServer) -> None:
    server.facts = {"dependents": USERS}
    shell.run("files", "move", "garage", "pump-1", "/a.png", "/x.png")
    assert "Files that refer to it: 7 (/b.obj, /c.obj, /d.obj, /e.obj, /f.obj, …)" in shell.err
    assert [verb for _, verb, _ in server.changes] == ["moveFile"]
    assert server.requested == [("dependents", {"filePath": "/a.png"})]
    shell.run("files", "move", "garage", "pump-1", "/a.png", "/x.png", "--yes")
    assert "refer" not in shell.err


def test_a_user_must_confirm_the_removal_of_a_referenced_file(
    shell: Shell, server: FileServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    questions: list[str] = []

    def answer(question: str, **_: object) -> None:
        questions.append(question)
        raise typer.Abort

    monkeypatch.setattr("rich.console.Console.is_terminal", True)
    monkeypatch.setattr("typer.confirm", answer)
    server.facts = {"dependents": {"items": [{"filePath": "/b.obj"}]}}
    shell.run("files", "move", "garage", "pump-1", "/a.png", "/x.png")
    shell.run("files", "delete", "garage", "pump-1", "/parts", "--folder")
    assert questions == [
        "Files that refer to it: 1 (/b.obj). Move /a.png anyway?",
        "Files that refer to it: 1 (/b.obj). Permanently delete /parts with all versions?",
    ]
    assert server.requested[1] == ("dependents", {"filePath": "/parts", "isPrefix": "true"})
    assert server.changes == []


def test_a_file_moves_though_the_request_for_its_users_fails(
    shell: Shell, server: FileServer
) -> None:
    shell.run("files", "move", "garage", "pump-1", "/a.png", "/x.png")
    assert (shell.code, len(server.changes)) == (0, 1)


def test_dependencies_users_and_similar_shapes_are_listed(shell: Shell, server: FileServer) -> None:
    references = [
        {"path": "a.png", "kind": "texture", "state": "found", "filePath": "/a.png"},
        {"path": "b.png", "kind": "texture", "state": "missing"},
        {
            "path": "c.dae",
            "kind": "model",
            "state": "found",
            "filePath": "/c.dae",
            "circular": True,
        },
    ]
    similar = {"databaseId": "x", "assetId": "y", "assetName": "Y", "filePath": "/z.glb"}
    server.facts = {
        "dependencies": {"items": [{"filePath": "/m.obj", "references": references}]},
        "dependents": {"items": [{"filePath": "/m.obj"}]},
        "files/similar": {"similarityOf": "shape", "items": [{**similar, "similarity": 0.91}]},
    }
    where = ("garage", "pump-1")
    lines = shell.run("files", "dependencies", *where, "--file", "/m.obj").splitlines()
    assert lines[0] == "/m.obj\ta.png\ttexture\tfound\t/a.png"
    broken = shell.run("files", "dependencies", *where, "--broken").splitlines()
    assert broken == [
        "/m.obj\tb.png\ttexture\tmissing\t",
        "/m.obj\tc.dae\tmodel\tfound, circular\t/c.dae",
    ]
    assert shell.run("files", "used-by", *where, "/a.png") == "/m.obj\n"
    assert (
        shell.run("files", "similar", *where, "/m.obj", "--limit", "3") == "0.910\tx\tY\t/z.glb\n"
    )
    assert server.requested[0] == ("dependencies", {"filePath": "/m.obj"})
    assert server.requested[-1] == ("files/similar", {"filePath": "/m.obj", "size": "3"})


def test_the_address_of_a_glb_is_printed_or_why_there_is_none(
    shell: Shell, server: FileServer
) -> None:
    made = {
        "url": "https://storage.test/a.glb",
        "expiresAt": "2026-03-01T12:15:00Z",
        "versionId": "v1",
        "size": 2048,
        "current": False,
    }
    missing = {"reason": "refused", "message": "line 7 is cut off"}
    server.facts = {"files/glb": {"glb": made, "glbMissing": missing}}
    printed = shell.run("files", "glb", "garage", "pump-1", "/a.obj")
    assert printed.split("\t")[0] == "https://storage.test/a.glb"
    assert "no GLB of the current version: line 7 is cut off" in shell.err
    assert server.requested == [("files/glb", {"key": "/a.obj"})]
