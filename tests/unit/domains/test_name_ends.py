"""Routes refuse new names with a space, or what looks like one, at either end.

Rows with such names, of earlier releases, can be read, changed and deleted.
"""

import json
from typing import Any

import pytest

from backend.core import invisible
from backend.spec import routes
from backend.spec.routes import Route
from tests.factories.constraints import constraint
from tests.unit.domains.access.matrix.seeding import Seeded
from tests.unit.domains.access.matrix.world import Question

BAD, DONE = 400, 200
SPACES = "\u0020\u00a0\u1680\u2000\u2001\u2002\u2003\u2009\u200a\u202f\u205f\u3000"
HIDDEN = "\u00ad\u061c\u180e\u200b\u200e\u200f\u2028\u202e\u2060\u2066\u2069\u2800\u3164\ufeff"
MUSEUM = {"databaseId": "museum"}
STATUE = {**MUSEUM, "assetId": "statue"}
USER = {"userId": "ann@example.org"}
GRANT = {"permission": "GET", "permissionType": "allow"}
RULE = constraint(groupPermissions=[], userPermissions=[{**USER, **GRANT}])
RECORDS = {"metadata": [{"metadataKey": "<name>", "metadataValue": "2"}]}
FIELD = {"metadataFieldKeyName": "<name>", "metadataFieldValueType": "string"}
SCHEMA = {**MUSEUM, "metadataSchemaEntityType": "assetMetadata", "schemaName": "Sizes"}
ENDS = {"fromAssetDatabaseId": "museum", "fromAssetId": "statue", "toAssetDatabaseId": "museum"}
LINK = {**ENDS, "toAssetId": "statue-base", "relationshipType": "parentChild"}
TYPE = {"description": "A type"}
ASSET = {**MUSEUM, "assetName": "Lion", "description": "A lion", "isDistributable": True}

Sent = tuple[Route, dict[str, str], Any, str]
"""A route, its path, a body with a place for the name, and the field of the error."""
CREATIONS: list[Sent] = [
    (routes.CREATE_TAG, {}, {"tagName": "<name>", "tagTypeName": "colour", **TYPE}, "tagName"),
    (routes.CREATE_TAG_TYPE, {}, {"tagTypeName": "<name>", **TYPE}, "tagTypeName"),
    (routes.CREATE_ROLE, {}, {"roleName": "<name>", **TYPE}, "roleName"),
    (routes.CREATE_API_KEY, {}, {"apiKeyName": "<name>", **USER, **TYPE}, "apiKeyName"),
    (routes.CREATE_CONSTRAINT, {"constraintId": "<name>"}, RULE, "constraintId"),
    (routes.UPDATE_CONSTRAINT, {"constraintId": "<name>"}, RULE, "constraintId"),
    (routes.CREATE_CONSTRAINT, {"constraintId": "new"}, {**RULE, "name": "<name>"}, "name"),
    (routes.CREATE_ASSET, {}, {**ASSET, "assetId": "<name>"}, "assetId"),
    (routes.CREATE_ASSET_METADATA, STATUE, RECORDS, "metadata.0.metadataKey"),
    (routes.UPDATE_ASSET_METADATA, STATUE, RECORDS, "metadata.0.metadataKey"),
    (routes.CREATE_DATABASE_METADATA, MUSEUM, RECORDS, "metadata.0.metadataKey"),
    (routes.UPDATE_DATABASE_METADATA, MUSEUM, RECORDS, "metadata.0.metadataKey"),
    (routes.CREATE_METADATA_SCHEMA, {}, {**SCHEMA, "fields": {"fields": [FIELD]}},
     "fields.fields.0.metadataFieldKeyName"),
    (routes.CREATE_METADATA_SCHEMA, {}, {**SCHEMA, "schemaName": "<name>",
     "fields": {"fields": [{**FIELD, "metadataFieldKeyName": "height"}]}}, "schemaName"),
    (routes.CREATE_LINK, {}, {**LINK, "assetLinkAliasId": "<name>"}, "assetLinkAliasId"),
]  # fmt: skip


