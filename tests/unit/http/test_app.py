"""The HTTP layer: who asks, what bugs and outages become, refusals that are recorded."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from pydantic import field_validator

from backend.core.authorization import Authorization, Secured, require
from backend.core.deadlines import Deadline
from backend.core.denials import Denial, Watch, WatchedAuthorization
from backend.core.errors import NotFoundError, UnavailableError
from backend.core.identity import Identity
from backend.core.models import WireModel
from backend.core.page_tokens import PageTokens
from backend.core.reads import CurrentRequest
from backend.http.app import Handler, HttpApp
from backend.http.call import Call
from backend.http.router import Content, Router
from backend.spec import routes
from backend.spec.routes import Action, Route
from tests.factories.access import OnlyUser
from tests.factories.http import Client, Context, RecordedDenials, RecordedReads, http_event


class Empty(WireModel):
    pass


class Part(WireModel):
    size: int | None = None


class WholeBody(WireModel):
    parts: list[Part] | None = None
    first: Part | None = None
    last_part: Part | None = None

    @field_validator("last_part", mode="before")
    @classmethod
    def in_another_shape(cls, value: dict[str, int]) -> dict[str, int]:
        return {"size": value["weight"]}


def app_of(rules: Authorization | None = None, **more: Any) -> HttpApp:
    ports: dict[str, Any] = {"watch": Watch(), "denials": RecordedDenials()}
    ports |= {"request": CurrentRequest(), "reads": RecordedReads(), **more}
    return HttpApp(rules or OnlyUser(), PageTokens(lambda: b"key"), **ports)


def router_with_body(route: Route) -> Router:
    """Return a router with a route that takes a `WholeBody`."""
    router = Router()

    @router.bind(route)
    def take(call: Call, body: WholeBody) -> Empty:  # pyright: ignore[reportUnusedFunction]
        return Empty()

    return router


def router_of(failure: Exception | None = None) -> Router:
    router = Router()

    @router.bind(routes.LIST_BUCKETS)
    def list_buckets(call: Call) -> Empty:  # pyright: ignore[reportUnusedFunction]
        if failure is not None:
            raise failure
        return Empty()

    return router


def test_when_no_one_can_be_authenticated_the_answer_is_unavailable() -> None:
    event = http_event("GET", "/buckets", user_id=None)
    event["requestContext"]["authorizer"] = {"lambda": {"outage": "true"}}
    reply = app_of().handler(router_of())(event, Context())
    assert reply["statusCode"] == 503
    assert '"code": "Unavailable"' in reply["body"]


def test_a_request_has_the_time_of_its_function_and_replies_when_that_is_nearly_over() -> None:
    times: list[float | None] = []

    class Remembered(Deadline):
        def begin(self, seconds: float | None) -> None:
            times.append(seconds)
            super().begin(seconds)

    event = http_event("GET", "/buckets", user_id="admin")
    deadline = Remembered()
    router = Router()

    @router.bind(routes.LIST_BUCKETS)
    def list_buckets(call: Call) -> Empty:  # pyright: ignore[reportUnusedFunction]
        deadline.check(30)
        return Empty()

    reply = app_of(deadline=deadline).handler(router)(event, Context())
    assert reply["statusCode"] == 503
    assert '"code": "OutcomeUnknown"' in reply["body"]
    assert times == [29.0, None]


def test_a_bug_is_a_500_that_shows_no_details_and_a_route_is_bound_once() -> None:
    answer = Client(router_of(RuntimeError("the secret is 42"))).send("GET", "/buckets")
    assert (answer.status, answer.body["code"]) == (500, "InternalError")
    assert "42" not in str(answer.body)
    router = router_of()
    with pytest.raises(ValueError, match="bound twice"):
        router.bind(routes.LIST_BUCKETS)


@pytest.mark.parametrize("name", ["?", "a?b", "a/b", "\n", "{databaseId}"])
def test_a_parameter_may_hold_anything(name: str) -> None:
    router = Router()

    @router.bind(routes.GET_WORKFLOW)
    def get_workflow(call: Call) -> Empty:  # pyright: ignore[reportUnusedFunction]
        raise NotFoundError(call.path["workflowId"])

    route = routes.GET_WORKFLOW.key
    parameters = {"databaseId": name, "workflowId": name}
    sent = f"/database/{name}/workflows/{name}".partition("?")[0]  # API Gateway cuts the path so
    answer = Client(router).send("GET", sent, route=route, parameters=parameters)
    assert (answer.status, answer.body["reason"], answer.body["message"]) == (404, name, {})


def test_a_path_that_no_route_has_is_not_found_and_no_reply_is_cached() -> None:
    answer = Client(router_of()).send("GET", "/buckets/a/b")
    assert (answer.status, answer.body["code"]) == (404, "NotFound")
    assert answer.body.keys() == {"message", "code", "requestId"}
    assert answer.headers["Cache-Control"] == "no-cache, no-store"
    answer = Client(router_of()).send("GET", "/buckets")
    assert answer.headers["Cache-Control"] == "no-cache, no-store"


@pytest.mark.parametrize("path", ["a b", 'a"b', "a#b", "{a}", "ä", "a\nb", "a/../b", "//a", "a?b"])
def test_a_greedy_parameter_may_hold_anything(path: str) -> None:
    router = Router()

    @router.bind(routes.STREAM_FILE)
    def stream_file(call: Call) -> Content:  # pyright: ignore[reportUnusedFunction]
        return Content(200, {"Content-Type": "application/json"}, call.path["proxy"].encode())

    place = "/database/museum/assets/a#b/download/stream/"
    answer = Client(router).send("GET", place + path, parameters={"proxy": path})
    assert (answer.status, answer.body) == (200, path.encode())


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("a\r\nX-Admin: yes", "a??X-Admin:?yes"),
        ("\x00", "?"),
        ("größe", "gr??e"),
        ("a,b", "a?b"),
        ("\x7f", "?"),
        ("a/b~!", "a/b~!"),
    ],
)
def test_the_header_of_ignored_fields_holds_nothing_that_a_header_must_not(
    name: str, found: str
) -> None:
    router = router_with_body(routes.CREATE_TAG)
    answer = Client(router).send("POST", "/tags", body={name: 1, "first": {}})
    assert (answer.status, answer.headers["X-Ignored-Fields"]) == (200, found)


WHOLE = {"parts": [{}, {"size": 1, "colour": "red"}], "first": {"weight": 2}, "more": 3}
RESHAPED = {"parts": [{"size": 1}], "first": None, "lastPart": {"weight": 2}}


def test_ignored_fields_are_named_where_they_stand_and_counted(
    capsys: pytest.CaptureFixture[str],
) -> None:
    router = router_with_body(routes.CREATE_TAG)
    known = Client(router).send("POST", "/tags", body=RESHAPED)
    assert "X-Ignored-Fields" not in known.headers
    assert "FieldsIgnored" not in capsys.readouterr().out
    answer = Client(router).send("POST", "/tags", body=WHOLE)
    assert answer.headers["X-Ignored-Fields"] == "more,parts.1.colour,first.weight"
    counted = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [item["FieldsIgnored"] for item in counted if "FieldsIgnored" in item] == [[1.0]]


@pytest.mark.parametrize(
    ("route", "place", "name", "value", "status"),
    [
        (routes.CREATE_TAG, "body", "databaseId", None, 200),
        (routes.SEARCH, "body", "colour", "red", 200),
        (routes.SEARCH, "body", "a.colour.0", "red", 200),
        (routes.LIST_EXECUTIONS, "query", "status", "FAILED", 400),
        (routes.LIST_ALL_WORKFLOWS, "query", "hasTriggers", "all", 200),
        (routes.LIST_ALL_WORKFLOWS, "query", "hasTriggers", "true", 400),
        (routes.LIST_BUCKETS, "query", "databaseId", "museum", 400),
        (routes.LIST_BUCKETS, "query", "colour", "red", 200),
        (routes.SEARCH, "body", "databaseId", "museum", 400),
        (routes.SEARCH, "body", "tags", [], 200),
        (routes.SEARCH_SIMPLE, "parts", "geoSearch", {"radius": 1}, 400),
        (routes.CREATE_TAG, "body", "assetId", "statue", 200),
    ],
)
def test_an_unknown_field_that_would_narrow_a_request_is_refused_by_name(
    route: Route, place: str, name: str, value: object, status: int
) -> None:
    if route.method in {"POST", "PUT"}:
        router = router_with_body(route)
    else:
        router = Router()

        @router.bind(route)
        def read(call: Call) -> Empty:  # pyright: ignore[reportUnusedFunction]
            return Empty()

    sent = {name: value}
    more: dict[str, Any] = {place: sent}
    if place == "parts":
        more = {"body": {"parts": [{}, sent]}}
    answer = Client(router).send(route.method, route.path, route=route.key, **more)
    assert answer.status == status, answer.body
    if status == 400:
        field = f"parts.1.{name}" if place == "parts" else name
        assert answer.body["errors"][0]["field"] == field


def test_our_own_routes_refuse_unknown_fields_wherever_they_stand() -> None:
    router = router_with_body(routes.RENEW_UPLOAD)
    body = {name: value for name, value in WHOLE.items() if name != "more"}
    answer = Client(router).send(
        "POST", "/uploads/y1/renew", parameters={"uploadId": "y1"}, body=body
    )
    assert (answer.status, answer.body["errors"][0]["field"]) == (400, "parts.1.colour")


def test_a_field_that_comes_twice_in_one_object_is_refused_whatever_it_holds() -> None:
    client = Client(router_with_body(routes.CREATE_TAG))
    for text, field in (
        ('{"size": 1, "size": 2}', "size"),
        ('{"size": 1, "\\u0073ize": 1}', "size"),
        ('{"first": {"size": 1, "size": null}}', "size"),
        ('{"parts": [{}, {"colour": 1, "colour": 1}]}', "colour"),
    ):
        answer = client.send("POST", "/tags", body=text)
        fact = "is used twice in one object of the body"
        assert (answer.status, answer.body["errors"]) == (400, [{"field": field, "message": fact}])
    # In another object, and beside numbers of any length.
    text = f'{{"parts": [{{"size": 1}}, {{"size": 2}}], "more": [{"9" * 4000}, 1e9999]}}'
    assert client.send("POST", "/tags", body=text).status == 200


STATUE = {"databaseId": "museum", "assetId": "statue"}


class Rules:
    """Everybody may use all routes but one, and no object but the database."""

    def may_use(self, caller: Identity, route: Route, path: Mapping[str, str]) -> bool:
        return route != routes.LIST_TAGS

    def may(self, caller: Identity, action: Action, target: Secured) -> bool:
        return target.object_type == "database"


class Broken:
    """Cannot record anything, because of an unexpected error."""

    def record(self, denial: Denial) -> None:
        raise ZeroDivisionError


def bound(rules: WatchedAuthorization) -> Router:
    router = Router()

    def demand(call: Call, what: Secured) -> None:
        require(rules, call.caller, "POST", what)

    @router.bind(routes.LIST_TAGS)
    def list_tags(call: Call) -> Empty:  # pyright: ignore[reportUnusedFunction]
        return Empty()

    @router.bind(routes.GET_DATABASE)
    def get_database(call: Call) -> Empty:  # pyright: ignore[reportUnusedFunction]
        demand(call, Secured("database"))
        raise NotFoundError("There is no such database")

    @router.bind(routes.ARCHIVE_FILE)
    def archive_file(call: Call) -> Empty:  # pyright: ignore[reportUnusedFunction]
        demand(call, Secured("asset"))
        return Empty()

    @router.bind(routes.GET_ASSET)
    def get_asset(call: Call) -> Empty:  # pyright: ignore[reportUnusedFunction]
        if not rules.may(call.caller, "GET", Secured("asset")):
            raise NotFoundError("There is no such asset")
        return Empty()

    @router.bind(routes.LIST_ASSETS)
    def list_assets(call: Call) -> Empty:  # pyright: ignore[reportUnusedFunction]
        rules.may(call.caller, "GET", Secured("asset"))
        return Empty()

    @router.bind(routes.LIST_DATABASES)
    def list_databases(call: Call) -> Empty:  # pyright: ignore[reportUnusedFunction]
        rules.may(call.caller, "GET", Secured("asset"))
        raise UnavailableError("DynamoDB does not answer")

    return router


class Server:
    """One process of a function, for several requests."""

    def __init__(self, denials: RecordedDenials | Broken) -> None:
        watch = Watch()
        rules = WatchedAuthorization(Rules(), watch)
        app = app_of(rules, watch=watch, denials=denials)
        self._handler: Handler = app.handler(bound(rules))

    def send(self, route: Route, user_id: str | None = "ann") -> int:
        path = route.path.format(**STATUE)
        event = http_event(route.method, path, user_id=user_id, parameters=STATUE, route=route.key)
        return int(self._handler(event, Context())["statusCode"])


@pytest.mark.parametrize(
    ("route", "status", "refusal", "action", "object_type"),
    [
        (routes.LIST_TAGS, 403, "route", "GET", "tag"),
        (routes.ARCHIVE_FILE, 403, "object", "POST", "asset"),
        (routes.GET_ASSET, 404, "invisible", "GET", "asset"),
    ],
)
def test_a_refusal_is_recorded_once_with_its_request(
    route: Route, status: int, refusal: str, action: str, object_type: str
) -> None:
    denials = RecordedDenials()
    assert Server(denials).send(route) == status
    (item,) = denials.recorded
    assert (item.caller.user_id, item.route, item.path) == ("ann", route, STATUE)
    assert (item.refusal, item.action, item.object_type) == (refusal, action, object_type)


@pytest.mark.parametrize(
    ("route", "status"),
    [(routes.GET_DATABASE, 404), (routes.LIST_ASSETS, 200), (routes.LIST_DATABASES, 503)],
)
def test_what_ends_for_another_reason_is_no_refusal(route: Route, status: int) -> None:
    denials = RecordedDenials()
    assert Server(denials).send(route) == status
    assert denials.recorded == []


def test_what_one_request_was_refused_does_not_make_the_next_one_a_refusal() -> None:
    denials = RecordedDenials()
    server = Server(denials)
    assert server.send(routes.LIST_ASSETS) == 200
    assert server.send(routes.GET_DATABASE) == 404
    assert denials.recorded == []
    denials = RecordedDenials()
    assert Server(denials).send(routes.LIST_TAGS, user_id=None) == 401
    assert denials.recorded == []


def test_a_bug_in_reporting_changes_no_reply_and_is_counted(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert Server(Broken()).send(routes.LIST_TAGS) == 403
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["DenialsNotEntered"] for line in lines if "DenialsNotEntered" in line] == [[1.0]]
