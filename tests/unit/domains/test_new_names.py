"""New names refuse invisible characters and blanks at their ends; stored ones can be used."""

import json
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from backend.core import invisible
from backend.core.errors import InvalidInputError
from backend.core.models import WrongFieldError
from backend.domains.access.models.constraints import ConstraintPath
from backend.domains.access.models.roles import RoleBody, UserBody, UserRolesBody
from backend.domains.asset_versions.models import UpdateVersionBody
from backend.domains.assets.models import AssetPath, CreateAssetBody, NewAsset
from backend.domains.databases.models import CreateDatabaseBody
from backend.domains.files.rules import MAX_DESTINATION_BYTES, Owner, check_name
from backend.domains.identity.models.keys import CreateApiKeyBody
from backend.domains.identity.models.sign_ins import CreateSignInBody, SignInPath
from backend.domains.identity.rules.refusals import RefusedError
from backend.domains.identity.rules.users import check_usable
from backend.domains.ingest.models import IngestBody
from backend.domains.ingest.rules import started_upload
from backend.domains.pipelines.models import PutPipelineBody
from backend.domains.tags.models import TagBody, TagTypeBody
from backend.domains.uploads.models import NewFile, SentFile
from backend.domains.workflows.models import PutWorkflowBody
from backend.spec import routes
from backend.spec.routes import Route
from tests.factories.buckets import BUCKET_ID
from tests.factories.constraints import constraint
from tests.factories.workflows import pipeline_body, workflow_body
from tests.unit.domains.access.matrix.seeding import Seeded
from tests.unit.domains.access.matrix.world import Question

HIDDEN = "a\u200bb"
ASSET = {"databaseId": "museum", "assetName": "Lion", "description": "A lion"}
INGEST = {"databaseId": "museum", "assetId": "lion", "files": [{"relativeKey": "lion/a"}]}


@pytest.mark.parametrize(
    ("model", "body"),
    [
        (CreateAssetBody, {**ASSET, "isDistributable": True, "assetName": HIDDEN}),
        (CreateAssetBody, {**ASSET, "isDistributable": True, "assetId": HIDDEN}),
        (IngestBody, {**INGEST, "assetId": HIDDEN}),
        (IngestBody, {**INGEST, "assetName": HIDDEN}),
        (NewFile, {"relativeKey": HIDDEN}),
        (UpdateVersionBody, {"versionAlias": HIDDEN}),
    ],
)
def test_a_chosen_name_is_refused(model: type[BaseModel], body: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="invisible"):
        model.model_validate(body)


@pytest.mark.parametrize(
    ("model", "body"),
    [
        (NewAsset, {**ASSET, "isDistributable": True, "assetName": HIDDEN, "assetId": HIDDEN}),
        (AssetPath, {"databaseId": "museum", "assetId": HIDDEN}),
        (SentFile, {"relativeKey": HIDDEN, "uploadIdS3": "1"}),
    ],
)
def test_a_stored_name_is_taken(model: type[BaseModel], body: dict[str, Any]) -> None:
    model.model_validate(body)


def test_a_path_of_an_ingest_is_refused() -> None:
    body = IngestBody.model_validate({**INGEST, "files": [{"relativeKey": f"lion/{HIDDEN}"}]})
    with pytest.raises(InvalidInputError, match="invisible"):
        started_upload(body)


def test_the_destination_of_a_file_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="invisible"):
        check_name(Owner("museum", "lion", "lion/"), f"/{HIDDEN}", "", field="destinationPath")


FILLERS = ("\u3164", "\u115f", "\u1160", "\uffa0", "\u200b")
"""Letters, as Unicode classifies most of them, that are displayed as nothing."""
USER = {"userId": "ann"}
NAMED: list[tuple[type[BaseModel], dict[str, Any], str]] = [
    (CreateSignInBody, {**USER, "email": "ann@example.org"}, "userId"),
    (UserRolesBody, {**USER, "roleName": ["viewer"]}, "roleName.0"),
    (RoleBody, {"roleName": "viewer", "description": "View"}, "roleName"),
    (CreateApiKeyBody, {"apiKeyName": "Robot", **USER, "description": "Lab"}, "apiKeyName"),
    (CreateApiKeyBody, {"apiKeyName": "Robot", **USER, "description": "Lab"}, "userId"),
    (ConstraintPath, {"constraintId": "see"}, "constraintId"),
    (CreateDatabaseBody, {"databaseId": "museum", "description": "All of it",
                          "defaultBucketId": BUCKET_ID}, "databaseId"),
    (TagBody, {"tagName": "red", "description": "A tag", "tagTypeName": "c"}, "tagName"),
    (TagTypeBody, {"tagTypeName": "colour", "description": "A type"}, "tagTypeName"),
    (PutPipelineBody, pipeline_body(), "pipelineId"),
    (PutWorkflowBody, workflow_body(), "workflowId"),
]  # fmt: skip


