"""Routes of metadata and metadata schemas."""

from typing import Any

from backend.spec import routes
from tests.routes import contents
from tests.routes.files import FILE
from tests.routes.model import (
    IN_DATABASES,
    NO_ID,
    OF_ASSETS,
    OF_DATABASES,
    OF_DEFINITIONS,
    Case,
    PathField,
    Request,
    Rows,
    Target,
    in_body,
    on_asset,
    on_database,
)
from tests.routes.needs import allow_all, check_new_schema
from tests.routes.rows import MUSEUM, STATUE, make_file_record, make_record, make_schema, under
from tests.unit.domains.access.matrix.seeding import RECORD, SCHEMA_FIELDS
from tests.unit.domains.access.matrix.world import Question

_ADDED = {"metadata": [{**RECORD, "metadataKey": "place"}]}
_CHANGED = {"metadata": [{**RECORD, "metadataValue": "1890"}]}
_REMOVED = {"metadataKeys": ["year"]}
_ON_FILE = {**FILE, "type": "metadata"}
_DATABASE, _ASSET, _FILE = "database:museum", "asset:museum:statue", "file:museum:statue:/a.txt"
_PATH = (PathField("filePath"),)


def _schema_id(target: Target) -> str:
    return target.world.schemas.get(target.state, NO_ID)


def _schema_entity(target: Target) -> str:
    return f"metadataSchema:{_schema_id(target)}"


def entity_of(question: Question) -> dict[str, Any]:
    """Return the part of a batch that does what a request for one entity does."""
    fields = {**question.parameters, **question.body}
    keys = fields.pop("metadataKeys", ())
    edited = [{**sent, "expectedValue": "1889"} for sent in fields.pop("metadata", ())]
    removed = [{"metadataKey": key, "expectedValue": "1889"} for key in keys]
    return {**fields, "metadata": edited, "removals": removed}


def _in_batch(target: Target) -> Question:
    entity = entity_of(on_asset(_CHANGED)(target))
    return Question({}, body={"entities": [entity]}, shows="'status': 200")


def _new_schema(target: Target) -> Any:
    of = {"databaseId": target.database_id, "metadataSchemaEntityType": "assetMetadata"}
    return {**of, "schemaName": "New", "fields": SCHEMA_FIELDS}


def _on_schema(body: Any = None) -> Request:
    def request(target: Target) -> Question:
        database_id = "museum" if target.state == "absent" else target.database_id
        path = {"databaseId": database_id, "metadataSchemaId": _schema_id(target)}
        return Question(path, body=body)

    return request


CASES = (
    Case(routes.GET_DATABASE_METADATA, on_database(), OF_DATABASES,
         rows=Rows(make_record(routes.CREATE_DATABASE_METADATA, MUSEUM), "metadataKey", 40,
         under("metadata"))),
    Case(routes.CREATE_DATABASE_METADATA, on_database(_ADDED), OF_DATABASES, _DATABASE),
    Case(routes.UPDATE_DATABASE_METADATA, on_database(_CHANGED), OF_DATABASES, _DATABASE),
    Case(routes.DELETE_DATABASE_METADATA, on_database(_REMOVED), OF_DATABASES, _DATABASE),
    Case(routes.LIST_METADATA_SCHEMAS, lambda target: Question({}, shows=_schema_id(target)),
         OF_DEFINITIONS, rows=Rows(make_schema, "metadataSchemaId", 250),
         needs=allow_all, content=contents.METADATA_SCHEMAS),
    Case(routes.CREATE_METADATA_SCHEMA, in_body(_new_schema), OF_DEFINITIONS,
         audit="metadataSchema:", needs=check_new_schema),
    Case(routes.UPDATE_METADATA_SCHEMA,
         in_body(lambda target: {"metadataSchemaId": _schema_id(target), "enabled": False}),
         OF_DEFINITIONS, audit=_schema_entity),
    Case(routes.GET_METADATA_SCHEMA, _on_schema(), OF_DEFINITIONS),
    Case(routes.DELETE_METADATA_SCHEMA, _on_schema({"confirmDelete": True}), OF_DEFINITIONS,
         audit=_schema_entity),
    Case(routes.GET_ASSET_METADATA, on_asset(), IN_DATABASES,
         rows=Rows(make_record(routes.CREATE_ASSET_METADATA, STATUE), "metadataKey", 40,
         under("metadata"))),
    Case(routes.CREATE_ASSET_METADATA, on_asset(_ADDED), IN_DATABASES, audit=_ASSET),
    Case(routes.UPDATE_ASSET_METADATA, on_asset(_CHANGED), IN_DATABASES, audit=_ASSET),
    Case(routes.DELETE_ASSET_METADATA, on_asset(_REMOVED), IN_DATABASES, audit=_ASSET),
    Case(routes.GET_FILE_METADATA, on_asset(query=_ON_FILE), IN_DATABASES, paths=_PATH,
         rows=Rows(make_file_record, "metadataKey", 40, under("metadata"))),
    Case(routes.CREATE_FILE_METADATA, on_asset({**_ON_FILE, **_ADDED}), IN_DATABASES, audit=_FILE,
         paths=_PATH),
    Case(routes.UPDATE_FILE_METADATA, on_asset({**_ON_FILE, **_CHANGED}), IN_DATABASES, audit=_FILE,
         paths=_PATH),
    Case(routes.DELETE_FILE_METADATA, on_asset({**_ON_FILE, **_REMOVED}), IN_DATABASES, audit=_FILE,
         paths=_PATH),
    Case(routes.UPDATE_METADATA_BATCH, _in_batch, OF_ASSETS, f"{_ASSET} update_asset_metadata",
         needs=allow_all, content=contents.METADATA_BATCH),
)  # fmt: skip
