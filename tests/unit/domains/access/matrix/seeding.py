"""The objects of the matrix: some in each state, and a user for each role."""

import base64
from collections.abc import Iterable, Mapping
from typing import Any

from backend.core.clock import iso
from backend.core.identity import Identity
from backend.core.transactions import Put, Update
from backend.domains.audit.models import audit_entity
from backend.domains.files.models.views import SavedView
from backend.domains.jobs.models import Job
from backend.domains.metadata.models import Entity, Record
from backend.entrypoints.wiring.executions import progress
from backend.entrypoints.wiring.jobs import jobs
from backend.entrypoints.wiring.metadata import records
from backend.spec import routes
from backend.spec.facts import SHAPE_KEY, SHAPE_NUMBERS
from backend.spec.jobs import ARCHIVE_ASSET, MAKE_VERSION
from backend.spec.key_layouts import views_folder
from backend.spec.tables.access import API_KEYS
from backend.spec.tables.assets import ASSET_UPLOADS, ASSETS
from backend.spec.tables.operations import JOBS
from backend.spec.tables.registry import COMMENTS
from tests.factories.buckets import BUCKET_ID
from tests.factories.constraints import constraint, criterion, groups
from tests.factories.failures import BATCH_KEY, BUCKET, failed_batch, put_object
from tests.factories.policies import indexed
from tests.factories.search import NOON
from tests.factories.workflows import pipeline_body, workflow_body
from tests.unit.domains.access.matrix.roles import (
    ACTIONS,
    ROLES,
    WITH_ONE_ACTION,
    WITHOUT_ONE_ACTION,
    Role,
)
from tests.unit.domains.access.matrix.states import ASSETS as PLACES
from tests.unit.domains.access.matrix.states import DATABASES as PLACES_OF_DATABASES
from tests.unit.domains.access.matrix.states import State
from tests.unit.domains.access.matrix.world import Question, World, session_id

Json = dict[str, Any]

THERE: tuple[State, ...] = ("own", "foreign", "archived", "tagged")
"""The states of existing assets."""
RECORD = {"metadataKey": "year", "metadataValue": "1889", "metadataValueType": "string"}
FILES = ("/a.txt", "/b.txt", "/old.txt")
ANN = "ann@example.org"
EVENT = {"eventName": "Asset Version Change", "entityName": "Asset"}
LARGE = "x" * 5000
SHAPE = base64.b64encode(bytes(4 * SHAPE_NUMBERS)).decode()
JOB_KINDS = {"queued": ARCHIVE_ASSET, "failed": MAKE_VERSION}
"""States of a job that can be stopped, and of one that can be resumed, whatever state its asset
has."""
VIEW = SavedView(
    name="Back", file_path="/a.txt", view="c1_2_3_0_0_0", created_by="eve", date_created=iso(NOON)
)
VIEW_ID = VIEW.content_id
SCHEMA_FIELDS = {"fields": [{"metadataFieldKeyName": "room", "metadataFieldValueType": "string"}]}
USERS = (*ROLES, *WITH_ONE_ACTION, *WITHOUT_ONE_ACTION)


