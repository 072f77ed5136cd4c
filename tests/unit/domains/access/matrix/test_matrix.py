"""Every declared route with every role and an object in every state: the expected reply.

`matrix.txt` is the table that people review. It must match the calculation from the needs of the
routes and the meaning of the stored constraints (`table.py`), and the product must match it: its
real rules, from the constraints of the standard templates, behind the handlers of all domains.
Search uses an engine in memory that applies the filter of the query;
`tests/integration/search/test_permissions.py` shows that the filter finds the same on OpenSearch.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import product
from typing import Any

import pytest

from backend.spec import routes
from backend.spec.routes import ROUTES, Route
from tests.factories.constraints import constraint, criterion, groups
from tests.routes import CASE_OF, question
from tests.routes.metadata import entity_of
from tests.routes.needs import may_use
from tests.unit.domains.access.matrix.roles import ROLES, WITH_ONE_ACTION, WITHOUT_ONE_ACTION, Role
from tests.unit.domains.access.matrix.seeding import ANN, Seeded
from tests.unit.domains.access.matrix.states import ALLOWED, ASSETS, STATES, State
from tests.unit.domains.access.matrix.table import (
    Expectations,
    RouteReplies,
    read_table,
    replies_of,
    written,
)
from tests.unit.domains.access.matrix.world import Question

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


BY_KEY = {route.key: route for route in ROUTES}
OPEN = {route.key for route in ROUTES if route.public or route.open_to_users}
WITHOUT_A_ROLE = OPEN - {
    *("POST /auth/routes", "GET /auth/routes/api/allowed", "PUT /metadata/batch"),
}
"""Every user may call these three; a user without a role may see no page, use no route, and change
no entity."""
OF_ONESELF = {
    "GET /auth/api-keys",
    "POST /auth/api-keys",
    "GET /auth/api-keys/{apiKeyId}",
    "PUT /auth/api-keys/{apiKeyId}",
    "DELETE /auth/api-keys/{apiKeyId}",
    "GET /auth/user/api-keys",
    "POST /auth/user/api-keys",
    "GET /auth/user/api-keys/{apiKeyId}",
    "PUT /auth/user/api-keys/{apiKeyId}",
    "DELETE /auth/user/api-keys/{apiKeyId}",
}
OF_THE_DEPLOYMENT = {
    *("GET /buckets", "GET /search", "GET /search/suggest", "GET /openapi.json"),
    *("GET /auth/routes/api", "GET /auth/routes/api/allowed"),
}
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
    sent = {
        route for route in routes_of(allowed(role) - OPEN) if route.method not in {"GET", "HEAD"}
    }
    assert sent == ASKING


@pytest.mark.parametrize("role", ["dbadmin", "dbuser", "dbreader", "mfa"])
def test_roles_of_one_database_reach_nothing_of_another(role: str) -> None:
    assert allowed(role, "foreign") == set()


def test_what_carries_the_denied_tag_is_only_read() -> None:
    result = {route for route in routes_of(allowed("keepsoff", "tagged")) if route.domain != "jobs"}
    assert {item.action for item in result} == {"GET"}


def test_what_is_denied_to_be_seen_is_reached_by_no_route() -> None:
    assert allowed("blind", "tagged") == {"POST /assets", "POST /ingest-asset"}  # both make it


def test_administration_is_for_administrators_and_for_who_is_given_all_roles_and_users() -> None:
    ways = {key for key in TABLE if key.split(" ")[1].startswith(ADMINISTRATION)}
    of_people = {route.key for route in ROUTES if route.object_type in {"role", "userRole"}}
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


ENDS: tuple[State, ...] = ("own", "foreign", "archived", "tagged", "absent")
PAIRS = tuple(product(ENDS, ENDS))
_by_pair = pytest.mark.parametrize(("source", "target"), PAIRS)


def who_may(expectations: Expectations, route: Route, *rights: tuple[str, State]) -> set[str]:
    """Return the roles that may use the route, and have these rights on active assets."""
    names: set[str] = set()
    for role in ROLES:
        facts = expectations.facts[role.name]
        assets = [(action, facts.assets.get(ASSETS[state][1])) for action, state in rights]
        if may_use(facts, route, expectations.attempt(route, role).question.parameters) and all(
            asset is not None
            and not asset.is_archived
            and facts.can("GET", "asset", asset.fields)
            and facts.can(action, "asset", asset.fields)
            for action, asset in assets
        ):
            names.add(role.name)
    return names


def changed(sent: Question, **fields: Any) -> Question:
    """The request with other fields in its body."""
    return replace(sent, body={**sent.body, **fields})


def allowing(world: Seeded, route: Route, sent: Question) -> set[str]:
    """The roles for which a request succeeds; all others must be refused without any change."""
    result: set[str] = set()
    for role in ROLES:
        answer = world.send_as(route, role, sent)
        assert answer.status in {200, 403, 404}, answer.body
        assert answer.status == 200 or not world.changed
        if answer.status == 200:
            result.add(role.name)
    return result


@_by_pair
def test_a_copy_needs_sight_of_its_source_and_writing_at_its_target(
    world: Seeded, expectations: Expectations, source: State, target: State
) -> None:
    database_id, asset_id = ASSETS[target]
    to = {"destinationDatabaseId": database_id, "destinationAssetId": asset_id}
    copying = changed(
        question(world, routes.COPY_FILE, state=source), destinationPath="/copied.txt", **to
    )
    expected = who_may(expectations, routes.COPY_FILE, ("GET", source), ("POST", target))
    assert allowing(world, routes.COPY_FILE, copying) == expected


@_by_pair
def test_a_link_needs_writing_at_both_its_ends(
    world: Seeded, expectations: Expectations, source: State, target: State
) -> None:
    (from_database, from_asset), (to_database, to_asset) = ASSETS[source], ASSETS[target]
    linking = changed(
        question(world, routes.CREATE_LINK),
        fromAssetDatabaseId=from_database,
        fromAssetId=from_asset,
        toAssetDatabaseId=to_database,
        toAssetId=to_asset if source != target else f"{to_asset}-base",
    )
    expected = who_may(expectations, routes.CREATE_LINK, ("POST", source), ("POST", target))
    assert allowing(world, routes.CREATE_LINK, linking) == expected


PURGED: dict[State, tuple[str, int]] = {
    "own": ("museum", 409),
    "foreign": ("gallery", 409),
    "archived": ("attic", 200),
    "absent": ("nowhere", 404),
}
"""The status for an administrator who purges a database in each state: active, deleted, none."""

MAY_PURGE = {"admin", "keepsoff", "blind"}
"""The roles with both rights; no template gives the one to purges."""


@pytest.mark.parametrize("state", PURGED)
def test_a_purge_needs_a_right_of_its_own(
    world: Seeded, expectations: Expectations, state: State
) -> None:
    database_id, status = PURGED[state]
    question = Question(
        {"databaseId": database_id},
        query={"purge": "true"},
        body={"confirmPermanentDelete": True},
    )
    for role in ROLES:
        answer = world.send_as(routes.DELETE_DATABASE, role, question)
        attempt = expectations.attempt(routes.DELETE_DATABASE, role)
        seen = state != "absent" and attempt.can("GET", "database", {"databaseId": database_id})
        visible = (
            403
            if seen or not may_use(attempt.facts, attempt.route, {"databaseId": database_id})
            else 404
        )
        assert answer.status == (status if role.name in MAY_PURGE else visible), role.name
        assert world.changed == (answer.status == 200)


@pytest.mark.parametrize("role", [*ROLES, *WITHOUT_ONE_ACTION], ids=lambda role: role.name)
@pytest.mark.parametrize("method", ["PUT", "DELETE"])
def test_each_part_of_a_batch_gets_the_reply_of_its_own_route(
    world: Seeded, role: Role, method: str
) -> None:
    alone = [route for route in routes.UPDATE_METADATA_BATCH.parts if route.method == method]
    requests = [
        (route, question(world, route, state=state))
        for route in alone
        for state in CASE_OF[route].states
        if state != "GLOBAL"  # which no field of a body accepts
    ]
    statuses = [world.send_as(route, role, sent).status for route, sent in requests]
    entities = [entity_of(sent) for _, sent in requests]
    batch = Question({}, body={"entities": entities})
    answer = world.send_as(routes.UPDATE_METADATA_BATCH, role, batch)
    # Only callers who may write receive the conflict of an entity without this record.
    results = [200 if r["status"] == 409 else r["status"] for r in answer.body["results"]]
    assert results == statuses
    assert world.changed == (200 in statuses)


@pytest.mark.parametrize("method", ["PUT", "DELETE"])
def test_a_batch_shows_values_only_to_callers_of_the_routes_that_read_them(
    world: Seeded, method: str
) -> None:
    role_name = f"just-{method}"
    parts = routes.UPDATE_METADATA_BATCH.parts
    requests = [question(world, route) for route in parts if route.method == method]
    batch = Question({}, body={"entities": [entity_of(sent) for sent in requests]})
    reads = [criterion("route__path", "contains", "metadata")]
    denial = constraint(
        objectType="api", criteriaAnd=reads, groupPermissions=groups(role_name, type_="deny")
    )
    with world.rolled_back():
        world.done(routes.CREATE_CONSTRAINT, {"constraintId": "no-reads"}, denial)
        world.done(routes.SET_USER_ROLES, body={"userId": ANN, "roleName": [role_name]})
        answer = world.send(routes.UPDATE_METADATA_BATCH, batch, user_id=ANN)
    results = answer.body["results"]
    assert [result["status"] for result in results] == [403] * len(requests)
    assert not any(result.get("conflicts") for result in results)


REPLACING = (
    *(routes.UPDATE_ASSET_METADATA, routes.UPDATE_FILE_METADATA),
    *(routes.UPDATE_DATABASE_METADATA, routes.UPDATE_LINK_METADATA),
)


@pytest.mark.parametrize("route", REPLACING, ids=lambda route: route.key)
def test_replacing_all_metadata_needs_the_rights_to_add_and_to_delete(
    world: Seeded, route: Route
) -> None:
    replacing = changed(question(world, route), updateType="replace_all")
    result = {
        role.name: world.send_as(route, role, replacing).status
        for role in (ROLES[0], *WITHOUT_ONE_ACTION)
    }
    assert result == {
        "admin": 200,
        "but-GET": 404,
        "but-PUT": 403,
        "but-POST": 403,
        "but-DELETE": 403,
    }


@pytest.mark.parametrize("route", [routes.UPDATE_COMMENT, routes.DELETE_COMMENT])
def test_no_one_changes_the_comments_of_others(world: Seeded, route: Route) -> None:
    assert allowing(world, route, question(world, route, "user-nobody")) == set()


@pytest.mark.parametrize(
    "route", [routes.COMPLETE_UPLOAD, routes.RENEW_UPLOAD], ids=lambda route: route.key
)
def test_no_one_continues_the_uploads_of_others(world: Seeded, route: Route) -> None:
    assert allowing(world, route, question(world, route, "user-nobody")) == set()


def test_an_asset_is_not_changed_into_one_that_the_caller_may_not_change(world: Seeded) -> None:
    plain = question(world, routes.UPDATE_ASSET)
    tagged = Question(plain.parameters, body={"tags": ["secret"]})
    able = allowing(world, routes.UPDATE_ASSET, plain)
    # Templates allow to see tags, not to change them, and a rule names this one.
    no_right_to_tag = {"dbadmin", "dbuser", "mfa"}
    assert able - allowing(world, routes.UPDATE_ASSET, tagged) == {"keepsoff", *no_right_to_tag}


def test_no_one_takes_the_tag_away_that_forbids_to_change_an_asset(world: Seeded) -> None:
    idol = question(world, routes.UPDATE_ASSET, state="tagged").parameters
    untagged = allowing(world, routes.UPDATE_ASSET, Question(idol, body={"tags": []}))
    assert untagged == {"admin"}


def test_what_a_user_did_is_visible_to_administrators_alone(world: Seeded) -> None:
    question = Question({}, {"userId": "admin"})
    assert allowing(world, routes.LIST_AUDIT_ENTRIES, question) == {"admin"}


def test_a_schema_changes_its_name_from_and_to_what_the_caller_may_change(world: Seeded) -> None:
    def renaming(schema: str, name: str) -> set[str]:
        body = {"metadataSchemaId": schema, "schemaName": name}
        return allowing(world, routes.UPDATE_METADATA_SCHEMA, Question({}, body=body))

    able = renaming(world.schemas["own"], "Free")
    assert "keepsoff" in able
    assert able - renaming(world.schemas["own"], "Kept") == {"keepsoff"}
    assert able - renaming(world.kept_schema, "Free") == {"keepsoff"}


@pytest.mark.parametrize("role", WITHOUT_ONE_ACTION, ids=lambda role: role.name)
def test_to_ingest_an_asset_it_must_be_made_and_written(world: Seeded, role: Role) -> None:
    files = [{"relativeKey": "a-new-one/new.txt", "file_size": 0}]
    ingesting = changed(question(world, routes.INGEST_ASSET), assetId="a-new-one", files=files)
    status = world.send_as(routes.INGEST_ASSET, role, ingesting).status
    assert status == (403 if role.name in {"but-PUT", "but-POST"} else 200)
    assert world.changed == (status == 200)
