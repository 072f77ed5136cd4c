"""Every declared route with every role and an object in every state: the expected reply.

`matrix.txt` is the table that people review. It must match the calculation from the definitions of
the templates (`expected`), and the product must match it: its real rules, from the stored
constraints of the standard templates, behind the handlers of all domains. Search uses an engine in
memory that applies the filter of the query; `tests/integration/search/test_permissions.py` shows
that the filter finds the same on OpenSearch.
"""

from collections.abc import Callable
from functools import cache

import pytest

from backend.spec import routes
from backend.spec.routes import ROUTES, Route
from tests.unit.domains.access.matrix.answers import RouteReplies, replies_of
from tests.unit.domains.access.matrix.expected import letter, read_table, row, written
from tests.unit.domains.access.matrix.roles import ROLES, WITH_ONE_ACTION, WITHOUT_ONE_ACTION
from tests.unit.domains.access.matrix.seeding import Seeded

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


def test_every_declared_route_has_a_row_and_every_row_a_route() -> None:
    rows, declared = set(TABLE), {route.key for route in ROUTES}
    lacking = [written(route, row(route)) for route in ROUTES if route.key not in rows]
    assert not lacking, "\n".join(["the matrix lacks these, if they are right:", *lacking])
    assert rows == declared


@_by_route
def test_the_table_matches_the_definitions_of_the_roles(route: Route) -> None:
    assert TABLE[route.key] == row(route), written(route, row(route))


@_by_route
def test_every_role_gets_the_reply_in_the_table(answers: Answers, route: Route) -> None:
    found = answers(route)
    assert {name: one.cell for name, one in found.items()} == TABLE[route.key]
    # If no role succeeds, the requests are wrong, and their denials prove nothing.
    assert found["admin"].succeeded


@_by_route
def test_what_is_refused_changes_nothing(answers: Answers, route: Route) -> None:
    assert {name: one.wrote for name, one in answers(route).items() if one.wrote} == {}


@_by_route
def test_invisible_objects_get_the_reply_of_absent_ones(answers: Answers, route: Route) -> None:
    codes = set[str]().union(*(one.missing for one in answers(route).values()))
    assert len(codes) <= 1 or codes == BY_REQUEST.get(route)


@_by_route
def test_every_method_requires_its_action(world: Seeded, route: Route) -> None:
    """A role with only the required permission succeeds, and a role with all others is refused."""
    probes = (*WITH_ONE_ACTION, *WITHOUT_ONE_ACTION)
    found = {role.name: replies_of(world, route, role, ["own"]).cell[0] for role in probes}
    assert found == {role.name: letter(route, role, "own") for role in probes}
