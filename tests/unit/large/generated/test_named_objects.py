"""Every object type, by create, rename and delete of what a rule names.

The caller may do everything but what one rule denies for one name: an object of this name is not
created, none gets the name or loses it, and it is not deleted. (Names of deleted objects that rules
still mention: `test_deleted_names`. Tags, whose names decide about assets: `test_named_tags`.)
"""

from dataclasses import replace
from typing import Any, NamedTuple

import pytest

from backend.domains.access.policy.model import OBJECT_TYPES
from backend.spec import routes
from backend.spec.routes import Route
from tests.factories.buckets import BUCKET_ID
from tests.factories.workflows import pipeline_body
from tests.unit.domains.access.matrix.seeding import SCHEMA_FIELDS, publishing
from tests.unit.domains.access.matrix.world import Question
from tests.unit.large.generated.drawing import ANN, BOB, FIELDS_OF, PLAIN_ROLE, constraint
from tests.unit.large.generated.ground import GeneratedWorld
from tests.unit.large.generated.test_generated import open_case

STATUE = {"databaseId": "museum", "assetId": "statue"}
NEW_ASSET = {"databaseId": "museum", "description": "Marble", "isDistributable": True}
NEW_SCHEMA = {"databaseId": "museum", "metadataSchemaEntityType": "assetMetadata"}
TAG = {"description": "A tag"}


class Change(NamedTuple):
    """The effect of a request on objects of a type, and a rule on a name that it touches."""

    object_type: str
    verb: str
    route: Route
    field: str
    value: str
    path: dict[str, str] = {}
    body: dict[str, Any] | None = None
    query: dict[str, str] = {}


CHANGES = (
    Change(
        "database", "create", routes.CREATE_DATABASE, "databaseId", "library",
        body={"databaseId": "library", "description": "Things", "defaultBucketId": BUCKET_ID},
    ),
    Change("database", "delete", routes.DELETE_DATABASE, "databaseId", "cellar",
           {"databaseId": "cellar"}),
    Change("databasePurge", "delete", routes.DELETE_DATABASE, "databaseId", "attic",
           {"databaseId": "attic"}, {"confirmPermanentDelete": True}, {"purge": "true"}),
    Change("asset", "create", routes.CREATE_ASSET, "assetName", "new",
           body={**NEW_ASSET, "assetName": "new"}),
    Change("asset", "create", routes.INGEST_ASSET, "assetName", "new",
           body={**NEW_ASSET, "assetName": "new", "assetId": "new",
                 "files": [{"relativeKey": "new/a.txt", "file_size": 0}]}),
    Change("asset", "rename from", routes.UPDATE_ASSET, "assetName", "statue", STATUE,
           {"assetName": "new"}),
    Change("asset", "rename to", routes.UPDATE_ASSET, "assetName", "new", STATUE,
           {"assetName": "new"}),
    Change("asset", "delete", routes.ARCHIVE_ASSET, "assetName", "statue", STATUE,
           {"confirmArchive": True}),
    Change("asset", "delete", routes.DELETE_ASSET, "assetName", "statue", STATUE,
           {"confirmPermanentDelete": True}),
    Change("tag", "create", routes.CREATE_TAG, "tagName", "blue",
           body={**TAG, "tagName": "blue", "tagTypeName": "colour"}),
    Change("tag", "rename from", routes.UPDATE_TAG, "tagTypeName", "colour",
           body={**TAG, "tagName": "red", "tagTypeName": "empty"}),
    Change("tag", "rename to", routes.UPDATE_TAG, "tagTypeName", "empty",
           body={**TAG, "tagName": "red", "tagTypeName": "empty"}),
    Change("tag", "delete", routes.DELETE_TAG, "tagName", "red", {"tagId": "red"}),
    Change("tagType", "create", routes.CREATE_TAG_TYPE, "tagTypeName", "size",
           body={**TAG, "tagTypeName": "size"}),
    Change("tagType", "delete", routes.DELETE_TAG_TYPE, "tagTypeName", "empty",
           {"tagTypeId": "empty"}),
    Change("role", "create", routes.CREATE_ROLE, "roleName", "viewer",
           body={"roleName": "viewer", "description": "Looks"}),
    Change("role", "delete", routes.DELETE_ROLE, "roleName", "editor", {"roleId": "editor"}),
    Change("userRole", "create", routes.ADD_USER_ROLES, "roleName", "editor",
           body={"userId": BOB, "roleName": ["editor"]}),
    Change("userRole", "create", routes.CREATE_COGNITO_USER, "userId", BOB,
           body={"userId": BOB, "email": BOB}),
    Change("userRole", "rename from", routes.SET_USER_ROLES, "roleName", "editor",
           body={"userId": ANN, "roleName": ["reader"]}),
    Change("userRole", "rename to", routes.SET_USER_ROLES, "roleName", "reader",
           body={"userId": ANN, "roleName": ["reader"]}),
    Change("userRole", "delete", routes.DELETE_USER_ROLES, "roleName", "editor",
           body={"userId": ANN}),
    Change("userRole", "delete", routes.DELETE_COGNITO_USER, "userId", ANN, {"userId": ANN}),
    Change("metadataSchema", "create", routes.CREATE_METADATA_SCHEMA, "metadataSchemaName", "New",
           body={**NEW_SCHEMA, "schemaName": "New", "fields": SCHEMA_FIELDS}),
    Change("metadataSchema", "rename from", routes.UPDATE_METADATA_SCHEMA, "metadataSchemaName",
           "Of museum", body={"metadataSchemaId": "own", "schemaName": "New"}),
    Change("metadataSchema", "rename to", routes.UPDATE_METADATA_SCHEMA, "metadataSchemaName",
           "New", body={"metadataSchemaId": "own", "schemaName": "New"}),
    Change("metadataSchema", "delete", routes.DELETE_METADATA_SCHEMA, "metadataSchemaName",
           "Of museum", {"databaseId": "museum", "metadataSchemaId": "own"},
           {"confirmDelete": True}),
    Change("pipeline", "create", routes.PUT_PIPELINE, "pipelineId", "other",
           body=pipeline_body("other")),
    Change("pipeline", "rename from", routes.PUT_PIPELINE, "pipelineType", "standardFile",
           body=pipeline_body("convert-museum", pipelineType="previewFile")),
    Change("pipeline", "rename to", routes.PUT_PIPELINE, "pipelineType", "previewFile",
           body=pipeline_body("convert-museum", pipelineType="previewFile")),
    Change("pipeline", "delete", routes.DELETE_PIPELINE, "pipelineId", "convert-museum",
           {"databaseId": "museum", "pipelineId": "convert-museum"}),
    Change("workflow", "create", routes.PUT_WORKFLOW, "workflowId", "other",
           body={**publishing("museum"), "workflowId": "other"}),
    Change("workflow", "delete", routes.DELETE_WORKFLOW, "workflowId", "publish-museum",
           {"databaseId": "museum", "workflowId": "publish-museum"}),
)  # fmt: skip
WITHOUT_NAMES = {
    "api": "routes are declared in the code",
    "web": "pages are a client's own",
    "bucket": "registering it makes its id, which is random",
}
NEVER_RENAMED = {"database", "databasePurge", "tagType", "role", "workflow"}
"""Their names are their keys: a change names its object, and cannot give it another name."""


