"""Every route that reads asks for the permission that it is declared with, and tells no one else.

The world is that of the story of all writes, in the middle of it.
"""

import re
from dataclasses import dataclass
from typing import Any, cast

import pytest

from backend.core.authorization import Secured
from backend.spec import routes
from backend.spec.routes import ROUTES, Route
from tests.factories.http import Answer
from tests.unit.domains.access.test_every_write import Asked, Asking
from tests.unit.domains.audit.product import Product
from tests.unit.domains.audit.writes import story

KNOWN = {
    "databaseId": "museum",
    "assetId": "statue",
    "assetVersionId": "0",
    "proxy": "a.txt",
    "userId": "admin",
    "valueHash": "a" * 64,
    "assetVersionId:commentId": "0:none-such",
}
QUERIES: dict[Route, dict[str, str]] = {
    routes.LIST_WORKFLOW_EXECUTIONS: {"workflowDatabaseId": "museum"},
    routes.GET_FILE: {"filePath": "/a.txt"},
    routes.GET_FILE_METADATA: {"filePath": "/a.txt", "type": "metadata"},
    routes.LIST_DEPENDENTS: {"filePath": "/a.txt"},
    routes.LIST_SIMILAR_FILES: {"filePath": "/a.txt"},
    routes.GET_GLB: {"key": "/a.txt"},
    routes.LIST_AUDIT_ENTRIES: {"userId": "admin"},
    routes.GET_AUDIT_VALUE: {"entity": "role:editor", "at": "2026-03-01T12:00:00.000000Z"},
    routes.COMPARE_ASSET_VERSIONS: {"from": "0", "to": "0"},
    routes.EXPLAIN_ACCESS: {"userId": "admin", "action": "GET", "objectType": "asset"},
}
TELLING = ("statue", "A bust", "scans", "colour", "red")
"""What the story calls its things."""

BESIDE = {"search", "operations", "queues", "search_indexes", "configuration"}
"""What the story does not need; the matrix (`tests/unit/domains/access/matrix`) asks these too."""
READS = sorted(
    (
        route
        for route in ROUTES
        if route.method == "GET"
        and route.domain not in BESIDE
        and not (route.public or route.open_to_users)
    ),
    key=str,
)


@dataclass
class Told:
    """What a stranger was told, and what was asked for the administrator."""

    stranger: Answer
    refused: list[Asked]
    administrator: Answer
    allowed: list[Asked]


@pytest.fixture(scope="module")
def told() -> dict[Route, Told]:
    asking = Asking()
    product = Product(asking)
    bodies: list[Any] = []
    for step in story(product, lambda: bodies[-1]):
        if step.route is routes.CREATE_ASSET_VERSION:
            return {route: _asked(product, asking, route) for route in READS}
        product.follow()
        answer = product.send(step.route, parameters=step.parameters, body=step.body)
        assert answer.status == 200, (step.route.key, answer.body)
        bodies.append(answer.body)
    raise AssertionError("the story makes no version")


def _asked(product: Product, asking: Asking, route: Route) -> Told:
    names = re.findall(r"\{([\w:]+)\+?\}", route.path)
    request: dict[str, Any] = {
        "parameters": {name: KNOWN.get(name, "none-such") for name in names},
        "query": QUERIES.get(route),
    }
    asking.asked.clear()
    stranger = product.send(route, user_id="stranger", **request)
    refused = _types(asking.asked)
    asking.asked.clear()
    administrator = product.send(route, **request)
    return Told(stranger, refused, administrator, _types(asking.asked))


def _types(asked: list[tuple[Any, Secured]]) -> list[Asked]:
    return [(action, target.object_type) for action, target in asked]


@pytest.mark.parametrize("route", READS, ids=lambda r: r.key)
def test_who_has_no_right_is_told_nothing(told: dict[Route, Told], route: Route) -> None:
    stranger = told[route].stranger
    assert stranger.status in {200, 400, 403, 404}
    text = str(stranger.body)
    of_request = {*KNOWN.values()}
    assert not [word for word in TELLING if word in text and word not in of_request]
    if stranger.status == 200:
        assert not _items(stranger.body)


def _items(body: object) -> list[object]:
    """All that stands in lists of a reply."""
    if isinstance(body, list):
        return cast("list[object]", body)
    inner = cast("dict[str, object]", body).values() if isinstance(body, dict) else ()
    return [item for each in inner for item in _items(each)]


@pytest.mark.parametrize("route", READS, ids=lambda r: r.key)
def test_a_read_asks_for_the_permission_of_its_route(told: dict[Route, Told], route: Route) -> None:
    one = told[route]
    if one.administrator.status == 200 and one.allowed:
        assert route.object_type in {"none", *(each for _, each in one.allowed)}
        assert route.action in {action for action, _ in one.allowed}
    else:  # what is not there, or an empty list, has nothing to ask about
        assert one.administrator.status == 404 or not _items(one.administrator.body)
