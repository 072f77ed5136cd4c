"""Statements about the whole table, checked by reading it only."""

import pytest

from backend.spec import routes
from backend.spec.routes import ROUTES, Route
from tests.unit.domains.access.matrix.states import ALLOWED, STATES, State
from tests.unit.domains.access.matrix.table import read_table

TABLE = read_table()
BY_KEY = {route.key: route for route in ROUTES}
OPEN = {route.key for route in ROUTES if route.public or route.open_to_users}
WITHOUT_A_ROLE = OPEN - {"POST /auth/routes"}
"""Every user may call it; a user without a role may see no page."""
OF_ONESELF = {
    "GET /auth/api-keys",
    "POST /auth/api-keys",
    "GET /auth/api-keys/{apiKeyId}",
    "PUT /auth/api-keys/{apiKeyId}",
    "DELETE /auth/api-keys/{apiKeyId}",
}
OF_THE_DEPLOYMENT = {"GET /buckets", "GET /search", "GET /search/suggest", "GET /openapi.json"}
ASKING = {
    *(routes.SEARCH, routes.SEARCH_SIMPLE, routes.LIST_PREVIEWS, routes.CHECK_SUBSCRIPTION),
    *(routes.DOWNLOAD, routes.EXPORT_ASSETS),
}
"""Routes that are sent as POST and change nothing."""
ADMINISTRATION = (
    *("/admin/", "/audit", "/auth/constraints", "/auth/explain"),
    *("/roles", "/user-roles", "/user/"),
)


def allowed(role: str, *states: State) -> set[str]:
    """The routes that answer a role about an object in one of the states, or in any."""
    wanted = states or STATES
    return {
        key
        for key, cells in TABLE.items()
        if any(cells[role][STATES.index(state)] == ALLOWED for state in wanted)
    }


def routes_of(keys: set[str]) -> list[Route]:
    return [BY_KEY[key] for key in sorted(keys)]


def test_routes_alone_allow_nothing_but_what_is_ones_own_or_no_object() -> None:
    """So a service method without a permission check is detected."""
    assert allowed("routes") == WITHOUT_A_ROLE | OF_ONESELF | OF_THE_DEPLOYMENT


@pytest.mark.parametrize("role", ["objects", "nobody", "nomfa"])
def test_without_a_permission_on_routes_only_open_routes_are_allowed(role: str) -> None:
    assert allowed(role) - {"POST /auth/routes"} == WITHOUT_A_ROLE


@pytest.mark.parametrize("role", ["dbreader", "reader"])
def test_readers_change_nothing_but_their_own_profile(role: str) -> None:
    sent = {one for one in routes_of(allowed(role) - OPEN) if one.method not in {"GET", "HEAD"}}
    assert sent == ASKING


@pytest.mark.parametrize("role", ["dbadmin", "dbuser", "dbreader", "mfa"])
def test_roles_of_one_database_reach_nothing_of_another(role: str) -> None:
    assert allowed(role, "foreign") == set()


def test_what_carries_the_denied_tag_is_only_read() -> None:
    found = {one for one in routes_of(allowed("keepsoff", "tagged")) if one.domain != "jobs"}
    assert {one.action for one in found} == {"GET"}


def test_what_is_denied_to_be_seen_is_reached_by_no_route() -> None:
    assert allowed("blind", "tagged") == {"POST /assets", "POST /ingest-asset"}  # both make it


def test_administration_is_for_administrators_and_for_who_is_given_all_roles_and_users() -> None:
    ways = {key for key in TABLE if key.split(" ")[1].startswith(ADMINISTRATION)}
    of_people = {one.key for one in ROUTES if one.object_type in {"role", "userRole"}}
    for role in set(TABLE["GET /roles"]) - {"admin"}:
        everything = of_people if role in {"keepsoff", "blind"} else set[str]()
        assert allowed(role) & ways == everything


def test_a_second_factor_makes_the_difference_between_a_role_and_none() -> None:
    for cells in TABLE.values():
        assert cells["mfa"] == cells["dbadmin"]
        assert cells["nomfa"] == cells["nobody"]


def test_what_is_absent_is_not_revealed() -> None:
    for key, cells in TABLE.items():
        assert allowed_absent(cells) == set(), key


def allowed_absent(cells: dict[str, str]) -> set[str]:
    return {role for role, cell in cells.items() if cell[STATES.index("absent")] == ALLOWED}
