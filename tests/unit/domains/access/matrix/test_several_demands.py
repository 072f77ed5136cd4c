"""Requests with several requirements: on two objects, for several actions, as the owner.

The matrix tests each route with one object and one action; these tests cover the others.
"""

from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from backend.spec import routes
from backend.spec.routes import Route
from tests.routes import question
from tests.routes.needs import may_use
from tests.unit.domains.access.matrix.roles import ROLES, WITHOUT_ONE_ACTION, Role
from tests.unit.domains.access.matrix.seeding import Seeded
from tests.unit.domains.access.matrix.states import ASSETS, State
from tests.unit.domains.access.matrix.table import Expectations
from tests.unit.domains.access.matrix.world import Question

ENDS: tuple[State, ...] = ("own", "foreign", "archived", "tagged", "absent")
PAIRS = tuple(product(ENDS, ENDS))
_by_pair = pytest.mark.parametrize(("source", "target"), PAIRS)


@pytest.fixture(scope="module")
def expectations(world: Seeded) -> Expectations:
    return Expectations(world)


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
    found: set[str] = set()
    for role in ROLES:
        answer = world.send_as(route, role, sent)
        assert answer.status in {200, 403, 404}, answer.body
        assert answer.status == 200 or not world.changed
        if answer.status == 200:
            found.add(role.name)
    return found


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


REPLACING = (
    *(routes.UPDATE_ASSET_METADATA, routes.UPDATE_FILE_METADATA),
    *(routes.UPDATE_DATABASE_METADATA, routes.UPDATE_LINK_METADATA),
)


@pytest.mark.parametrize("route", REPLACING, ids=lambda route: route.key)
def test_replacing_all_metadata_needs_the_rights_to_add_and_to_delete(
    world: Seeded, route: Route
) -> None:
    replacing = changed(question(world, route), updateType="replace_all")
    found = {
        role.name: world.send_as(route, role, replacing).status
        for role in (ROLES[0], *WITHOUT_ONE_ACTION)
    }
    assert found == {
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
