"""Comments on versions of assets: who may write what, and what lists return."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
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
from tests.factories.assets import NOON, asset_service, created_asset, created_database
from tests.factories.audit import audit_service, entries
from tests.factories.http import Client, Response

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
        return self._client.send(
            method,
            place + key,
            parameters={"assetId": asset_id, KEY_NAME: key},
            body=body,
        )

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

    def keys(self, version: str | None = None, **query: str) -> list[str]:
        return [row[KEY_NAME] for row in self.listed(version, **query).body["message"]]

    @property
    def _client(self) -> Client:
        return Client(
            build_router(self.service), user_id=self.user_id, authorization=self.authorization
        )


@pytest.fixture
def board(tables: Tables, objects: S3Objects) -> CommentSetup:
    now = [NOON]

    def clock() -> datetime:
        now[0] += timedelta(milliseconds=1)
        return now[0]

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


def test_a_comment_is_written_read_edited_and_deleted(board: CommentSetup) -> None:
    assert board.write("1:first", "<p>Nice ä</p>").body == {"message": "Succeeded"}
    found = board.send("GET", "1:first").body["message"]
    assert found == {
        "assetId": "statue",
        KEY_NAME: "1:first",
        "commentBody": "<p>Nice ä</p>",
        "commentOwnerID": "ann",
        "commentOwnerUsername": "ann",
        "dateCreated": found["dateCreated"],
    }
    assert board.edit("1:first", "Nicer").body == {"message": "Succeeded"}
    edited = board.send("GET", "1:first").body["message"]
    assert edited == {**found, "commentBody": "Nicer", "dateEdited": edited["dateEdited"]}
    assert edited["dateEdited"] > found["dateCreated"]
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


def test_pages_follow_each_other(board: CommentSetup) -> None:
    written = [f"0:c{number:02}" for number in range(5)]
    for key in written:
        board.write(key)
        board.write(key.replace("0:", "1:"))
        board.delete(key.replace("0:", "1:"))
    for more in ({}, {"showDeleted": "true"}):
        found: list[str] = []
        token: str | None = None
        while True:
            query = {"maxItems": "2", **more, **({"startingToken": token} if token else {})}
            answer = board.listed(**query)
            assert len(answer.body["message"]) <= 2
            found += [row[KEY_NAME][2:] for row in answer.body["message"]]
            token = answer.body.get("NextToken")
            if token is None:
                break
        assert found == [key[2:] for key in reversed(written)]
    assert board.listed(startingToken="forged").status == 400


def test_a_page_of_long_comments_fits_a_reply(board: CommentSetup) -> None:
    text = "\U0001f5ff" * MAX_BODY_CHARS
    rows = [
        {
            "assetId": "statue",
            KEY_NAME: f"0:c{number:03}",
            "commentBody": text,
            "commentOwnerID": "ann",
            "commentOwnerUsername": "ann",
            "dateCreated": "2026-03-01T12:00:00.000000Z",
            "databaseId": "museum",
        }
        for number in range(150)
    ]
    board.tables.put_many(COMMENTS, rows)
    found, query = list[str](), dict[str, str]()
    while True:
        answer = board.listed(**query)
        reply = json.dumps(answer.body, ensure_ascii=False)
        assert (
            len(json.dumps(reply, ensure_ascii=False).encode()) < 6_000_000
        )  # as Lambda counts it
        found += [row[KEY_NAME] for row in answer.body["message"]]
        if "NextToken" not in answer.body:
            break
        query = {"startingToken": answer.body["NextToken"]}
    assert sorted(found) == [row[KEY_NAME] for row in rows]


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
    assert board.keys() == []


def test_what_is_deleted_cannot_be_changed_again(board: CommentSetup) -> None:
    board.write("0:one")
    board.delete("0:one")
    assert board.edit("0:one", "Back").status == 404
    assert board.delete("0:one").status == 404


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
    assert board.keys() == []


@pytest.mark.parametrize(
    ("body", "fact"),
    [
        ("x" * 10_001, "must have at most 10000 characters"),
        ("", "must have at least 1 character"),
    ],
    ids=["too long", "too short"],
)
def test_the_length_of_a_text_is_counted_in_characters(
    board: CommentSetup, body: str, fact: str
) -> None:
    answer = board.write("0:first", body)
    assert answer.status == 400
    assert answer.body["message"] == f"commentBody: {fact}"
    assert answer.body["errors"] == [{"field": "commentBody", "message": fact}]


def test_a_comment_may_be_about_the_asset_itself(board: CommentSetup) -> None:
    """The web application of VAMS puts the asset's id where no S3 version is known."""
    assert board.write("statue:x-one").status == 200
    assert board.write("1:x-two").status == 200
    assert board.keys("statue") == ["statue:x-one"]
    assert sorted(board.keys()) == ["1:x-two", "statue:x-one"]
    assert board.edit("statue:x-one", "Better").status == 200
    assert board.delete("statue:x-one").status == 200


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
    row = {
        "assetId": "statue",
        KEY_NAME: "0:old",
        "commentBody": "Of an asset that had this id",
        "commentOwnerID": "ann",
        "commentOwnerUsername": "ann",
        "dateCreated": "2025-01-01T00:00:00.000000Z",
        "databaseId": "cellar",
    }
    board.tables.write(Put(table=COMMENTS, item=row))
    assert board.keys() == []
    assert board.send("GET", "0:old").status == 404
    assert board.edit("0:old", "x").status == 404
    old = {name: value for name, value in row.items() if name != "databaseId"}
    board.tables.write(Put(table=COMMENTS, item=old))
    assert board.keys() == ["0:old"]  # as VAMS wrote it


def test_every_write_leaves_an_entry_about_the_asset(board: CommentSetup) -> None:
    board.write("0:one", "First")
    board.edit("0:one", "First")
    board.edit("0:one", "Second")
    board.delete("0:one")
    board.as_user("bob").write("9:none")
    about = [one for one in entries(board.tables) if one["entity"] == "asset:museum:statue"]
    found = [(one["operation"], one["changes"]["comment 0:one"]) for one in about]
    assert found == [
        ("create_comment", {"after": "First"}),
        ("update_comment", {"before": "First", "after": "Second"}),
        ("delete_comment", {"before": "Second"}),
    ]


def test_an_edit_beside_a_deletion_is_lost_or_kept_never_half(
    board: CommentSetup, monkeypatch: pytest.MonkeyPatch
) -> None:
    board.write("0:one", "First")
    read = CommentRepository.get
    meanwhile = ["Second"]

    def edited_after(repository: CommentRepository, asset_id: str, key: str) -> Any:
        found = read(repository, asset_id, key)
        if meanwhile:
            text = meanwhile.pop()
            board.edit("0:one", text)
        return found

    monkeypatch.setattr(CommentRepository, "get", edited_after)
    assert board.delete("0:one").status == 200
    (left,) = board.listed(showDeleted="true").body["message"]
    assert left["commentBody"] == "Second"


def test_only_administrators_reach_comments_until_rules_are_there(board: CommentSetup) -> None:
    board.authorization = OnlyUser()
    assert board.listed().status == 403
