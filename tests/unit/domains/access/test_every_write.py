"""Every route that writes asks for the permission that it is declared with, and heeds it.

The matrix (`tests/unit/domains/access/matrix`) asks those too that make no entry of their own.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from backend.core.authorization import Secured
from backend.core.identity import Identity
from backend.domains.access.policy.model import FIELDS_OF
from backend.spec import routes
from backend.spec.routes import Action, Route
from tests.unit.domains.audit.product import Product
from tests.unit.domains.audit.writes import WRITES_WITHOUT_ENTRY, story, written_routes

Asked = tuple[Action, str]


@dataclass
class Asking:
    """The permission port: all may use all routes, and just the administrator do anything."""

    asked: list[tuple[Action, Secured]] = field(default_factory=list[tuple[Action, Secured]])

    def may_use(self, caller: Identity, route: Route, path: Mapping[str, str]) -> bool:
        return True

    def may(self, caller: Identity, action: Action, target: Secured) -> bool:
        self.asked.append((action, target))
        return caller.user_id == "admin"


@dataclass
class Told:
    """What a route was asked with, and what it asked."""

    status: int
    written: int
    refused: set[Asked]
    allowed: set[Asked]
    targets: list[Secured]


@pytest.fixture(scope="module")
def told() -> dict[Route, Told]:
    asking = Asking()
    product = Product(asking)
    found: dict[Route, Told] = {}
    bodies: list[Any] = []
    for step in story(product, lambda: bodies[-1]):
        product.follow()
        request: dict[str, Any] = {"parameters": step.parameters, "body": step.body}
        before = len(product.tables.together)
        asking.asked.clear()
        refusal = product.send(step.route, user_id="stranger", **request)
        refused = list(asking.asked)
        written = len(product.tables.together) - before
        asking.asked.clear()
        answer = product.send(step.route, **request)
        assert answer.status == 200, (step.route.key, answer.body)
        bodies.append(answer.body)
        found[step.route] = Told(
            refusal.status,
            written,
            {(action, target.object_type) for action, target in refused},
            {(action, target.object_type) for action, target in asking.asked},
            [target for _, target in (*refused, *asking.asked)],
        )
    return found


ASKING = sorted(
    (r for r in written_routes() - set(WRITES_WITHOUT_ENTRY) if r.object_type != "none"), key=str
)
OF_THEIR_MAKER = {routes.COMPLETE_UPLOAD, routes.ABORT_UPLOAD}
"""Nobody but the user who began an upload knows of it."""
NOT_THERE = {"roleName"}
"""Who signs in is an object of the type userRole without a role."""


@pytest.mark.parametrize("route", ASKING, ids=lambda r: r.key)
def test_a_write_asks_for_the_permission_of_its_route(
    told: dict[Route, Told], route: Route
) -> None:
    assert (route.action, route.object_type) in told[route].allowed


@pytest.mark.parametrize("route", ASKING, ids=lambda r: r.key)
def test_a_write_that_permissions_refuse_writes_nothing(
    told: dict[Route, Told], route: Route
) -> None:
    assert told[route].refused or route in OF_THEIR_MAKER
    assert told[route].status in {403, 404}
    assert told[route].written == 0


def test_what_is_asked_for_carries_all_fields_that_rules_may_name(told: dict[Route, Told]) -> None:
    lacking = {
        (route.key, target.object_type, name)
        for route, one in told.items()
        for target in one.targets
        if target.object_type in FIELDS_OF
        for name in FIELDS_OF[target.object_type]
        if name not in target.fields and not ("/cognito" in route.path and name in NOT_THERE)
    }
    assert lacking == set()