class Seeded(World):
    """The world with all objects."""

    def __init__(self) -> None:
        super().__init__()
        self.failure = put_object(self.objects, failed_batch([{}]), key=BATCH_KEY, bucket=BUCKET)
        self.dead_letters.dead["Settle"] = 1
        self._put_registry()
        for state in THERE:
            self._put_asset(state)
        self._put_roles()
        self._put_schemas()
        self._put_definitions()
        self._put_executions()
        self._put_people()
        self._put_audit()
        self._archive()
        self.engine.documents = [self._document(state) for state in THERE]

    def _put_registry(self) -> None:
        for name in ("museum", "gallery", "attic", "cellar"):
            made = {"databaseId": name, "description": "Things", "defaultBucketId": BUCKET_ID}
            self.done(routes.CREATE_DATABASE, body=made)
        self.done(routes.CREATE_DATABASE_METADATA, {"databaseId": "museum"}, {"metadata": [RECORD]})
        self.done(routes.DELETE_DATABASE, {"databaseId": "attic"})
        colour = {"tagTypeName": "colour", "description": "Main colour"}
        self.done(routes.CREATE_TAG_TYPE, body=colour)
        self.done(routes.CREATE_TAG_TYPE, body={**colour, "tagTypeName": "empty"})
        for name in ("secret", "red"):
            body = {"tagName": name, "description": "A tag", "tagTypeName": "colour"}
            self.done(routes.CREATE_TAG, body=body)

    def _put_asset(self, state: State) -> None:
        database_id, asset_id = PLACES[state]
        for name in (asset_id, f"{asset_id}-base"):
            self.done(
                routes.CREATE_ASSET,
                body={
                    "databaseId": database_id,
                    "assetId": name,
                    "assetName": name,
                    "description": "Marble",
                    "isDistributable": True,
                    "tags": ["secret"] if state == "tagged" else [],
                },
            )
        path = {"databaseId": database_id, "assetId": asset_id}
        self._put_files(path)
        self.done(routes.CREATE_ASSET_METADATA, path, {"metadata": [RECORD]})
        of_file = {"filePath": "/a.txt", "type": "metadata", "metadata": [RECORD]}
        self.done(routes.CREATE_FILE_METADATA, path, of_file)
        shape = Record(metadata_key=SHAPE_KEY, metadata_value=SHAPE)
        of_file = Entity(database_id, asset_id, "/a.txt", "attribute")
        records(self.product.context).put_facts(of_file, [shape])
        for number in ("1", "2"):
            made = {"comment": f"as it is {number}", "useLatestFiles": True}
            self.done(routes.CREATE_ASSET_VERSION, path, made)
        self.done(routes.ARCHIVE_ASSET_VERSION, {**path, "assetVersionId": "0"})
        self.done(
            routes.CREATE_SUBSCRIPTION, body={**EVENT, "entityId": asset_id, "subscribers": [ANN]}
        )
        self._put_link(state, path)
        self._put_comments(asset_id)
        self._put_uploads(state, path)
        self._put_jobs(state, path)

    def _put_files(self, path: Mapping[str, str]) -> None:
        key = f"{path['assetId']}/a.txt"
        for name in FILES:
            sent = {"relativeKey": name, "file_size": 0}
            started = self._started(path, sent)
            body = {**path, "uploadType": "assetFile", "files": [_ended(name)]}
            self.done(routes.COMPLETE_UPLOAD, {"uploadId": started}, body)
        self.done(routes.ARCHIVE_FILE, path, {"filePath": "/old.txt"})
        self.objects.put(
            "assetauxiliarybucket", f"{key}/1.bin", b"", content_type="text/plain", metadata={}
        )
        self.objects.put(
            "assetauxiliarybucket",
            f"{views_folder(path['assetId'])}{VIEW_ID}.json",
            VIEW.model_dump_json(by_alias=True).encode(),
            content_type="application/json",
            metadata={},
        )
        folder = f"{path['assetId']}/scans/"
        self.objects.put("assetbucket", folder, b"", content_type="text/plain", metadata={})
        archived = f"{path['assetId']}/gone/b.txt"
        self.objects.put("assetbucket", archived, b"", content_type="text/plain", metadata={})
        self.objects.delete("assetbucket", archived)
        preview = {"Key": f"previews/{path['assetId']}/front.png"}
        self.objects.put("assetbucket", preview["Key"], b"p", content_type="image/png", metadata={})
        self.tables.write(Update(table=ASSETS, key=dict(path), set={"previewLocation": preview}))

    def _started(self, path: Mapping[str, str], *files: Json) -> str:
        body = {**path, "uploadType": "assetFile", "files": list(files)}
        return self.done(routes.INITIALISE_UPLOAD, body=body)["uploadId"]

    def _put_link(self, state: State, path: Mapping[str, str]) -> None:
        body = {
            "fromAssetDatabaseId": path["databaseId"],
            "fromAssetId": path["assetId"],
            "toAssetDatabaseId": path["databaseId"],
            "toAssetId": f"{path['assetId']}-base",
            "relationshipType": "parentChild",
        }
        link = self.links[state] = self.done(routes.CREATE_LINK, body=body)["assetLinkId"]
        self.done(routes.CREATE_LINK_METADATA, {"assetLinkId": link}, {"metadata": [RECORD]})

    def _put_comments(self, asset_id: str) -> None:
        """A comment of each user, because only its author can change a comment."""
        path = {"assetId": asset_id, "assetVersionId:commentId": "1:by-admin"}
        self.done(routes.CREATE_COMMENT, path, {"commentBody": "Nice"})
        (row,) = [row for row in self.tables.rows(COMMENTS) if row["assetId"] == asset_id]
        for role in USERS:
            more = {"assetVersionId:commentId": f"1:by-{role.user_id}"}
            owner = {"commentOwnerID": role.user_id, "commentOwnerUsername": role.user_id}
            self.tables.write(Put(table=COMMENTS, item={**row, **more, **owner}))

    def _put_uploads(self, state: State, path: Mapping[str, str]) -> None:
        """An upload of each user, because only the user who started it can end it."""
        upload = self._started(path, {"relativeKey": "/new.txt", "file_size": 0})
        (row,) = [row for row in self.tables.rows(ASSET_UPLOADS) if row["uploadId"] == upload]
        for role in USERS:
            mine = {"uploadId": upload_of(role.user_id, state), "userId": role.user_id}
            mine |= {name: role.user_id for name in ("UserId",) if name in row}
            self.tables.write(Put(table=ASSET_UPLOADS, item={**row, **mine}))

    def _put_jobs(self, state: State, path: Mapping[str, str]) -> None:
        """A job of each user, for the lists of one's own, and one in each state for everyone."""
        for ended in JOB_KINDS:
            self._put_job("admin", job_of(state, ended), ended, path)
        for role in USERS:
            self._put_job(role.user_id, job_of_user(role.user_id, state), "failed", path)

    def _put_job(self, user_id: str, job_id: str, ended: str, path: Mapping[str, str]) -> None:
        job = jobs(self.product.context).new(
            JOB_KINDS[ended],
            job_id,
            caller=Identity(user_id),
            database_id=path["databaseId"],
            asset_id=path["assetId"],
        )
        item = Job.model_copy(job, update={"state": ended})
        row = item.model_dump(by_alias=True, exclude_none=True)
        self.tables.write(Put(table=JOBS, item=row))

    def _put_roles(self) -> None:
        listed = self.done(routes.LIST_CONSTRAINTS_TEMPLATES)["Items"]
        known = {row["template"]["name"]: row for row in listed}
        for role in USERS:
            if role.name not in {"admin", "nobody"}:
                self._put_role(role, known)
        self._deny_sight("blind")

    def _put_role(self, role: Role, templates: Mapping[str, Json]) -> None:
        made = {"roleName": role.name, "description": "Of the matrix"}
        self.done(routes.CREATE_ROLE, body={**made, "mfaRequired": role.requires_mfa})
        values = {"ROLE_NAME": role.name, "DATABASE_ID": "museum", "TAG_VALUE": "secret"}
        for name in role.templates:
            body = {**templates[name], "variableValues": values}
            self.done(routes.IMPORT_CONSTRAINTS_TEMPLATE, body=body)
        for kind in role.types:
            self._allow(role.name, kind, ACTIONS if kind == "api" else role.actions)
        value = {"userId": role.user_id, "roleName": [role.name]}
        self.done(routes.SET_USER_ROLES, body=value)

    def _allow(self, role_name: str, kind: str, actions: Iterable[str]) -> None:
        every = criterion(field="object__type", value=kind)
        granted = [grant for action in actions for grant in groups(role_name, permission=action)]
        body = constraint(objectType=kind, criteriaAnd=[every], groupPermissions=granted)
        self.done(routes.CREATE_CONSTRAINT, {"constraintId": f"{role_name}-{kind}"}, body)

    def _deny_sight(self, role_name: str) -> None:
        tagged = criterion(field="tags", operator="is_one_of", value=["secret"])
        body = constraint(criteriaAnd=[tagged], groupPermissions=groups(role_name, type_="deny"))
        self.done(routes.CREATE_CONSTRAINT, {"constraintId": f"{role_name}-denied"}, body)

    def _put_schemas(self) -> None:
        named: dict[State, str] = {"own": "museum", "foreign": "gallery", "GLOBAL": "GLOBAL"}
        for state, database_id in named.items():
            of = {"databaseId": database_id, "metadataSchemaEntityType": "databaseMetadata"}
            body = {**of, "schemaName": f"Of {database_id}", "fields": SCHEMA_FIELDS}
            made = self.done(routes.CREATE_METADATA_SCHEMA, body=body)
            self.schemas[state] = made["metadataSchemaId"]
        self._put_kept_schema()

    def _put_definitions(self) -> None:
        """Two pipelines in each database, of which a workflow uses one."""
        for state in ("own", "foreign", "GLOBAL"):
            database_id = PLACES_OF_DATABASES[state]
            for name in ("convert", "used"):
                body = pipeline_body(f"{name}-{database_id}", database_id)
                self.done(routes.PUT_PIPELINE, body=body)
            self.done(routes.PUT_WORKFLOW, body=publishing(database_id))

    def _put_executions(self) -> None:
        """Executions on each existing asset, one ended and one not, of its database."""
        for state in THERE:
            database_id, asset_id = PLACES[state]
            path = {"databaseId": database_id, "assetId": asset_id}
            workflow = {"workflowId": f"publish-{database_id}"}
            for started, file in ((self.executions, "/a.txt"), (self.running, "/b.txt")):
                body = {"workflowDatabaseId": database_id, "fileKey": file}
                answer = self.done(routes.START_EXECUTION, {**path, **workflow}, body)
                started[state] = answer["message"]
            progress(self.product.context).end(self.executions[state], "SUCCEEDED")

    def _put_kept_schema(self) -> None:
        """A schema that the role `keepsoff` may not change, for its name."""
        of = {"databaseId": "museum", "metadataSchemaEntityType": "assetMetadata"}
        body = {**of, "schemaName": "Kept", "fields": SCHEMA_FIELDS}
        self.kept_schema = self.done(routes.CREATE_METADATA_SCHEMA, body=body)["metadataSchemaId"]
        kept = criterion(field="metadataSchemaName", value="Kept")
        denied = groups("keepsoff", permission="PUT", type_="deny")
        body = constraint(objectType="metadataSchema", criteriaAnd=[kept], groupPermissions=denied)
        self.done(routes.CREATE_CONSTRAINT, {"constraintId": "keepsoff-kept"}, body)

    def _put_people(self) -> None:
        """A role, a user, a sign-in and a constraint that no column has; keys; profiles."""
        self.done(routes.CREATE_ROLE, body={"roleName": "editor", "description": "Edits"})
        self.done(routes.SET_USER_ROLES, body={"userId": ANN, "roleName": ["editor"]})
        self.done(routes.CREATE_COGNITO_USER, body={"userId": ANN, "email": ANN})
        value = constraint(groupPermissions=groups("editor"))
        self.done(routes.CREATE_CONSTRAINT, {"constraintId": "see"}, value)
        for user_id in (*(role.user_id for role in USERS), ANN):
            if user_id != "user-nobody":
                key = {"apiKeyName": "Robot", "userId": user_id, "description": "For the lab"}
                self.keys[user_id] = self.done(routes.CREATE_API_KEY, body=key)["apiKeyId"]
            own = Question({"userId": user_id}, body={"email": ANN})
            answer = self.send(routes.UPDATE_LOGIN_PROFILE, own, user_id=user_id)
            assert answer.status == 200

        for user_id in ("admin", *(role.user_id for role in USERS)):
            self.put_session(user_id)

    def put_session(self, user_id: str) -> None:
        """Sign a user in with a browser."""
        session = {"apiKeyId": session_id(user_id), "userId": user_id, "kind": "session"}
        row = {**session, "apiKeyName": "session", "description": "Browser", "apiKeyHash": "0"}
        self.tables.write(Put(table=API_KEYS, item={**row, "revision": 1}))

    def _put_audit(self) -> None:
        entity = audit_entity("asset", "museum", "statue")
        after = {"text": LARGE}
        audit = self.product.context.audit
        self.tables.write(
            audit.entry(Identity("admin"), "update_asset", entity, after=after, at=NOON)
        )
        query = {"entity": entity}
        items = self.done(routes.LIST_AUDIT_ENTRIES, query=query)["Items"]
        self.large = {
            "entity": entity,
            "at": items[-1]["at"],
            "valueHash": items[-1]["changes"]["text"]["afterStored"]["sha256"],
        }

    def _archive(self) -> None:
        database_id, asset_id = PLACES["archived"]
        path = {"databaseId": database_id, "assetId": asset_id}
        job = self.done(routes.ARCHIVE_ASSET, path, {"confirmArchive": True})["jobId"]
        self.tables.write(Update(table=JOBS, key={"jobId": job}, set={"state": "done"}))

    def _document(self, state: State) -> Json:
        database_id, asset_id = PLACES[state]
        tags = ("secret",) if state == "tagged" else ()
        return {
            "_id": f"{database_id}:{asset_id}",
            "_rectype": "asset",
            "str_assetid": asset_id,
            "str_databaseid": database_id,
            "str_bucketprefix": "/",
            **indexed({"databaseId": database_id, "assetName": asset_id, "tags": tags}),
            "bool_archived": state == "archived",
        }


def publishing(database_id: str) -> Json:
    """The workflow of a database."""
    used = [(database_id, f"used-{database_id}")]
    return workflow_body(f"publish-{database_id}", database_id, used)


def _ended(name: str) -> Json:
    return {"relativeKey": name, "uploadIdS3": "zero-byte", "parts": []}


def upload_of(user_id: str, state: State) -> str:
    return f"upload-{user_id}-{state}"


def job_of_user(user_id: str, state: State) -> str:
    return f"job-{user_id}-{state}"


def job_of(state: State, ended: str) -> str:
    database_id, asset_id = PLACES[state]
    return JOB_KINDS[ended].job_id(database_id, asset_id, ended)
