"""One successful request to every route that writes, in an order in which they succeed."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from backend.core.transactions import Update
from backend.spec import routes
from backend.spec.routes import ROUTES, Route
from backend.spec.tables.assets import ASSETS
from backend.spec.tables.operations import JOBS
from tests.factories.administration import stored_role
from tests.factories.buckets import BUCKET_ID
from tests.factories.constraints import constraint, groups
from tests.factories.workflows import pipeline_body, workflow_body
from tests.unit.domains.audit.product import Product

WRITES_WITHOUT_ENTRY: dict[Route, str] = {
    routes.INITIALISE_UPLOAD: "makes only what expires; what becomes of it has an entry",
    routes.INGEST_ASSET: "its steps make the entries of the routes that they stand for",
    routes.RENEW_UPLOAD: "only makes what expires live longer",
    routes.CHECK_SUBSCRIPTION: "reads",
    routes.DOWNLOAD: "reads",
    routes.EXPORT_ASSETS: "reads",
    routes.LIST_ALLOWED_ROUTES: "reads",
    routes.SEARCH: "reads",
    routes.SEARCH_SIMPLE: "reads",
    routes.LIST_PREVIEWS: "reads",
    routes.REPLAY_FAILURES: "has one, as the tests of operations say",
    routes.REDRIVE_QUEUE: "likewise",
    routes.CHECK_SEARCH_CONSISTENCY: "likewise",
    routes.REPAIR_SEARCH: "likewise",
    routes.REINDEX_SEARCH: "likewise",
    routes.RENEW_FACTS: "likewise",
}
DB = {"databaseId": "museum"}
ASSET = {**DB, "assetId": "statue"}
TAG = {"tagName": "red", "description": "Mostly red", "tagTypeName": "colour"}
TYPE = {"tagTypeName": "colour", "description": "Main colour"}
RECORD = {"metadataKey": "year", "metadataValue": "1889", "metadataValueType": "string"}
ON_FILE = {"filePath": "/a.txt", "type": "attribute"}
KEY = {"apiKeyName": "Robot", "userId": "admin", "description": "For the lab"}
EMPTY = {"relativeKey": "/a.txt", "file_size": 0}


@dataclass(frozen=True)
class Step:
    """A request; `body` and `parameters` may come of what other requests answered."""

    route: Route
    entity: str
    parameters: dict[str, str] = field(default_factory=dict[str, str])
    body: Any = None


Story = Iterator[Step]


def written_routes() -> set[Route]:
    return {route for route in ROUTES if route.method not in {"GET", "HEAD"}}


def story(product: Product, answer_of: Callable[[], Any]) -> Story:
    """All writes; `answer_of` tells the body of the last answer."""
    yield from _registry()
    yield from _buckets()
    yield from _database_metadata()
    yield from _schemas(answer_of)
    yield from _asset()
    yield from _files(product)
    yield from _file_changes(product)
    yield from _links(product, answer_of)
    yield from _comments()
    yield from _subscriptions()
    yield from _api_keys(answer_of)
    yield from _roles(product)
    yield from _constraints()
    yield from _sign_ins()
    yield from _versions()
    yield from _definitions(answer_of)
    yield from _lifecycle(product, answer_of)
    yield Step(routes.DELETE_TAG, "tag:red", {"tagId": "red"})
    yield Step(routes.DELETE_TAG_TYPE, "tagType:colour", {"tagTypeId": "colour"})
    yield Step(routes.DELETE_DATABASE, "database:museum", DB)


def _registry() -> Story:
    made = {**DB, "description": "All of it", "defaultBucketId": BUCKET_ID}
    yield Step(routes.CREATE_DATABASE, "database:museum", body=made)
    yield Step(routes.UPDATE_DATABASE, "database:museum", DB, {"description": "Nearly all"})
    yield Step(routes.CREATE_TAG_TYPE, "tagType:colour", body=TYPE)
    yield Step(routes.UPDATE_TAG_TYPE, "tagType:colour", body={**TYPE, "description": "Colour"})
    yield Step(routes.CREATE_TAG, "tag:red", body=TAG)
    yield Step(routes.UPDATE_TAG, "tag:red", body={**TAG, "description": "Red"})


def _definitions(answer_of: Callable[[], Any]) -> Story:
    pipeline, workflow = "pipeline:museum:convert", "workflow:museum:publish"
    yield Step(routes.PUT_PIPELINE, pipeline, body=pipeline_body())
    yield Step(routes.PUT_WORKFLOW, workflow, body=workflow_body())
    yield from _executions(answer_of)
    yield Step(routes.DELETE_WORKFLOW, workflow, {**DB, "workflowId": "publish"})
    yield Step(routes.DELETE_PIPELINE, pipeline, {**DB, "pipelineId": "convert"})


def _executions(answer_of: Callable[[], Any]) -> Story:
    of_workflow = {**ASSET, "workflowId": "publish"}
    body = {"workflowDatabaseId": "museum"}
    yield Step(routes.START_EXECUTION, "execution:", of_workflow, body)
    started = answer_of()["message"]
    of_execution = {**ASSET, "executionId": started}
    yield Step(routes.STOP_EXECUTION, f"execution:{started}", of_execution)
    yield Step(routes.RERUN_EXECUTION, "execution:", of_execution)


def _buckets() -> Story:
    yield Step(routes.REGISTER_BUCKET, "bucket:", body={"bucketName": "scans"})
    yield Step(routes.IMPORT_BUCKET, f"bucket:{BUCKET_ID}", {"bucketId": BUCKET_ID})


def _database_metadata() -> Story:
    entity, changed = "database:museum", {**RECORD, "metadataValue": "1890"}
    yield Step(routes.CREATE_DATABASE_METADATA, entity, DB, {"metadata": [RECORD]})
    yield Step(routes.UPDATE_DATABASE_METADATA, entity, DB, {"metadata": [changed]})
    yield Step(routes.DELETE_DATABASE_METADATA, entity, DB, {"metadataKeys": ["year"]})


def _schemas(answer_of: Callable[[], Any]) -> Story:
    field = {"metadataFieldKeyName": "year", "metadataFieldValueType": "number"}
    of = {**DB, "metadataSchemaEntityType": "assetMetadata"}
    body = {**of, "schemaName": "Years", "fields": {"fields": [field]}}
    yield Step(routes.CREATE_METADATA_SCHEMA, "metadataSchema:", body=body)
    made = {"metadataSchemaId": answer_of()["metadataSchemaId"]}
    entity = f"metadataSchema:{made['metadataSchemaId']}"
    yield Step(routes.UPDATE_METADATA_SCHEMA, entity, body={**made, "enabled": False})
    confirmed = {"confirmDelete": True}
    yield Step(routes.DELETE_METADATA_SCHEMA, entity, {**DB, **made}, confirmed)


def _asset() -> Story:
    entity = "asset:museum:statue"
    made = {**ASSET, "assetName": "A statue", "description": "Marble", "isDistributable": True}
    yield Step(routes.CREATE_ASSET, entity, body={**made, "tags": ["red"]})
    yield Step(routes.UPDATE_ASSET, entity, ASSET, {"assetName": "A bust"})
    changed = {**RECORD, "metadataValue": "1890"}
    yield Step(routes.CREATE_ASSET_METADATA, entity, ASSET, {"metadata": [RECORD]})
    yield Step(routes.UPDATE_ASSET_METADATA, entity, ASSET, {"metadata": [changed]})
    yield Step(routes.DELETE_ASSET_METADATA, entity, ASSET, {"metadataKeys": ["year"]})


def _links(product: Product, answer_of: Callable[[], Any]) -> Story:
    plinth = {**DB, "assetId": "plinth"}
    asset = {**plinth, "assetName": "A plinth", "description": "Stone", "isDistributable": True}
    product.send(routes.CREATE_ASSET, body={**asset, "tags": ["red"]})
    ends = {
        "fromAssetDatabaseId": "museum",
        "fromAssetId": "statue",
        "toAssetDatabaseId": "museum",
        "toAssetId": "plinth",
    }
    body = {**ends, "relationshipType": "parentChild"}
    yield Step(routes.CREATE_LINK, "assetLink:", body=body)
    made = {"assetLinkId": answer_of()["assetLinkId"]}
    entity, changed = f"assetLink:{made['assetLinkId']}", {**RECORD, "metadataValue": "1890"}
    yield Step(routes.UPDATE_LINK, entity, made, {"tags": ["old"]})
    yield Step(routes.CREATE_LINK_METADATA, entity, made, {"metadata": [RECORD]})
    yield Step(routes.UPDATE_LINK_METADATA, entity, made, {"metadata": [changed]})
    yield Step(routes.DELETE_LINK_METADATA, entity, made, {"metadataKeys": ["year"]})
    yield Step(routes.DELETE_LINK, entity, {"relationId": made["assetLinkId"]})
    confirmed = {"confirmPermanentDelete": True}
    product.send(routes.DELETE_ASSET, parameters=plinth, body=confirmed)


def _files(product: Product) -> Story:
    def started() -> dict[str, str]:
        body = {**ASSET, "uploadType": "assetFile", "files": [EMPTY]}
        answer = product.send(routes.INITIALISE_UPLOAD, body=body)
        return {"uploadId": answer.body["uploadId"]}

    upload = started()
    sent: dict[str, Any] = {"relativeKey": "/a.txt", "uploadIdS3": "zero-byte", "parts": []}
    body = {**ASSET, "uploadType": "assetFile", "files": [sent]}
    yield Step(routes.COMPLETE_UPLOAD, "asset:museum:statue", upload, body)
    upload = started()
    yield Step(routes.ABORT_UPLOAD, f"upload:{upload['uploadId']}", upload)
    entity, changed = "file:museum:statue:/a.txt", {**RECORD, "metadataValue": "1890"}
    yield Step(routes.CREATE_FILE_METADATA, entity, ASSET, {**ON_FILE, "metadata": [RECORD]})
    yield Step(routes.UPDATE_FILE_METADATA, entity, ASSET, {**ON_FILE, "metadata": [changed]})
    yield Step(routes.DELETE_FILE_METADATA, entity, ASSET, {**ON_FILE, "metadataKeys": ["year"]})


def _comments() -> Story:
    entity = "asset:museum:statue"
    comment = {"assetId": "statue", "assetVersionId:commentId": "0:first"}
    yield Step(routes.CREATE_COMMENT, entity, comment, {"commentBody": "Nice"})
    yield Step(routes.UPDATE_COMMENT, entity, comment, {"commentBody": "Nicer"})
    yield Step(routes.DELETE_COMMENT, entity, comment)


def _file_changes(product: Product) -> Story:
    file = {"filePath": "/a.txt"}
    entity = "file:museum:statue:/a.txt"
    key = "statue/a.txt"
    (first, *_) = product.objects.list_versions("assetbucket", key).versions
    yield Step(
        routes.CREATE_FOLDER, "file:museum:statue:/parts/", ASSET, {"relativeKey": "/parts/"}
    )
    yield Step(routes.SET_PRIMARY_FILE, entity, ASSET, {**file, "primaryType": "primary"})
    version = {**ASSET, "versionId": first.version_id}
    yield Step(routes.REVERT_FILE_VERSION, entity, version, file)
    to = {"sourcePath": "/a.txt", "destinationPath": "/b.txt"}
    yield Step(routes.COPY_FILE, entity, ASSET, to)
    moved = {"sourcePath": "/b.txt", "destinationPath": "/parts/b.txt"}
    yield Step(routes.MOVE_FILE, "file:museum:statue:/b.txt", ASSET, moved)
    yield Step(routes.ARCHIVE_FILE, entity, ASSET, file)
    yield Step(routes.UNARCHIVE_FILE, entity, ASSET, file)
    preview = {"Key": "previews/statue/front.png"}
    product.tables.write(Update(table=ASSETS, key={**ASSET}, set={"previewLocation": preview}))
    yield Step(routes.DELETE_ASSET_PREVIEW, "asset:museum:statue", ASSET)
    product.objects.put(
        "assetauxiliarybucket", f"{key}/1.bin", b"1", content_type="text/plain", metadata={}
    )
    yield Step(routes.DELETE_AUXILIARY_FILES, entity, ASSET, file)
    gone = {**file, "confirmPermanentDelete": True}
    yield Step(routes.DELETE_FILE, entity, ASSET, gone)


def _api_keys(answer_of: Callable[[], Any]) -> Story:
    yield Step(routes.CREATE_API_KEY, "apiKey:", body=KEY)
    made = {"apiKeyId": answer_of()["apiKeyId"]}
    entity = f"apiKey:{made['apiKeyId']}"
    yield Step(routes.UPDATE_API_KEY, entity, made, {"isActive": "false"})
    yield Step(routes.DELETE_API_KEY, entity, made)


def _subscriptions() -> Story:
    asked = {
        "eventName": "Asset Version Change",
        "entityName": "Asset",
        "entityId": "statue",
        "subscribers": ["ann@example.org"],
    }
    others = {**asked, "subscribers": ["ann@example.org", "bob@example.org"]}
    entity = "subscription:Asset:statue"
    yield Step(routes.CREATE_SUBSCRIPTION, entity, body=asked)
    yield Step(routes.UPDATE_SUBSCRIPTION, entity, body=others)
    yield Step(routes.UNSUBSCRIBE, entity, body=asked)
    yield Step(routes.DELETE_SUBSCRIPTION, entity, body=asked)


def _roles(product: Product) -> Story:
    viewer = {"roleName": "viewer", "description": "Looks"}
    yield Step(routes.CREATE_ROLE, "role:viewer", body=viewer)
    yield Step(routes.UPDATE_ROLE, "role:viewer", body={**viewer, "description": "Sees"})
    stored_role(product.tables, "editor")
    given = {"userId": "ann", "roleName": ["viewer"]}
    yield Step(routes.ADD_USER_ROLES, "userRole:ann", body=given)
    yield Step(routes.SET_USER_ROLES, "userRole:ann", body={**given, "roleName": ["editor"]})
    yield Step(routes.DELETE_USER_ROLES, "userRole:ann", body={"userId": "ann"})
    yield Step(routes.DELETE_ROLE, "role:viewer", {"roleId": "viewer"})
    own = {"userId": "admin"}
    yield Step(routes.UPDATE_LOGIN_PROFILE, "user:admin", own, {"email": "admin@example.org"})


def _constraints() -> Story:
    see, of = "constraint:see", {"constraintId": "see"}
    given = {"groupPermissions": groups("editor")}
    yield Step(routes.CREATE_CONSTRAINT, see, of, constraint(**given))
    yield Step(routes.UPDATE_CONSTRAINT, see, of, constraint(**given, name="Other"))
    yield Step(routes.DELETE_CONSTRAINT, see, of)
    template = {
        "variableValues": {"ROLE_NAME": "editor"},
        "constraints": [{**constraint(), "groupPermissions": [{"action": "GET"}]}],
    }
    yield Step(routes.IMPORT_CONSTRAINTS_TEMPLATE, "constraint:", body=template)


def _sign_ins() -> Story:
    ann = {"userId": "ann"}
    made = {**ann, "email": "ann@example.org"}
    yield Step(routes.CREATE_COGNITO_USER, "user:ann", body=made)
    yield Step(routes.UPDATE_COGNITO_USER, "user:ann", ann, {"email": "a@example.org"})
    yield Step(routes.RESET_COGNITO_PASSWORD, "user:ann", ann, {"confirmReset": True})
    yield Step(routes.DELETE_COGNITO_USER, "user:ann", ann)


def _versions() -> Story:
    entity, first = "asset:museum:statue", {**ASSET, "assetVersionId": "1"}
    made = {"comment": "as it is", "useLatestFiles": True}
    yield Step(routes.CREATE_ASSET_VERSION, entity, ASSET, made)
    yield Step(routes.REVERT_ASSET_VERSION, entity, first, {"comment": "back again"})
    yield Step(routes.UPDATE_ASSET_VERSION, entity, first, {"versionAlias": "opening"})
    yield Step(routes.ARCHIVE_ASSET_VERSION, entity, first)
    yield Step(routes.UNARCHIVE_ASSET_VERSION, entity, first)


def _lifecycle(product: Product, answer_of: Callable[[], Any]) -> Story:
    entity = "asset:museum:statue"
    yield Step(routes.ARCHIVE_ASSET, entity, ASSET, {"confirmArchive": True})
    job_id = answer_of()["jobId"]

    def put_job(state: str) -> None:
        update = Update(table=JOBS, key={"jobId": job_id}, set={"state": state})
        product.tables.write(update)

    put_job("queued")
    yield Step(routes.CANCEL_JOB, f"job:{job_id}", {"jobId": job_id})
    yield Step(routes.RESUME_JOB, f"job:{job_id}", {"jobId": job_id})
    put_job("done")
    yield Step(routes.UNARCHIVE_ASSET, entity, ASSET, {"confirmUnarchive": True})
    yield Step(routes.DELETE_ASSET, entity, ASSET, {"confirmPermanentDelete": True})