@pytest.fixture(scope="module")
def ground() -> GeneratedWorld:
    return GeneratedWorld()


def question_of(ground: GeneratedWorld, change: Change) -> Question:
    """The request, with the id of the schema that it means."""

    own = {"metadataSchemaId": ground.schemas["own"]}
    path = {name: own.get(name, value) for name, value in change.path.items()}
    body = None if change.body is None else {**change.body}
    if body is not None and "metadataSchemaId" in body:
        body |= own
    return Question(path, change.query, body)


def test_every_object_type_is_created_renamed_and_deleted_or_has_a_reason() -> None:
    found = {(change.object_type, change.verb.split()[0]) for change in CHANGES}
    assert {kind for kind, _ in found} | WITHOUT_NAMES.keys() == set(OBJECT_TYPES)
    renamed = {kind for kind, verb in found if verb == "rename"}
    assert renamed == set(OBJECT_TYPES) - WITHOUT_NAMES.keys() - NEVER_RENAMED
    assert set(FIELDS_OF) == set(OBJECT_TYPES)  # so that policies are drawn on all of them


def test_who_may_do_everything_makes_each_change(ground: GeneratedWorld) -> None:
    with ground.under(open_case()) as facts:
        requests = [(change, question_of(ground, change)) for change in CHANGES]
        assert {ground.send_for(facts, change.route, sent).status for change, sent in requests} == {
            200
        }


@pytest.mark.parametrize(
    "change", CHANGES, ids=lambda one: f"{one.object_type}-{one.verb}-{one.route.name}"
)
def test_what_a_rule_names_is_not_created_renamed_or_deleted(
    ground: GeneratedWorld, change: Change
) -> None:
    named = {"field": change.field, "operator": "equals", "value": change.value}
    denied = ("DELETE", "POST", "PUT")  # it can be seen
    rule = constraint(
        change.object_type, [named], [], *((PLAIN_ROLE, action, "deny") for action in denied)
    )
    case = open_case()
    with ground.under(replace(case, constraints=(*case.constraints, rule))) as facts:
        answer = ground.send_for(facts, change.route, question_of(ground, change))
        assert (answer.status, answer.body.get("code")) == (403, "PermissionDenied")
        assert not ground.changed
