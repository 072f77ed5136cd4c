"""The files of the asset `statue`, with their records and objects, for tests of changes."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from backend.core.objects import ObjectHead, Objects
from backend.core.tables import Tables
from backend.core.transactions import Put, Update
from backend.domains.databases.models import CreateDatabaseBody
from backend.domains.metadata.models import Entity, Kind, NewRecord
from backend.domains.metadata_schemas.models import CreateSchemaBody, SchemaField, SchemaFields
from backend.entrypoints.wiring.metadata import records
from backend.entrypoints.wiring.metadata_schemas import metadata_schemas
from backend.spec.tables.assets import ASSET_FILE_VERSIONS, ASSET_VERSIONS, ASSETS
from tests.factories.assets import ADMIN, NOON, created_asset
from tests.factories.audit import entries
from tests.factories.buckets import BUCKET_ID
from tests.factories.files import AUXILIARY, BUCKET, Gallery
from tests.fakes.objects import MemoryObjects
from tests.fakes.tables import MemoryTables

FILE = {"filePath": "/a.glb"}
DELETE = {**FILE, "confirmPermanentDelete": True}
MOVE = {"sourcePath": "/a.glb", "destinationPath": "/parts/b.glb"}


class TickingClock:
    """A clock that moves on with each look at it."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> datetime:
        self.now += timedelta(milliseconds=5)
        return self.now


class ProcessEnded(BaseException):
    """The process ended; no code of it runs any more."""


def memory(clock: TickingClock | None = None) -> tuple[MemoryTables, MemoryObjects]:
    ticking = clock or TickingClock()
    return MemoryTables(), MemoryObjects(clock=ticking, versioned=lambda name: name == BUCKET)


def forget_types(tables: Tables) -> None:
    """Let the files be those of an asset of an earlier release, whose primary types are unknown."""
    key = {"databaseId": "museum", "assetId": "statue"}
    tables.write(Update(table=ASSETS, key=key, remove=("typedFiles",)))


def state_of(objects: Objects, prefix: str = "statue/") -> dict[str, str]:
    """By path `active` or `archived`, of all files below a prefix."""
    versions = objects.list_versions(BUCKET, prefix).versions
    return {
        "/" + version.key.removeprefix(prefix): "archived" if version.is_delete_marker else "active"
        for version in versions
        if version.is_latest
    }


def body_of(objects: Objects, path: str, prefix: str = "statue/") -> bytes:
    return objects.read_start(BUCKET, prefix + path.removeprefix("/"), length=1000)


def head_of(objects: Objects, path: str) -> ObjectHead:
    head = objects.head(BUCKET, "statue" + path)
    assert isinstance(head, ObjectHead)
    return head


def note(
    museum: Gallery,
    path: str,
    key: str,
    value: str,
    *,
    kind: Kind = "metadata",
    ids: tuple[str, str] | None = None,
) -> None:
    """Give a file of the asset, or of another one, a record."""
    record = NewRecord(metadata_key=key, metadata_value_type="string", metadata_value=value)
    entity = Entity(*(ids or ("museum", "statue")), path, kind)
    assert records(museum.changing).add_records(ADMIN, entity, [record]).done == (key,)


def notes(
    museum: Gallery, path: str, *, kind: Kind = "metadata", ids: tuple[str, str] | None = None
) -> dict[str, str]:
    entity = Entity(*(ids or ("museum", "statue")), path, kind)
    result = records(museum.changing).records_of(entity)
    return {record.metadata_key: record.metadata_value for record in result}


def view(museum: Gallery, path: str, body: bytes = b"octree") -> None:
    """Store an auxiliary file as a viewer does."""
    museum.objects.put(
        AUXILIARY, f"statue{path}", body, content_type="application/json", metadata={}
    )


def views(museum: Gallery, prefix: str = "statue/") -> list[str]:
    objects = museum.objects.list_objects(AUXILIARY, prefix).objects
    return ["/" + item.key.removeprefix(prefix) for item in objects]


def audit_entries(tables: Tables, operation: str) -> list[dict[str, Any]]:
    """The audit entries of an operation."""
    return [entry for entry in entries(tables) if entry["operation"] == operation]


def stored(tables: Tables, table: Any, item: dict[str, Any]) -> None:
    tables.write(Put(table=table, item=item))


def change(museum: Gallery, method: str, verb: str, body: Mapping[str, Any], **names: str) -> None:
    """Send a change that must succeed."""
    answer = museum.change(method, verb, dict(body), **names)
    assert answer.status == 200, answer.body


def create_strict_asset(museum: Gallery, entity_type: Any) -> dict[str, str]:
    """Create an asset in a database that takes only the key `year`; return it as a destination."""
    body = CreateDatabaseBody(
        database_id="strict",
        description="Takes few keys",
        default_bucket_id=BUCKET_ID,
        restrict_metadata_outside_schemas=True,
    )
    museum.assets.databases.create_database(ADMIN, body)
    created_asset(museum.assets, "bust", database_id="strict")
    year = SchemaField(metadata_field_key_name="year", metadata_field_value_type="string")
    schema = CreateSchemaBody(
        database_id="strict",
        metadata_schema_entity_type=entity_type,
        schema_name="Years",
        fields=SchemaFields(fields=[year]),
    )
    metadata_schemas(museum.changing).create_schema(ADMIN, schema)
    return {"destinationAssetId": "bust", "destinationDatabaseId": "strict"}


def snapshot(tables: Tables, version: str, files: dict[str, str], **more: Any) -> None:
    """A version of the asset that holds these files (path to S3 version id)."""
    asset = {"databaseId:assetId": "museum:statue"}
    row = {
        **asset,
        "assetVersionId": version,
        "comment": "",
        "description": "",
        "dateCreated": "2026-03-01T12:00:00.000000Z",
        "createdAt": "2026-03-01T12:00:00.000000Z",
        "createdBy": "admin",
        **more,
    }
    stored(tables, ASSET_VERSIONS, row)
    if "versionAlias" in more:
        alias = {"assetVersionId": f"alias#{more['versionAlias']}", "version": version}
        stored(tables, ASSET_VERSIONS, asset | alias)
    for path, version_id in files.items():
        stored(tables, ASSET_FILE_VERSIONS, file_of(version, path, version_id))


def file_of(version: str, path: str, version_id: str) -> dict[str, Any]:
    return {
        "databaseId:assetId:assetVersionId": f"museum:statue:{version}",
        "databaseId:assetId": "museum:statue",
        "fileKey": path,
        "versionId": version_id,
        "size": 64,
        "lastModified": "2026-03-01T12:00:00.000000Z",
        "etag": "e",
    }
