"""Comments from the client: the calls and the commands."""

from pathlib import Path
from typing import cast

import httpx
import pytest
from vitrine import NotFoundError, PermissionDeniedError, Vitrine

from tests.unit.client.fake_files import Document, refuse, reply
from tests.unit.client.fake_server import BUCKET, FakeServer
from tests.unit.client.shell import Shell

KEY = "assetVersionId:commentId"


class CommentServer(FakeServer):
    """Stores comments; those of `bob` are not the caller's."""

    def __init__(self) -> None:
        super().__init__()
        self.comments: dict[str, Document] = {}
        self.deleted: dict[str, Document] = {}

    def _route(self, request: httpx.Request, parts: list[str], body: Document) -> httpx.Response:
        match [request.method, *parts]:
            case ["GET", "comments", "assets", _, *rest] if KEY not in rest:
                return self._list(request, rest)
            case [method, "comments", "assets", asset_id, "assetVersionId:commentId", key]:
                return self._one(method, asset_id, key, body)
            case _:
                return super()._route(request, parts, body)

    def _list(self, request: httpx.Request, rest: list[str]) -> httpx.Response:
        query = request.url.params
        shown = self.deleted if query.get("showDeleted") == "true" else self.comments
        beginning = f"{rest[1]}:" if rest else ""
        rows = [row for key, row in shown.items() if key.startswith(beginning)]
        return self.page(rows, query, "message")

    def _one(self, method: str, asset_id: str, key: str, body: Document) -> httpx.Response:
        if method == "POST":
            self.comments[key] = self.row(asset_id, key, str(body["commentBody"]))
            return reply({"message": "Succeeded"})
        found = self.comments.get(key) or refuse(404, "no such comment", code="CommentNotFound")
        if method == "GET":
            return reply({"message": found})
        if found["commentOwnerID"] != "ann":
            refuse(403, "not yours", code="NotTheOwner")
        if method == "DELETE":
            self.deleted[key] = self.comments.pop(key)
            return reply({"message": "Comment deleted"})
        found["commentBody"] = body["commentBody"]
        return reply({"message": "Succeeded"})

    def row(self, asset_id: str, key: str, text: str, owner: str = "ann") -> Document:
        row = {"assetId": asset_id, KEY: key, "commentBody": text, "commentOwnerID": owner}
        return cast("Document", {**row, "dateCreated": f"2026-03-01T12:00:0{len(self.comments)}Z"})


@pytest.fixture
def server() -> CommentServer:
    return CommentServer()


@pytest.fixture
def shell(server: CommentServer, client: Vitrine, tmp_path: Path) -> Shell:
    client.databases.create("garage", description="All of it", default_bucket_id=BUCKET)
    client.assets.create("garage", "Old Pump", description="A pump", asset_id="pump")
    return Shell(server, tmp_path)


def test_comments_are_written_read_changed_and_deleted(
    client: Vitrine, server: CommentServer
) -> None:
    key = client.comments.add("pump", "Nice", version_id="2")
    assert key.startswith("2:x")
    assert server.requests[-1] == ("POST", f"/comments/assets/pump/{KEY}/{key.replace(':', '%3A')}")
    assert client.comments.get("pump", key).comment_body == "Nice"
    client.comments.edit("pump", key, "Nicer")
    assert [one.comment_body for one in client.comments.list("pump")] == ["Nicer"]
    client.comments.delete("pump", key)
    assert list(client.comments.list("pump")) == []
    assert [one.key for one in client.comments.list("pump", show_deleted=True)] == [key]
    with pytest.raises(NotFoundError):
        client.comments.get("pump", key)


def test_lists_follow_pages_and_versions(client: Vitrine, server: CommentServer) -> None:
    server.page_limit = 2
    for number in range(5):
        client.comments.add(
            "pump", f"{number}", version_id=str(number % 2), comment_id=f"c{number}"
        )
    assert len(list(client.comments.list("pump"))) == 5
    assert [one.key for one in client.comments.list("pump", version_id="1")] == ["1:c1", "1:c3"]


def test_others_comments_cannot_be_changed(client: Vitrine, server: CommentServer) -> None:
    server.comments["0:b"] = server.row("pump", "0:b", "Ugly", owner="bob")
    with pytest.raises(PermissionDeniedError):
        client.comments.edit("pump", "0:b", "Nice")


def test_the_commands_name_the_asset_and_print_keys(shell: Shell, server: CommentServer) -> None:
    key = shell.run("comments", "add", "garage", "Old Pump", "Nice").strip()
    assert key.startswith("0:x")
    assert shell.run("comments", "list", "garage", "pump").split("\t")[::3] == [key, "Nice\n"]
    shell.run("comments", "edit", "garage", "pump", key, "Nicer")
    items = shell.json("comments", "list", "garage", "pump", "--version", "0")["items"]
    assert isinstance(items, list)
    assert [cast("Document", one)["commentBody"] for one in items] == ["Nicer"]
    shell.run("comments", "delete", "garage", "pump", key)
    assert (shell.code, "--yes" in shell.err) == (2, True)
    assert shell.json("comments", "delete", "garage", "pump", key, "-y") == {
        "message": "Comment deleted"
    }
    assert shell.run("comments", "list", "garage", "pump", "--deleted").startswith(key)
    server.comments["0:b"] = server.row("pump", "0:b", "Ugly", owner="bob")
    shell.run("comments", "edit", "garage", "pump", "0:b", "x")
    assert shell.code == 4
    shell.run("comments", "edit", "garage", "pump", "0:none", "x")
    assert shell.code == 3
