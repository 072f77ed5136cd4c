"""Which field an error names where a rule is about several, or about none."""

from typing import Any

import pytest
from pydantic import model_validator

from backend.core.errors import InvalidInputError
from backend.core.identity import Identity
from backend.core.models import PageQuery, WireModel
from backend.core.page_tokens import PageTokens
from backend.core.sync_tokens import written_of
from backend.entrypoints.openapi import bindings
from backend.http.bodies import validate
from backend.http.call import Call
from backend.http.router import Router
from backend.spec import routes
from backend.spec.routes import Route
from tests.factories.http import Client, http_event

MODELS = {binding.route: binding.models for binding in bindings()}
VERSION = {"assetVersionId": "1", "assetVersionIdAlias": "opening"}
FILE = {"filePath": "/a.glb"}
EXPLAINED = {"userId": "ann", "action": "GET", "objectType": "asset"}


def refused(route: Route, place: str, sent: dict[str, Any]) -> list[str]:
    """The fields that the refusal of a request names."""
    with pytest.raises(InvalidInputError) as error:
        validate(MODELS[route][place], sent, strict=place == "body", place=place)
    return [item.field for item in error.value.fields]


@pytest.mark.parametrize(
    ("route", "place", "sent", "field"),
    [
        (routes.LIST_FILES, "query", VERSION, "assetVersionIdAlias"),
        (routes.GET_FILE, "query", {**FILE, **VERSION}, "assetVersionIdAlias"),
        (routes.GET_ASSET_METADATA, "query", VERSION, "assetVersionIdAlias"),
        (routes.STREAM_FILE, "query", {**VERSION, "versionId": "v"}, "assetVersionId"),
        (routes.HEAD_FILE, "query", VERSION, "assetVersionIdAlias"),
        (routes.SET_PRIMARY_FILE, "body", {**FILE, "primaryType": "other"}, "primaryTypeOther"),
        (routes.SEARCH, "body", {"from": 9_000, "size": 2_000}, "size"),
        (routes.SEARCH, "body", {"from": 1, "after": ""}, "after"),
        (routes.LIST_AUDIT_ENTRIES, "query", {}, "entity"),
        (
            routes.LIST_AUDIT_ENTRIES,
            "query",
            {"userId": "ann", "from": "2026-03-02", "to": "2026-03-01"},
            "from",
        ),
        (routes.EXPLAIN_ACCESS, "query", {"userId": "ann"}, "route"),
        (routes.EXPLAIN_ACCESS, "query", {"userId": "ann", "route": "/assets"}, "method"),
        (routes.EXPLAIN_ACCESS, "query", {**EXPLAINED, "assetId": "pump"}, "databaseId"),
        (routes.REPAIR_SEARCH, "body", {"all": True, "assetId": "pump"}, "assetId"),
        (
            routes.REPAIR_SEARCH,
            "body",
            {"documents": [{"databaseId": "hall", "assetId": "pump", "path": "/a", "key": "a"}]},
            "documents.0.key",
        ),
    ],
)
def test_a_rule_between_fields_names_the_one_that_is_wrong(
    route: Route, place: str, sent: dict[str, Any], field: str
) -> None:
    assert refused(route, place, sent) == [field]


class InvalidModel(WireModel):
    @model_validator(mode="after")
    def is_wrong(self) -> "InvalidModel":
        raise ValueError("is wrong as a whole")


def test_what_is_about_no_field_names_the_place_that_was_sent() -> None:
    router = Router()

    @router.bind(routes.LIST_TAGS)
    def list_tags(call: Call, query: InvalidModel) -> InvalidModel:  # pyright: ignore[reportUnusedFunction]
        raise AssertionError

    @router.bind(routes.CREATE_TAG)
    def create_tag(call: Call, body: InvalidModel) -> InvalidModel:  # pyright: ignore[reportUnusedFunction]
        raise AssertionError

    request, sent = (
        Client(router).send("GET", "/tags"),
        Client(router).send("POST", "/tags", body={}),
    )
    assert request.body["errors"] == [{"field": "query", "message": "is wrong as a whole"}]
    assert sent.body["errors"] == [{"field": "body", "message": "is wrong as a whole"}]


@pytest.mark.parametrize(
    ("route", "field"),
    [
        (routes.DELETE_METADATA_SCHEMA, "confirmDelete"),
        (routes.UNARCHIVE_ASSET, "confirmUnarchive"),
        (routes.ARCHIVE_ASSET, "confirmArchive"),
        (routes.DELETE_ASSET, "confirmPermanentDelete"),
        (routes.RESET_COGNITO_PASSWORD, "confirmReset"),
        (routes.REPAIR_SEARCH, "all"),
        (routes.REPLAY_FAILURES, "all"),
    ],
)
def test_only_true_confirms_and_means_all(route: Route, field: str) -> None:
    may_be_left_out = field in {"confirmReset", "all"}
    for sent in (False, 1, 1.0, "true", 0, [True], *([] if may_be_left_out else [None])):
        assert refused(route, "body", {field: sent}) == [field], sent


def test_a_query_parameter_that_is_sent_twice_is_named() -> None:
    router = Router()

    @router.bind(routes.LIST_BUCKETS)
    def list_buckets(call: Call, query: PageQuery) -> WireModel:  # pyright: ignore[reportUnusedFunction]
        call.page(query)
        return WireModel()

    event = http_event("GET", "/buckets", user_id="admin", query={"maxItems": "3,4"})
    event["rawQueryString"] = "maxItems=3&maxItems=4&other=1&other=2"
    answer = Client(router).send_event(event)
    assert (answer.status, answer.body["errors"]) == (
        400,
        [{"field": "maxItems", "message": "is sent 2 times: send it once"}],
    )


def test_a_token_of_another_kind_is_refused_by_its_own_name() -> None:
    tokens = PageTokens(lambda: b"key")
    with pytest.raises(InvalidInputError) as refused:
        written_of(tokens, Identity("ann"), "garbage")
    (error,) = refused.value.fields
    assert (error.field, "X-Sync-Token" in error.message) == ("X-After", True)
    assert "page" not in error.message
