"""Comments on versions of assets: who may write what, and what lists return."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from backend.aws.objects import S3Objects
from backend.core.authorization import Authorization, Secured
from backend.core.identity import Identity
from backend.core.tables import Tables
from backend.core.transactions import Put, Update
from backend.domains.comments.models import MAX_BODY_CHARS
from backend.domains.comments.repository import CommentRepository
from backend.domains.comments.routes import build_router
from backend.domains.comments.service import CommentService
from backend.spec.routes import Action, Route
from backend.spec.tables.assets import ASSET_VERSIONS, ASSETS
from backend.spec.tables.registry import COMMENTS
from tests.factories.access import OnlyUser
from tests.factories.assets import asset_service, created_asset, created_database
from tests.factories.audit import audit_service, entries
from tests.factories.http import Client, Response
from tests.factories.lifecycle import ManualClock, interrupt

KEY_NAME = "assetVersionId:commentId"


class AllowAll:
    """Permissions under which all may do everything, but `reader` may only read."""

    def may_use(self, caller: Identity, route: Route, path: Mapping[str, str]) -> bool:
        return True

    def may(self, caller: Identity, action: Action, target: Secured) -> bool:
        return action == "GET" if caller.user_id == "reader" else caller.user_id != "stranger"


@dataclass
class CommentSetup:
    """The comments on the asset `statue`, whose time passes with each look at it."""

    tables: Tables
    service: CommentService
    user_id: str = "ann"
    authorization: Authorization = field(default_factory=AllowAll)

    def as_user(self, user_id: str) -> "CommentSetup":
        return CommentSetup(self.tables, self.service, user_id, self.authorization)

    def send(
        self, method: str, key: str, *, asset_id: str = "statue", body: Any = None
    ) -> Response:
        place = f"/comments/assets/{asset_id}/assetVersionId:commentId/"
        parameters = {"assetId": asset_id, KEY_NAME: key}
        return self._client.send(method, place + key, parameters=parameters, body=body)

    def write(self, key: str, text: str = "Nice", **more: Any) -> Response:
        return self.send("POST", key, body={"commentBody": text}, **more)

    def edit(self, key: str, text: str, **more: Any) -> Response:
        return self.send("PUT", key, body={"commentBody": text}, **more)

    def delete(self, key: str, **more: Any) -> Response:
        return self.send("DELETE", key, **more)

    def listed(
        self, version: str | None = None, asset_id: str = "statue", **query: str
    ) -> Response:
        path = f"/comments/assets/{asset_id}"
        parameters = {"assetId": asset_id}
        if version is not None:
            path += f"/assetVersionId/{version}"
            parameters["assetVersionId"] = version
        return self._client.send("GET", path, parameters=parameters, query=query)

    def pages(self, **query: str) -> list[Any]:
        path, parameters = "/comments/assets/statue", {"assetId": "statue"}
        return self._client.pages(path, parameters=parameters, query=query)

    def keys(self, version: str | None = None, **query: str) -> list[str]:
        return [row[KEY_NAME] for row in self.listed(version, **query).body["message"]]

    @property
    def _client(self) -> Client:
        return Client(
            build_router(self.service), user_id=self.user_id, authorization=self.authorization
        )


@pytest.fixture
def board(tables: Tables, objects: S3Objects) -> CommentSetup:
    clock = ManualClock(tick=timedelta(milliseconds=1))
    assets = asset_service(tables, objects)
    created_database(assets)
    statue = created_asset(assets)
    for version in ("1", "10"):
        first = assets.get_version(statue, "0").model_dump(by_alias=True)
        row = {"databaseId:assetId": "museum:statue", **first, "assetVersionId": version}
        tables.write(Put(table=ASSET_VERSIONS, item=row))
    open_assets = replace(assets, authorization=AllowAll())
    service = CommentService(
        comments=CommentRepository(tables),
        assets=open_assets,
        audit=audit_service(objects, clock),
        clock=clock,
    )
    return CommentSetup(tables, service)


def row(key: str, text: str = "Nice", **more: Any) -> dict[str, Any]:
    """A comment as it is stored."""
    return {
        "assetId": "statue",
        KEY_NAME: key,
        "commentBody": text,
        "commentOwnerID": "ann",
        "commentOwnerUsername": "ann",
        "dateCreated": "2026-03-01T12:00:00.000000Z",
        **more,
    }


def test_a_comment_is_written_read_edited_and_deleted(board: CommentSetup) -> None:
    assert board.write("1:first", "<p>Nice ä</p>").body == {"message": "Succeeded"}
    message = board.send("GET", "1:first").body["message"]
    assert message == {
        "assetId": "statue",
        KEY_NAME: "1:first",
        "commentBody": "<p>Nice ä</p>",
        "commentOwnerID": "ann",
        "commentOwnerUsername": "ann",
        "dateCreated": message["dateCreated"],
    }
    assert board.edit("1:first", "Nicer").body == {"message": "Succeeded"}
    edited = board.send("GET", "1:first").body["message"]
    assert edited == {**message, "commentBody": "Nicer", "dateEdited": edited["dateEdited"]}
    assert edited["dateEdited"] > message["dateCreated"]
    assert board.delete("1:first").body == {"message": "Comment deleted"}
    assert board.send("GET", "1:first").status == 404
    assert board.listed().body == {"message": []}
    assert board.listed(showDeleted="true").body == {"message": [edited]}


def test_lists_are_of_an_asset_or_of_one_version(board: CommentSetup) -> None:
    for key in ("0:aaa", "1:bbb", "1:ccc", "10:ddd"):
        board.write(key)
    assert board.keys() == ["1:ccc", "1:bbb", "10:ddd", "0:aaa"]
    assert board.keys("1") == ["1:ccc", "1:bbb"]
    assert board.keys("7") == []
    # The web application of VAMS puts the asset's id where no S3 version is known.
    assert board.write("statue:eee").status == 200
    assert board.keys("statue") == ["statue:eee"]
    assert set(board.keys()) >= {"statue:eee"}
    assert board.edit("statue:eee", "Better").status == 200
    assert board.delete("statue:eee").status == 200


def test_pages_follow_each_other(board: CommentSetup) -> None:
    written = [f"0:c{number:02}" for number in range(5)]
    for key in written:
        board.write(key)
        board.write(key.replace("0:", "1:"))
        board.delete(key.replace("0:", "1:"))
    for more in ({}, {"showDeleted": "true"}):
        pages = [page["message"] for page in board.pages(maxItems="2", **more)]
        assert all(len(page) <= 2 for page in pages)
        ids = [comment[KEY_NAME][2:] for page in pages for comment in page]
        assert ids == [key[2:] for key in reversed(written)]
    assert board.listed(startingToken="forged").status == 400


def test_a_page_of_long_comments_fits_a_reply(board: CommentSetup) -> None:
    text = "\U0001f5ff" * MAX_BODY_CHARS
    keys = [f"0:c{number:03}" for number in range(150)]
    board.tables.put_many(COMMENTS, [row(key, text, databaseId="museum") for key in keys])
    pages = board.pages()
    for page in pages:  # as Lambda counts it
        reply = json.dumps(json.dumps(page, ensure_ascii=False), ensure_ascii=False)
        assert len(reply.encode()) < 6_000_000
    assert sorted(comment[KEY_NAME] for page in pages for comment in page["message"]) == keys


def test_only_the_owner_edits_and_deletes(board: CommentSetup) -> None:
    board.write("0:mine")
    bob = board.as_user("bob")
    for answer in (bob.edit("0:mine", "Ugly"), bob.delete("0:mine")):
        assert (answer.status, answer.body["code"]) == (403, "NotTheOwner")
    assert bob.send("GET", "0:mine").body["message"]["commentBody"] == "Nice"
    reader = board.as_user("reader")
    assert reader.keys() == ["0:mine"]
    assert reader.write("0:other").status == 403


def test_the_id_of_a_comment_is_never_used_again(board: CommentSetup) -> None:
    board.write("0:one")
    assert board.as_user("bob").write("0:one", "Mine now").body["code"] == "CommentExists"
    board.delete("0:one")
    answer = board.write("0:one", "Again")
    assert (answer.status, answer.body["code"]) == (409, "CommentExists")
    assert board.edit("0:one", "Back").status == 404
    assert board.delete("0:one").status == 404
    assert board.keys() == []


@pytest.mark.parametrize(
    "key", ["one", "0:ab", "0:one:two", ":one", "0:", "0:a b", "0:" + "a" * 64, "0:ä-1", "a#b:one"]
)
def test_a_key_is_a_version_and_an_id(board: CommentSetup, key: str) -> None:
    answer = board.write(key)
    assert (answer.status, answer.body["errors"][0]["field"]) == (400, KEY_NAME)


@pytest.mark.parametrize(
    "body", [{}, {"commentBody": ""}, {"commentBody": 7}, {"commentBody": "x" * 10_001}, []]
)
def test_a_text_is_demanded(board: CommentSetup, body: Any) -> None:
    assert MAX_BODY_CHARS == 10_000
    for method in ("POST", "PUT"):
        assert board.send(method, "0:one", body=body).status == 400
    for text, fact in (
        ("x" * 10_001, "must have at most 10000 characters, but has 10001"),
        ("", "must have at least 1 character, but has 0"),
    ):
        answer = board.write("0:first", text)
        assert answer.body["message"] == f"commentBody: {fact}"
        assert answer.body["errors"] == [{"field": "commentBody", "message": fact}]
    assert board.keys() == []


def test_versions_and_assets_must_be_there(board: CommentSetup) -> None:
    assert board.write("9:one").body["code"] == "AssetVersionNotFound"
    for answer in (
        board.write("0:one", asset_id="none"),
        board.listed(asset_id="none"),
        board.send("GET", "0:one", asset_id="none"),
        board.as_user("stranger").listed(),
        board.as_user("stranger").write("0:one"),
    ):
        assert (answer.status, answer.body["code"]) == (404, "AssetNotFound")
        assert "museum" not in answer.body["message"]
    assert board.edit("0:none", "x").status == 404
    assert board.delete("0:none").status == 404


def test_comments_of_an_archived_asset_stay_but_are_not_served(board: CommentSetup) -> None:
    board.write("0:one")
    key = {"databaseId": "museum", "assetId": "statue"}
    board.tables.write(Update(table=ASSETS, key=key, set={"status": "archived"}))
    answers = (board.write("0:two"), board.edit("0:one", "New"), board.delete("0:one"))
    assert {answer.status for answer in answers} == {404}


def test_a_row_of_another_database_is_not_shown(board: CommentSetup) -> None:
    """That of an asset that had this id."""
    board.tables.write(Put(table=COMMENTS, item=row("0:old", databaseId="cellar")))
    assert board.keys() == []
    assert board.send("GET", "0:old").status == 404
    assert board.edit("0:old", "x").status == 404
    board.tables.write(Put(table=COMMENTS, item=row("0:old")))
    assert board.keys() == ["0:old"]  # as VAMS wrote it


def test_every_write_leaves_an_entry_about_the_asset(board: CommentSetup) -> None:
    board.write("0:one", "First")
    board.edit("0:one", "First")
    board.edit("0:one", "Second")
    board.delete("0:one")
    board.as_user("bob").write("9:none")
    about = [entry for entry in entries(board.tables) if entry["entity"] == "asset:museum:statue"]
    result = [(item["operation"], item["changes"]["comment 0:one"]) for item in about]
    assert result == [
        ("create_comment", {"after": "First"}),
        ("update_comment", {"before": "First", "after": "Second"}),
        ("delete_comment", {"before": "Second"}),
    ]


def test_an_edit_beside_a_deletion_is_lost_or_kept_never_half(
    board: CommentSetup, monkeypatch: pytest.MonkeyPatch
) -> None:
    board.write("0:one", "First")
    edit = partial(board.edit, "0:one", "Second")
    interrupt(monkeypatch, CommentRepository, "get", edit, after=True)
    assert board.delete("0:one").status == 200
    (left,) = board.listed(showDeleted="true").body["message"]
    assert left["commentBody"] == "Second"


def test_only_administrators_reach_comments_until_rules_are_there(board: CommentSetup) -> None:
    board.authorization = OnlyUser()
    assert board.listed().status == 403
