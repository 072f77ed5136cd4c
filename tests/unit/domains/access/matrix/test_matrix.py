"""Every declared route with every role and an object in every state: the expected reply.

`matrix.txt` is the table that people review. It must match the calculation from the needs of the
routes and the meaning of the stored constraints (`table.py`), and the product must match it: its
real rules, from the constraints of the standard templates, behind the handlers of all domains.
Search uses an engine in memory that applies the filter of the query;
`tests/integration/search/test_permissions.py` shows that the filter finds the same on OpenSearch.
"""

from collections.abc import Callable
from functools import cache

import pytest

from backend.spec import routes
from backend.spec.routes import ROUTES, Route
from tests.unit.domains.access.matrix.answers import RouteReplies, replies_of
from tests.unit.domains.access.matrix.roles import ROLES, WITH_ONE_ACTION, WITHOUT_ONE_ACTION
from tests.unit.domains.access.matrix.seeding import Seeded
from tests.unit.domains.access.matrix.table import Expectations, read_table, written

TABLE = read_table()
_by_route = pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.key)
BY_REQUEST = {routes.COMPLETE_UPLOAD: {"UploadNotFound", "AssetNotFound"}}
"""Only the user who started an upload receives the error that its asset is missing, whether deleted
or invisible."""
Answers = Callable[[Route], dict[str, RouteReplies]]


@pytest.fixture(scope="module")
def answers(world: Seeded) -> Answers:
    """The replies of a route to each role about objects in all states."""

    @cache
    def of(route: Route) -> dict[str, RouteReplies]:
        return {role.name: replies_of(world, route, role) for role in ROLES}

    return of


@pytest.fixture(scope="module")
def expectations(world: Seeded) -> Expectations:
    return Expectations(world)


def test_every_declared_route_has_a_row_and_every_row_a_route(expectations: Expectations) -> None:
    rows, declared = set(TABLE), {route.key for route in ROUTES}
    missing = (route for route in ROUTES if route.key not in rows)
    lacking = [written(route, expectations.row(route)) for route in missing]
    assert not lacking, "\n".join(["the matrix lacks these, if they are right:", *lacking])
    assert rows == declared


@_by_route
def test_the_table_matches_the_needs_of_the_routes_and_the_meaning_of_the_rules(
    expectations: Expectations, route: Route
) -> None:
    row = expectations.row(route)
    assert TABLE[route.key] == row, written(route, row)


@_by_route
def test_every_role_gets_the_reply_in_the_table(answers: Answers, route: Route) -> None:
    replies = answers(route)
    assert {name: reply.cell for name, reply in replies.items()} == TABLE[route.key]
    # If no role succeeds, the requests are wrong, and their denials prove nothing.
    assert replies["admin"].succeeded


@_by_route
def test_what_is_refused_changes_nothing(answers: Answers, route: Route) -> None:
    assert {name: reply.wrote for name, reply in answers(route).items() if reply.wrote} == {}


@_by_route
def test_invisible_objects_get_the_reply_of_absent_ones(answers: Answers, route: Route) -> None:
    codes = set[str]().union(*(reply.missing for reply in answers(route).values()))
    assert len(codes) <= 1 or codes == BY_REQUEST.get(route)


@_by_route
def test_every_method_requires_its_action(
    world: Seeded, expectations: Expectations, route: Route
) -> None:
    """A role with only the required permission succeeds, and a role with all others is refused."""
    probes = (*WITH_ONE_ACTION, *WITHOUT_ONE_ACTION)
    letters = {role.name: replies_of(world, route, role, ["own"]).cell[0] for role in probes}
    assert letters == {role.name: expectations.letter(route, role, "own") for role in probes}
