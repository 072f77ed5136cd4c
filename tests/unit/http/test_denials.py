"""The HTTP layer records requests that were refused."""

import json
from collections.abc import Mapping

import pytest

from backend.core.authorization import Secured, require
from backend.core.denials import Denial, Watch, WatchedAuthorization
from backend.core.errors import NotFoundError, UnavailableError
from backend.core.identity import Identity
from backend.core.models import WireModel
from backend.core.page_tokens import PageTokens
from backend.core.reads import CurrentRequest
from backend.http.app import Handler, HttpApp
from backend.http.call import Call
from backend.http.router import Router
from backend.spec import routes
from backend.spec.routes import Action, Route
from tests.factories.http import Context, RecordedDenials, RecordedReads, http_event

STATUE = {"databaseId": "museum", "assetId": "statue"}


class Rules:
    """Everybody may use all routes but one, and no object but the database."""

    def may_use(self, caller: Identity, route: Route, path: Mapping[str, str]) -> bool:
        return route != routes.LIST_TAGS

    def may(self, caller: Identity, action: Action, target: Secured) -> bool:
        return target.object_type == "database"


class Empty(WireModel):
    pass


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
        app = HttpApp(
            rules,
            PageTokens(lambda: b"key"),
            watch=watch,
            denials=denials,
            request=CurrentRequest(),
            reads=RecordedReads(),
        )
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
    (found,) = denials.recorded
    assert (found.caller.user_id, found.route, found.path) == ("ann", route, STATUE)
    assert (found.refusal, found.action, found.object_type) == (refusal, action, object_type)


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


def test_who_is_not_known_is_no_caller_who_was_refused() -> None:
    denials = RecordedDenials()
    assert Server(denials).send(routes.LIST_TAGS, user_id=None) == 401
    assert denials.recorded == []


def test_a_bug_in_reporting_changes_no_reply_and_is_counted(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert Server(Broken()).send(routes.LIST_TAGS) == 403
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["DenialsNotEntered"] for line in lines if "DenialsNotEntered" in line] == [[1.0]]
