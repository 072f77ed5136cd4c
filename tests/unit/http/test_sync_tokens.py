"""The token in the reply of a write: which documents it names, and when there is none."""

from typing import Any

import pytest

from backend.core.errors import InvalidInputError, NotFoundError, UnavailableError
from backend.core.identity import Identity
from backend.core.models import WireModel
from backend.core.page_tokens import PageTokens
from backend.core.sync_tokens import MAX_CHARS, MAX_DOCUMENTS, WrittenDocument, written_of
from backend.http.router import Reply, Router
from backend.spec import routes
from backend.spec.routes import ROUTES, Route
from tests.factories.http import Client, Response

TOKENS = PageTokens(lambda: b"key")
ADMIN = Identity("admin")
ASSET = "/database/museum/assets/pump"
PATH = {"databaseId": "museum", "assetId": "pump"}
PUMP = WrittenDocument("museum", "pump")


class AnyFields(WireModel):
    """A body or reply with the fields that the routes here name."""

    database_id: str | None = None
    asset_id: str | None = None
    file_path: str | None = None
    source_path: str | None = None
    destination_path: str | None = None
    destination_asset_id: str | None = None
    destination_database_id: str | None = None
    from_asset_database_id: str | None = None
    from_asset_id: str | None = None
    to_asset_database_id: str | None = None
    to_asset_id: str | None = None
    is_prefix: bool = False
    job_id: str | None = None
    large_file_asynchronous_handling: bool | None = None
    files: list["SentBody"] = []


class SentBody(WireModel):
    relative_key: str


LINK = AnyFields(
    from_asset_database_id="museum",
    from_asset_id="pump",
    to_asset_database_id="store",
    to_asset_id="valve",
)


def answer(route: Route, body: dict[str, Any] | None = None, **reply: Any) -> Response:
    """Return the response of a route whose endpoint accepts anything and returns these fields."""
    router = Router()
    if body is None:

        @router.bind(route)
        def plain(call: object) -> Reply[AnyFields]:  # pyright: ignore[reportUnusedFunction]
            return Reply(AnyFields(**reply), changed=LINK)
    else:

        @router.bind(route)
        def sent(call: object, body: AnyFields) -> AnyFields:  # pyright: ignore[reportUnusedFunction]
            return AnyFields(**reply)

    path = route.path.replace("{databaseId}", "museum").replace("{assetId}", "pump")
    return Client(router).send(route.method, path, parameters=PATH, body=body)


def documents_in_token(
    route: Route, body: dict[str, Any] | None = None, **reply: Any
) -> set[WrittenDocument]:
    """Return the documents that the reply's token names; none without a token."""
    token = answer(route, body, **reply).headers.get("X-Sync-Token")
    return set() if token is None else set(written_of(TOKENS, ADMIN, token).documents)


def file(path: str, asset_id: str = "pump", database_id: str = "museum") -> WrittenDocument:
    return WrittenDocument(database_id, asset_id, path)


def test_an_asset_is_named_by_the_path_or_the_reply_and_a_file_with_its_leading_slash() -> None:
    assert documents_in_token(routes.UPDATE_ASSET, {}) == {PUMP}
    assert documents_in_token(routes.CREATE_ASSET, {"databaseId": "museum"}, asset_id="x1") == {
        WrittenDocument("museum", "x1")
    }
    assert documents_in_token(routes.SET_PRIMARY_FILE, {"filePath": "a/b.glb"}) == {
        file("/a/b.glb")
    }
    assert documents_in_token(routes.DELETE_LINK) == {PUMP, WrittenDocument("store", "valve")}
    assert documents_in_token(routes.ARCHIVE_ASSET, {}, job_id="j") == {PUMP}
    assert {r.method for r in ROUTES if r.writes_documents} == {"POST", "PUT", "DELETE"}
    assert [route for route in ROUTES if route.awaits] == [routes.SEARCH]


