"""Fields that narrow what is read are known, refused by name, and not sent by stock clients."""

import json
import re
from collections.abc import Mapping
from contextlib import nullcontext
from types import MappingProxyType
from typing import Any

import pytest

from backend.core.errors import InvalidInputError
from backend.core.identity import Identity
from backend.core.models import PageQuery, WireModel
from backend.core.page_tokens import PageTokens
from backend.entrypoints.openapi import bindings
from backend.http.bodies import unknown_fields
from backend.http.call import Call
from backend.http.router import Binding, Router
from backend.spec import routes
from backend.spec.routes import NARROWING, NARROWING_FORMS, Route, form_of
from tests.journeys import stock

BINDINGS = list(bindings())
READS = [binding for binding in BINDINGS if binding.route.action == "GET"]
# Fields that extend a reply, choose its form or its page, or select what is explained or purged.
OTHERS = {
    *("action", "basic", "childTreeView", "includeArchived", "includeVersions", "isPrefix"),
    *("method", "mfa", "purge", "route", "showArchived", "showDeleted", "showSessions", "size"),
    "type",
}


def names(model: type[WireModel] | None) -> set[str]:
    return {field.alias or name for name, field in (model or WireModel).model_fields.items()}


def call_of(
    binding: Binding, query: dict[str, str], path: Mapping[str, str] = MappingProxyType({})
) -> Call:
    caller: Any = Identity("ann")
    tokens = PageTokens(lambda: b"key")
    return Call(
        binding.route, caller, path, query, {}, tokens, lambda _, used: pytest.fail(str(used))
    )


def test_every_field_of_a_query_and_every_id_of_a_path_is_declared_to_narrow_or_not() -> None:
    declared = NARROWING | OTHERS | names(PageQuery)
    queries = {name for binding in BINDINGS for name in names(_query(binding))}
    paths = {name for route in BINDINGS for name in re.findall(r"{(\w+)}", route.route.path)}
    assert (queries | paths) - declared == {"valueHash", "viewId"}
    assert not NARROWING_FORMS & {*map(form_of, OTHERS)}


@pytest.mark.parametrize("name", sorted(NARROWING))
def test_every_route_that_reads_has_a_narrowing_parameter_or_refuses_it(name: str) -> None:
    for binding in READS:
        if name in names(_query(binding)):
            continue
        with pytest.raises(InvalidInputError) as refused:
            binding.run(call_of(binding, {name: "x"}), None, is_base64=False)
        assert [error.field for error in refused.value.fields] == [name], binding.route.key


@pytest.mark.parametrize(("sent", "is_refused"), [("museum", False), ("vault", True)])
def test_a_parameter_that_repeats_one_of_the_path_is_accepted(sent: str, is_refused: bool) -> None:
    router = Router()

    @router.bind(routes.GET_DATABASE)
    def read(call: Call) -> WireModel:  # pyright: ignore[reportUnusedFunction]
        return WireModel()

    binding = router.bindings[routes.GET_DATABASE]
    call = call_of(binding, {"databaseId": sent}, {"databaseId": "museum"})
    with pytest.raises(InvalidInputError) if is_refused else nullcontext():
        binding.run(call, None, is_base64=False)


TAG = {"tagName": "red", "description": "Red", "tagTypeName": "colour"}
ASSET = {"databaseId": "hall", "assetId": "lion"}


@pytest.mark.parametrize(
    ("route", "place", "sent"),
    [
        *(
            (routes.SEARCH, "body", {name: ["x"]})
            for name in ("databaseIds", "Filters", "geosearch", "entityType", "createdAfter")
        ),
        *(
            (routes.SEARCH, "body", {name: ["x"]})
            for name in ("database", "databases", "database-id", "databaseIds[]", "users")
        ),
        *(
            (routes.SEARCH, "body", {name: ["x"]})
            for name in ("statuses", "prefixes", "entities", "metadata_queries", "assetNames")
        ),
        *(
            (routes.SEARCH_SIMPLE, "body", {name: "x"})
            for name in ("databaseID", "database_ids", "assetname", "tag")
        ),
        *(
            (routes.LIST_TAGS, "query", {name: "x"})
            for name in ("database.id", "databaseId.keyword", "filter[databaseId]", "tag__in")
        ),
        (routes.GET_ASSET, "query", {"tag": "x"}),
        (routes.GET_ASSET, "query", {"filter": "x"}),
        (routes.LIST_ASSETS, "query", {"tag": "x"}),
        (routes.LIST_FILES, "query", {"extension": ".glb"}),
        (routes.CREATE_TAG, "body", {"databaseid": "museum"}),
        (routes.CREATE_TAG, "body", {"tags": [{**TAG, "databaseIds": "museum"}]}),
        (routes.DELETE_TAG, "query", {"DatabaseId": "museum"}),
        (routes.DELETE_TAG, "query", {"database": "museum"}),
    ],
)
def test_other_forms_of_a_narrowing_field_are_refused(
    route: Route, place: str, sent: dict[str, Any]
) -> None:
    binding = next(item for item in BINDINGS if item.route == route)
    is_body = place == "body"
    call = call_of(binding, {} if is_body else sent, ASSET)
    with pytest.raises(InvalidInputError, match="is not supported") as refused:
        binding.run(call, json.dumps(sent) if is_body else "{}", is_base64=False)
    names = [
        name
        for value in (sent, *sent.get("tags", ()))
        for name in value
        if name not in {"tags", *TAG}
    ]
    assert [error.field.removeprefix("tags.0.") for error in refused.value.fields] == names


def test_no_request_of_a_stock_client_is_refused_for_a_field_that_narrows() -> None:
    requests = [*stock.recorded(), *stock.recorded(stock.RECORDED / "later")]
    sent = 0
    for request in requests:
        binding = next((item for item in BINDINGS if _fits(item, request.call)), None)
        if binding is None:
            continue
        unknown = [*unknown_fields(_query(binding) or WireModel, request.query)]
        if request.body is not None and "body" in binding.models:
            unknown += unknown_fields(binding.models["body"], request.body)
        for name, value in unknown:
            binding.check_narrowing(call_of(binding, request.query), name, value)
        sent += 1
    assert sent > 150


def _query(binding: Binding) -> Any:
    return binding.models.get("query")


def _fits(binding: Binding, call: str) -> bool:
    pattern = re.sub(r"{[^}]*\+}", ".+", binding.route.key)
    return re.fullmatch(re.sub(r"{[^}]*}", "[^/]+", pattern), call) is not None