@pytest.fixture(scope="module")
def world() -> Seeded:
    return Seeded()


def sent_with(world: Seeded, route: Route, path: dict[str, str], body: Any, name: str) -> Any:
    filled = json.loads(json.dumps(body).replace("<name>", json.dumps(name)[1:-1]))
    path = {part: name if value == "<name>" else value for part, value in path.items()}
    return world.send(route, Question(path, body=filled))


@pytest.mark.parametrize(("route", "path", "body", "field"), CREATIONS)
def test_a_new_name_with_a_space_at_its_ends_is_refused(
    world: Seeded, route: Route, path: dict[str, str], body: Any, field: str
) -> None:
    with world.rolled_back():
        assert sent_with(world, route, path, body, "good name").status == DONE
    taken: list[str] = []
    for char in SPACES + HIDDEN:
        for name in (f"{char}name", f"name{char}"):
            with world.rolled_back():
                answer = sent_with(world, route, path, body, name)
            errors = [error["field"] for error in answer.body.get("errors", ())]
            if (answer.status, errors) != (BAD, [field]):
                taken.append(f"{name!a}: {answer.status} {answer.body}")
    assert taken == []


def test_a_stored_name_with_spaces_can_be_read_changed_and_deleted(
    world: Seeded, monkeypatch: pytest.MonkeyPatch
) -> None:
    tag, kind, role, rule, key = " tag", "type ", " role", "rule ", "key\u3000"
    record = {"metadata": [{"metadataKey": key, "metadataValue": "2"}]}
    user = {"userId": "ann\u3164", "roleName": [role]}
    body = {**RULE, "name": " Rule", "userPermissions": [{"userId": "ann\u3164", **GRANT}]}
    with world.rolled_back():
        with monkeypatch.context() as patch:
            patch.setattr(invisible, "check_new_name", str)  # as in earlier releases
            world.done(routes.CREATE_TAG_TYPE, body={"tagTypeName": kind, **TYPE})
            world.done(routes.CREATE_TAG, body={"tagName": tag, "tagTypeName": kind, **TYPE})
            world.done(routes.CREATE_ROLE, body={"roleName": role, **TYPE})
            world.done(routes.SET_USER_ROLES, body=user)
            world.done(routes.CREATE_CONSTRAINT, {"constraintId": rule}, body)
            world.done(routes.CREATE_ASSET_METADATA, STATUE, record)
        shown = str(world.done(routes.LIST_TAGS)) + str(world.done(routes.LIST_TAG_TYPES))
        shown += str(world.done(routes.LIST_ROLES)) + str(world.done(routes.LIST_USER_ROLES))
        shown += str(world.done(routes.GET_CONSTRAINT, {"constraintId": rule}))
        shown += str(world.done(routes.GET_ASSET_METADATA, STATUE))
        for name in (tag, kind, role, rule, key, "ann\u3164"):
            assert str([name])[1:-1] in shown
        other = {"description": "Another"}
        world.done(routes.UPDATE_TAG, body={"tagName": tag, "tagTypeName": kind, **other})
        world.done(routes.UPDATE_TAG_TYPE, body={"tagTypeName": kind, **other})
        world.done(routes.UPDATE_ROLE, body={"roleName": role, **other})
        world.done(routes.SET_USER_ROLES, body={**user, "roleName": [role, "editor"]})
        world.done(routes.UPDATE_CONSTRAINT, {"constraintId": rule}, {**body, **other})
        record["metadata"][0]["metadataValue"] = "3"
        world.done(routes.UPDATE_ASSET_METADATA, STATUE, record)
        world.done(routes.DELETE_TAG, {"tagId": tag})
        world.done(routes.DELETE_TAG_TYPE, {"tagTypeId": kind})
        world.done(routes.DELETE_CONSTRAINT, {"constraintId": rule})
        world.done(routes.DELETE_USER_ROLES, body={"userId": user["userId"]})
        world.done(routes.DELETE_ROLE, {"roleId": role})
        world.done(routes.DELETE_ASSET_METADATA, STATUE, {"metadataKeys": [key]})