def test_a_destination_has_at_most_the_declared_bytes() -> None:
    owner = Owner("museum", "statue", "statue/")
    check_name(owner, "/" + "d" * (MAX_DESTINATION_BYTES - 1), "", field="destinationPath")
    with pytest.raises(InvalidInputError, match="snapshot key"):
        check_name(owner, "/" + "d" * MAX_DESTINATION_BYTES, "", field="destinationPath")


def test_every_name_that_people_read_is_refused_with_characters_they_cannot_see() -> None:
    taken: list[tuple[str, str, str]] = []
    for model, body, where in NAMED:
        model.model_validate(body)
        for filler in FILLERS:
            try:
                model.model_validate(with_filler(body, where, filler))
            except ValidationError as error:
                cause = error.errors()[0]
                named = [*map(str, cause["loc"])]
                named += [item.field for item in [cause.get("ctx", {}).get("error")]
                          if isinstance(item, WrongFieldError)]  # fmt: skip
                assert ".".join(named) == where, (model.__name__, where)
            else:
                taken.append((model.__name__, where, f"U+{ord(filler):04X}"))
    assert not taken


def with_filler(body: dict[str, Any], where: str, filler: str) -> dict[str, Any]:
    changed = json.loads(json.dumps(body))
    *parents, last = [int(part) if part.isdigit() else part for part in where.split(".")]
    place = changed
    for part in parents:
        place = place[part]
    place[last] = f"{place[last]}{filler}x"
    return changed


def test_a_token_does_not_name_a_user_with_characters_that_people_cannot_see() -> None:
    assert check_usable("ann@example.org") == "ann@example.org"
    for filler in FILLERS:
        with pytest.raises(RefusedError):
            check_usable(f"ann{filler}@example.org")


def test_a_stored_user_with_such_a_name_can_be_removed() -> None:
    for filler in FILLERS[:3]:
        UserBody.model_validate({"userId": f"ann{filler}"})
        SignInPath.model_validate({"userId": f"ann{filler}"})


BAD, DONE = 400, 200
SPACES = "\u0020\u00a0\u1680\u2000\u2001\u2002\u2003\u2009\u200a\u202f\u205f\u3000"
INVISIBLE = "\u00ad\u061c\u180e\u200b\u200e\u200f\u2028\u202e\u2060\u2066\u2069\u2800\u3164\ufeff"
MUSEUM = {"databaseId": "museum"}
STATUE = {**MUSEUM, "assetId": "statue"}
ANN = {"userId": "ann@example.org"}
GRANT = {"permission": "GET", "permissionType": "allow"}
RULE = constraint(groupPermissions=[], userPermissions=[{**ANN, **GRANT}])
RECORDS = {"metadata": [{"metadataKey": "<name>", "metadataValue": "2"}]}
FIELD = {"metadataFieldKeyName": "<name>", "metadataFieldValueType": "string"}
SCHEMA = {**MUSEUM, "metadataSchemaEntityType": "assetMetadata", "schemaName": "Sizes"}
ENDS = {"fromAssetDatabaseId": "museum", "fromAssetId": "statue", "toAssetDatabaseId": "museum"}
LINK = {**ENDS, "toAssetId": "statue-base", "relationshipType": "parentChild"}
TYPE = {"description": "A type"}
ASSET_BODY = {**MUSEUM, "assetName": "Lion", "description": "A lion", "isDistributable": True}
Sent = tuple[Route, dict[str, str], Any, str]
"""A route, its path, a body with a place for the name, and the field of the error."""
CREATIONS: list[Sent] = [
    (routes.CREATE_TAG, {}, {"tagName": "<name>", "tagTypeName": "colour", **TYPE}, "tagName"),
    (routes.CREATE_TAG_TYPE, {}, {"tagTypeName": "<name>", **TYPE}, "tagTypeName"),
    (routes.CREATE_ROLE, {}, {"roleName": "<name>", **TYPE}, "roleName"),
    (routes.CREATE_API_KEY, {}, {"apiKeyName": "<name>", **ANN, **TYPE}, "apiKeyName"),
    (routes.CREATE_CONSTRAINT, {"constraintId": "<name>"}, RULE, "constraintId"),
    (routes.UPDATE_CONSTRAINT, {"constraintId": "<name>"}, RULE, "constraintId"),
    (routes.CREATE_CONSTRAINT, {"constraintId": "new"}, {**RULE, "name": "<name>"}, "name"),
    (routes.CREATE_ASSET, {}, {**ASSET_BODY, "assetId": "<name>"}, "assetId"),
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
    for char in SPACES + INVISIBLE:
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
