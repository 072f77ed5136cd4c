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
from tests.unit.domains.access.matrix.roles import ROLES, WITHOUT_ONE_ACTION, Role
from tests.unit.domains.access.matrix.seeding import Seeded
from tests.unit.domains.access.matrix.states import ASSETS, State
from tests.unit.domains.access.matrix.world import Question

ENDS: tuple[State, ...] = ("own", "foreign", "archived", "tagged", "absent")
PAIRS = tuple(product(ENDS, ENDS))
_by_pair = pytest.mark.parametrize(("source", "target"), PAIRS)


def may(role: Role, action: str, state: State) -> bool:
    """Return whether the role may perform this on an active asset in this state."""
    seen = state not in {"archived", "absent"} and role.may_do("GET", "asset", state)
    return seen and role.may_do(action, "asset", state)


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
    world: Seeded, source: State, target: State
) -> None:
    database_id, asset_id = ASSETS[target]
    to = {"destinationDatabaseId": database_id, "destinationAssetId": asset_id}
    copying = changed(
        question(world, routes.COPY_FILE, state=source), destinationPath="/copied.txt", **to
    )
    expected = {
        role.name
        for role in ROLES
        if role.may_use(routes.COPY_FILE) and may(role, "GET", source) and may(role, "POST", target)
    }
    assert allowing(world, routes.COPY_FILE, copying) == expected


@_by_pair
def test_a_link_needs_writing_at_both_its_ends(world: Seeded, source: State, target: State) -> None:
    (from_database, from_asset), (to_database, to_asset) = ASSETS[source], ASSETS[target]
    linking = changed(
        question(world, routes.CREATE_LINK),
        fromAssetDatabaseId=from_database,
        fromAssetId=from_asset,
        toAssetDatabaseId=to_database,
        toAssetId=to_asset if source != target else f"{to_asset}-base",
    )
    expected = {
        role.name
        for role in ROLES
        if role.may_use(routes.CREATE_LINK)
        and may(role, "POST", source)
        and may(role, "POST", target)
    }
    assert allowing(world, routes.CREATE_LINK, linking) == expected


PURGED: dict[State, tuple[str, int]] = {
    "own": ("museum", 409),
    "foreign": ("gallery", 409),
    "archived": ("attic", 200),
    "absent": ("nowhere", 404),
}
"""The status for an administrator who purges a database in each state: active, deleted, none."""


def may_purge(role: Role, state: State) -> bool:
    """Whether a role has both rights; no template gives the one to purges."""
    has_right = role.name in {"admin", "keepsoff", "blind"}
    return has_right and role.may_use(routes.DELETE_DATABASE)


@pytest.mark.parametrize("state", PURGED)
def test_a_purge_needs_a_right_of_its_own(world: Seeded, state: State) -> None:
    database_id, status = PURGED[state]
    question = Question(
        {"databaseId": database_id},
        query={"purge": "true"},
        body={"confirmPermanentDelete": True},
    )
    for role in ROLES:
        answer = world.send_as(routes.DELETE_DATABASE, role, question)
        seen = state != "absent" and role.may_do("GET", "database", state)
        visible = 403 if seen or not role.may_use(routes.DELETE_DATABASE) else 404
        assert answer.status == (status if may_purge(role, state) else visible), role.name
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