def test_a_copy_a_move_and_an_upload_name_all_their_places() -> None:
    here = {"sourcePath": "/a", "destinationPath": "/b"}
    assert documents_in_token(routes.COPY_FILE, here) == {file("/b")}
    elsewhere = {**here, "destinationAssetId": "valve"}
    assert documents_in_token(routes.COPY_FILE, elsewhere) == {file("/b", "valve")}
    far = {**elsewhere, "destinationDatabaseId": "store"}
    assert documents_in_token(routes.COPY_FILE, far) == {file("/b", "valve", "store")}
    body = {"sourcePath": "/a", "destinationPath": "/b"}
    assert documents_in_token(routes.MOVE_FILE, body) == {file("/a"), file("/b")}
    token = answer(routes.MOVE_FILE, body).headers["X-Sync-Token"]
    assert written_of(TOKENS, ADMIN, token).records
    body = {
        "databaseId": "museum",
        "assetId": "pump",
        "files": [{"relativeKey": "a.glb"}, {"relativeKey": "/b.glb"}],
    }
    assert documents_in_token(routes.COMPLETE_UPLOAD, body) == {
        PUMP,
        file("/a.glb"),
        file("/b.glb"),
    }
    body["files"] = [{"relativeKey": "pump/a.glb"}]
    assert documents_in_token(routes.INGEST_ASSET, body) == {PUMP, file("/a.glb")}


@pytest.mark.parametrize(
    ("route", "body", "reply"),
    [
        (routes.ARCHIVE_FILE, {"filePath": "/a/", "isPrefix": True}, {}),
        (routes.MOVE_FILE, {"sourcePath": "/a/", "destinationPath": "/b/"}, {}),
        (routes.MOVE_FILE, {"sourcePath": "/a", "destinationPath": "/b"}, {"job_id": "j"}),
        (
            routes.COMPLETE_UPLOAD,
            {"databaseId": "museum", "assetId": "pump", "files": [{"relativeKey": "a"}]},
            {"large_file_asynchronous_handling": True},
        ),
        (routes.CREATE_FOLDER, {"relativeKey": "/a/"}, {}),
    ],
)
def test_what_is_not_known_whole_is_not_reported(
    route: Route, body: dict[str, Any], reply: dict[str, Any]
) -> None:
    assert "X-Sync-Token" not in answer(route, body, **reply).headers


@pytest.mark.parametrize("count", [MAX_DOCUMENTS, 700])
def test_more_documents_than_a_header_names_are_not_reported(count: int) -> None:
    files = [{"relativeKey": f"{'x' * 200}{n}"} for n in range(count)]
    body = {"databaseId": "museum", "assetId": "pump", "files": files}
    assert documents_in_token(routes.COMPLETE_UPLOAD, body) == set()


def test_a_write_is_answered_also_when_its_token_cannot_be_sealed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object, **__: object) -> str:
        raise UnavailableError("no key")

    monkeypatch.setattr(PageTokens, "issue", fail)
    result = answer(routes.UPDATE_ASSET, {})
    assert (result.status, "X-Sync-Token" in result.headers) == (200, False)


def test_a_refused_request_has_no_token() -> None:
    router = Router()

    @router.bind(routes.UPDATE_ASSET)
    def refused(call: object) -> AnyFields:  # pyright: ignore[reportUnusedFunction]
        raise NotFoundError("none")

    reply = Client(router).send("PUT", ASSET, parameters=PATH)
    assert "X-Sync-Token" not in reply.headers


def test_tokens_are_of_one_caller_and_several_are_taken_together() -> None:
    tokens = [
        answer(routes.UPDATE_ASSET, {}).headers["X-Sync-Token"],
        answer(routes.SET_PRIMARY_FILE, {"filePath": "/a"}).headers["X-Sync-Token"],
    ]
    assert set(written_of(TOKENS, ADMIN, ", ".join(tokens)).documents) == {PUMP, file("/a")}
    for caller, header in ((Identity("mallory"), tokens[0]), (ADMIN, tokens[0] + "x"), (ADMIN, "")):
        with pytest.raises(InvalidInputError, match=r"^X-After: "):
            written_of(TOKENS, caller, header)
    token = answer(routes.UPDATE_ASSET, {}).headers["X-Sync-Token"]
    assert len(",".join([token] * 10)) <= MAX_CHARS
