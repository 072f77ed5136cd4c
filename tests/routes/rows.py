"""Functions that add a row of the maximum size to a list, or all its rows.

Each function returns a text of the row's id, or nothing if it has created all rows.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, cast

from backend.core.identity import Identity
from backend.core.transactions import Put, Update
from backend.domains.audit.models import audit_entity
from backend.domains.tags.models import MAX_TAGS_OF_TYPE
from backend.spec import routes
from backend.spec.routes import Route
from backend.spec.tables import TABLES
from backend.spec.tables.assets import ASSET_HISTORY, ASSET_VERSIONS, ASSETS
from backend.spec.tables.operations import AUDIT
from backend.spec.tables.registry import SUBSCRIPTIONS, TAG_TYPES, TAGS
from tests.factories.buckets import BUCKET_ID
from tests.factories.failures import BATCH_KEY, BUCKET, failed_batch, put_object
from tests.factories.workflows import pipeline_body, workflow_body
from tests.unit.domains.access.matrix.world import Question, World

QUOTES = '"' * 10_000
LETTERS = "x" * 300
MUSEUM = {"databaseId": "museum"}
STATUE = {**MUSEUM, "assetId": "statue"}
VALUE = QUOTES * 30
RECORDS: list[dict[str, Any]] = [{} for _ in range(10)]
RECORD = {"metadataKey": "key-0000", "metadataValue": VALUE, "metadataValueType": "string"}
NEW_TAG = {"description": QUOTES[:256], "tagTypeName": "colour"}
TABLE = {table.name: table for table in TABLES}
ON_FILE = {"filePath": "/a.txt", "type": "metadata"}

Json = dict[str, Any]


def under(*names: str) -> Callable[[Any], list[Json]]:
    def rows(body: Any) -> list[Json]:
        for name in names:
            body = body[name]
        return body

    return rows


def make_role(world: World) -> str:
    about = {"description": QUOTES[:256], "source": QUOTES[:256]}
    world.done(routes.CREATE_ROLE, body={"roleName": "role-0000" + LETTERS[:240], **about})
    return "role-0000"


def make_user_role(world: World) -> str:
    names = [f"{number:02}{LETTERS[:254]}" for number in range(30)]
    for name in names:
        world.done(routes.CREATE_ROLE, body={"roleName": name, "description": "Any"})
    world.done(routes.SET_USER_ROLES, body={"userId": "user-0000", "roleName": names})
    return "user-0000"


def make_sign_in(world: World) -> str:
    world.done(routes.CREATE_COGNITO_USER, body={"userId": "user-0000", "email": "a@example.org"})
    user = world.pool.users["user-0000"]
    for number in range(1, 200):
        name = f"user-{number:04}"
        world.pool.users[name] = replace(user, user_id=name)
    return "user-0000"


def make_key(world: World) -> str:
    body = {"apiKeyName": LETTERS[:200], "userId": "admin", "description": QUOTES[:256]}
    return world.done(routes.CREATE_API_KEY, body=body)["apiKeyId"]


def make_constraint(world: World) -> str:
    world.done(routes.CREATE_ROLE, body={"roleName": "viewer", "description": "Looks"})
    criteria = [
        {"field": "assetName", "operator": "equals", "value": QUOTES[:1000]} for _ in range(64)
    ]
    grant = {"groupId": "viewer", "permission": "GET", "permissionType": "allow"}
    body = {
        "name": QUOTES[:256],
        "description": QUOTES[:256],
        "objectType": "asset",
        "criteriaAnd": criteria,
        "criteriaOr": [],
        "groupPermissions": [grant],
    }
    world.done(routes.CREATE_CONSTRAINT, {"constraintId": "rule-0000"}, body)
    return "rule-0000"


def make_tag(world: World) -> str:
    tag_type = {"tagTypeName": "colour", "description": "Any"}
    world.done(routes.CREATE_TAG_TYPE, body=tag_type)
    body = {**NEW_TAG, "tagName": "tag-0000" + LETTERS[:240]}
    world.done(routes.CREATE_TAG, body=body)
    return "tag-0000"


def make_tag_type(world: World) -> str:
    """Types, each with as many tags as it may have."""
    make_tag(world)
    (row,) = world.tables.rows(TAG_TYPES)
    full = {**row, "tagCount": MAX_TAGS_OF_TYPE - 1, "description": QUOTES[:256]}
    copy(world, "tag-0000", MAX_TAGS_OF_TYPE - 1)
    world.tables.write(Put(table=TAG_TYPES, item=full))
    world.done(routes.CREATE_TAG, body={**NEW_TAG, "tagName": "the last one"})
    more = world.send(routes.CREATE_TAG, Question({}, body={**NEW_TAG, "tagName": "one more"}))
    assert (more.status, more.body["code"]) == (409, "TagTypeFull")
    for name in list(world.tables.items[TAGS.name]):
        row = world.tables.items[TAGS.name][name]
        for number in range(4):
            fields = {
                "tagName": f"{number}{row['tagName']}"[:256],
                "tagTypeName": f"type-{number:04}",
            }
            world.tables.write(Put(table=TAGS, item={**row, **fields}))
    for number in range(4):
        item = {**full, "tagTypeName": f"type-{number:04}", "tagCount": MAX_TAGS_OF_TYPE}
        world.tables.write(Put(table=TAG_TYPES, item=item))
    return ""


def make_database(world: World) -> str:
    body = {"databaseId": "base-0000", "description": QUOTES[:256], "defaultBucketId": BUCKET_ID}
    world.done(routes.CREATE_DATABASE, body={
        **body, "restrictFileUploadsToExtensions": ",".join([".aaaaaa"] * 250)})  # fmt: skip
    return "base-0000"


def make_asset(world: World) -> str:
    tags = [f"{number:02}{LETTERS[:254]}" for number in range(50)]
    world.done(routes.CREATE_TAG_TYPE, body={"tagTypeName": "colour", "description": "Any"})
    for name in tags:
        body = {"tagName": name, "description": "Any", "tagTypeName": "colour"}
        world.done(routes.CREATE_TAG, body=body)
    database = {**MUSEUM, "description": "Things", "defaultBucketId": BUCKET_ID}
    world.done(routes.CREATE_DATABASE, body=database)
    described = {**MUSEUM, "assetName": LETTERS[:255], "description": QUOTES[:256], "tags": tags}
    body = {**described, "assetId": "asset-0000", "isDistributable": True}
    world.done(routes.CREATE_ASSET, body=body)
    return "asset-0000"


def make_statue(world: World) -> None:
    database = {**MUSEUM, "description": "Things", "defaultBucketId": BUCKET_ID}
    world.done(routes.CREATE_DATABASE, body=database)
    fields: Json = {
        "assetName": "Statue",
        "description": "Marble",
        "isDistributable": True,
        "tags": [],
    }
    world.done(routes.CREATE_ASSET, body={**STATUE, **fields})


def make_record(route: Route, path: Mapping[str, str], **more: str) -> Callable[[World], str]:
    def make(world: World) -> str:
        make_statue(world)
        world.done(route, path, {**more, "metadata": [RECORD]})
        return "key-0000"

    return make


def make_schema(world: World) -> str:
    values = [QUOTES[:200] + str(number) for number in range(150)]
    field = {"metadataFieldKeyName": "room", "metadataFieldValueType": "inline_controlled_list"}
    fields = {"fields": [{**field, "controlledListKeys": values}]}
    of = {"databaseId": "GLOBAL", "metadataSchemaEntityType": "assetMetadata", "fields": fields}
    body = {**of, "schemaName": LETTERS[:200]}
    return world.done(routes.CREATE_METADATA_SCHEMA, body=body)["metadataSchemaId"]


def make_comment(world: World) -> str:
    make_statue(world)
    world.done(routes.CREATE_ASSET_VERSION, STATUE, {"comment": "as it is", "useLatestFiles": True})
    path = {"assetId": "statue", "assetVersionId:commentId": "1:comment-0000"}
    world.done(routes.CREATE_COMMENT, path, {"commentBody": QUOTES})
    return "comment-0000"


def make_link_record(world: World) -> str:
    make_statue(world)
    fields: Json = {
        "assetName": "Base",
        "description": "Stone",
        "isDistributable": True,
        "tags": [],
    }
    world.done(routes.CREATE_ASSET, body={**MUSEUM, **fields, "assetId": "base"})
    ends = {"fromAssetDatabaseId": "museum", "fromAssetId": "statue"}
    ends |= {"toAssetDatabaseId": "museum", "toAssetId": "base", "relationshipType": "related"}
    link = world.links["own"] = world.done(routes.CREATE_LINK, body=ends)["assetLinkId"]
    world.done(routes.CREATE_LINK_METADATA, {"assetLinkId": link}, {"metadata": [RECORD]})
    return "key-0000"


def make_file_record(world: World) -> str:
    make_statue(world)
    world.objects.put("assetbucket", "statue/a.txt", b"", content_type="text/plain", metadata={})
    world.done(routes.CREATE_FILE_METADATA, STATUE, {**ON_FILE, "metadata": [RECORD]})
    return "key-0000"


def make_files(world: World) -> str:
    """Files with the longest names that S3 takes."""
    make_statue(world)
    for number in range(3000):
        name = f"statue/file-{number:04}{LETTERS}/{LETTERS}/{LETTERS}"
        world.objects.put("assetbucket", name, b"", content_type="text/plain", metadata={})
    return "file-0000"


def make_subscription(world: World) -> str:
    make_statue(world)
    users = [f"{number:03}{LETTERS[:60]}@{'a' * 60}.{'b' * 60}.{'c' * 60}" for number in range(500)]
    row = {
        "eventName": "Asset Version Change",
        "entityName_entityId": "Asset_asset-0000",
        "subscribers": users,
        "revision": 1,
    }
    world.tables.write(Put(table=SUBSCRIPTIONS, item=row))
    fields: Json = {
        "assetName": "Named",
        "description": "Marble",
        "isDistributable": True,
        "tags": [],
    }
    world.done(routes.CREATE_ASSET, body={**MUSEUM, **fields, "assetId": "asset-0000"})
    return "asset-0000"


def make_pipeline(world: World) -> str:
    """A pipeline with the longest parameters, in GLOBAL."""
    body = pipeline_body(
        "pipeline-0000",
        "GLOBAL",
        description=QUOTES[:256],
        inputParameters=json.dumps([QUOTES[:8000]]),
    )
    world.done(routes.PUT_PIPELINE, body=body)
    return "pipeline-0000"


def make_workflow(world: World) -> str:
    make_pipeline(world)
    used = [("GLOBAL", "pipeline-0000")] * 20
    body = workflow_body("workflow-0000", "GLOBAL", used, description=QUOTES[:256])
    world.done(routes.PUT_WORKFLOW, body=body)
    return "workflow-0000"


def make_bucket(world: World) -> str:
    body = {"bucketName": "scans", "baseAssetsPrefix": "/".join([LETTERS[:60]] * 8) + "/"}
    return world.done(routes.REGISTER_BUCKET, body=body)["bucketId"]


def make_audit(world: World) -> str:
    """Entries of one asset, each with as many changes as an entry holds."""
    make_statue(world)
    audit, entity = world.product.context.audit, audit_entity("asset", "museum", "statue")
    world.large = {"entity": entity}
    for _ in range(300):
        after = {f"field-{number}": QUOTES[:900] for number in range(18)}
        entry = audit.entry(
            Identity("admin"), "update_asset", entity, after=after, at=world.product.clock()
        )
        world.tables.write(entry)
    return ""


def make_failures(world: World) -> str:
    for number in range(300):
        key = BATCH_KEY[:-4] + f"{number:04}"
        put_object(world.objects, failed_batch(RECORDS), key=key, bucket=BUCKET)
    return BATCH_KEY[:-4] + "0000"


def make_history(world: World) -> str:
    make_statue(world)
    (first,) = world.tables.rows(ASSET_HISTORY)
    snapshot = {**first["assetSnapshot"], "description": QUOTES[:256]}
    for number in range(2, 1101):
        later = {"historyRecordId": f"{first['recordDate']}#{number:08}"}
        row = {**first, **later, "assetSnapshot": snapshot}
        world.tables.write(Put(table=ASSET_HISTORY, item=row))
    return ""


def make_versions(world: World) -> str:
    make_statue(world)
    (first,) = world.tables.rows(ASSET_VERSIONS)
    for number in range(1, 1100):
        later = {**first, "assetVersionId": str(number), "comment": QUOTES[:1024]}
        world.tables.write(Put(table=ASSET_VERSIONS, item=later))
    current = {"Version": "1099", "DateModified": first["dateCreated"], "Comment": ""}
    current |= {"description": "", "createdBy": "admin", "versionAlias": ""}
    world.tables.write(Update(table=ASSETS, key=STATUE, set={"currentVersion": current}))
    return ""


def make_snapshots(world: World) -> str:
    """A version with a record, of which there will be copies, and one without."""
    make_record(routes.CREATE_ASSET_METADATA, STATUE)(world)
    for keys in ([], ["key-0000"]):
        if keys:
            world.done(routes.DELETE_ASSET_METADATA, STATUE, {"metadataKeys": keys})
        made = {"comment": "as it is", "useLatestFiles": True}
        world.done(routes.CREATE_ASSET_VERSION, STATUE, made)
    return "key-0000"


def files_of(body: Any) -> list[Json]:
    return [row for row in body["items"] if not row["isFolder"]]


def copy(world: World, marker: str, count: int) -> None:
    """Copy every row whose key has the marker; each copy has other texts."""
    for name, rows in world.tables.items.items():
        if TABLE[name] is AUDIT:
            continue
        for key, row in list(rows.items()):
            if any(marker in part for part in key):
                for number in range(1, count):
                    text = f"{marker[:-5]}z{number:04}"
                    world.tables.write(Put(table=TABLE[name], item=renamed(row, marker, text)))


def renamed(value: Any, old: str, new: str) -> Any:
    if isinstance(value, str):
        return value.replace(old, new)
    if isinstance(value, dict):
        fields = cast("Json", value)
        return {name: renamed(field, old, new) for name, field in fields.items()}
    if isinstance(value, list):
        return [renamed(item, old, new) for item in cast("list[Any]", value)]
    return value
