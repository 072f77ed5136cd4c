"""Routes of metadata and metadata schemas."""

from backend.spec.routes.assets import DELETE_LINK_METADATA, GET_LINK_METADATA, UPDATE_LINK_METADATA
from backend.spec.routes.model import ASSET_PATH, Route, SyncTarget

GET_DATABASE_METADATA = Route(
    "GET", "/database/{databaseId}/metadata", "metadata", "list_database_metadata",
    "List the metadata of a database", "database",
)  # fmt: skip
CREATE_DATABASE_METADATA = Route(
    "POST", "/database/{databaseId}/metadata", "metadata", "create_database_metadata",
    "Add metadata to a database", "database",
)  # fmt: skip
UPDATE_DATABASE_METADATA = Route(
    "PUT", "/database/{databaseId}/metadata", "metadata", "update_database_metadata",
    "Change or replace the metadata of a database", "database",
)  # fmt: skip
DELETE_DATABASE_METADATA = Route(
    "DELETE", "/database/{databaseId}/metadata", "metadata", "delete_database_metadata",
    "Remove metadata from a database", "database",
)  # fmt: skip
LIST_METADATA_SCHEMAS = Route(
    "GET", "/metadataschema", "metadata_schemas", "list_metadata_schemas",
    "List the metadata schemas", "metadataSchema",
)  # fmt: skip
CREATE_METADATA_SCHEMA = Route(
    "POST", "/metadataschema", "metadata_schemas", "create_metadata_schema",
    "Create a metadata schema", "metadataSchema",
)  # fmt: skip
UPDATE_METADATA_SCHEMA = Route(
    "PUT", "/metadataschema", "metadata_schemas", "update_metadata_schema",
    "Change a metadata schema", "metadataSchema",
)  # fmt: skip
GET_METADATA_SCHEMA = Route(
    "GET", "/database/{databaseId}/metadataSchema/{metadataSchemaId}", "metadata_schemas",
    "get_metadata_schema", "Get a metadata schema", "metadataSchema",
)  # fmt: skip
DELETE_METADATA_SCHEMA = Route(
    "DELETE", "/database/{databaseId}/metadataSchema/{metadataSchemaId}", "metadata_schemas",
    "delete_metadata_schema", "Delete a metadata schema", "metadataSchema",
)  # fmt: skip
GET_ASSET_METADATA = Route(
    "GET", f"{ASSET_PATH}/metadata", "metadata", "list_asset_metadata",
    "List the metadata of an asset", "asset",
)  # fmt: skip
CREATE_ASSET_METADATA = Route(
    "POST", f"{ASSET_PATH}/metadata", "metadata", "create_asset_metadata",
    "Add metadata to an asset", "asset",
    writes_documents=(SyncTarget(records=True),),
)  # fmt: skip
UPDATE_ASSET_METADATA = Route(
    "PUT", f"{ASSET_PATH}/metadata", "metadata", "update_asset_metadata",
    "Change or replace the metadata of an asset", "asset",
    writes_documents=(SyncTarget(records=True),),
)  # fmt: skip
DELETE_ASSET_METADATA = Route(
    "DELETE", f"{ASSET_PATH}/metadata", "metadata", "delete_asset_metadata",
    "Remove metadata from an asset", "asset",
    writes_documents=(SyncTarget(records=True),),
)  # fmt: skip
GET_FILE_METADATA = Route(
    "GET", f"{ASSET_PATH}/metadata/file", "metadata", "list_file_metadata",
    "List the metadata or attributes of a file", "asset",
)  # fmt: skip
CREATE_FILE_METADATA = Route(
    "POST", f"{ASSET_PATH}/metadata/file", "metadata", "create_file_metadata",
    "Add metadata or attributes to a file", "asset",
    writes_documents=(SyncTarget(file="body.filePath", records=True),),
)  # fmt: skip
UPDATE_FILE_METADATA = Route(
    "PUT", f"{ASSET_PATH}/metadata/file", "metadata", "update_file_metadata",
    "Change or replace the metadata or attributes of a file", "asset",
    writes_documents=(SyncTarget(file="body.filePath", records=True),),
)  # fmt: skip
DELETE_FILE_METADATA = Route(
    "DELETE", f"{ASSET_PATH}/metadata/file", "metadata", "delete_file_metadata",
    "Remove metadata or attributes from a file", "asset",
    writes_documents=(SyncTarget(file="body.filePath", records=True),),
)  # fmt: skip
UPDATE_METADATA_BATCH = Route(
    "PUT", "/metadata/batch", "metadata", "update_metadata_batch",
    "Change the metadata of several databases, assets, files and links if it is as expected",
    open_to_users=True, ours=True,
    parts=(
        GET_DATABASE_METADATA, UPDATE_DATABASE_METADATA, DELETE_DATABASE_METADATA,
        GET_ASSET_METADATA, UPDATE_ASSET_METADATA, DELETE_ASSET_METADATA,
        GET_FILE_METADATA, UPDATE_FILE_METADATA, DELETE_FILE_METADATA,
        GET_LINK_METADATA, UPDATE_LINK_METADATA, DELETE_LINK_METADATA,
    ),
)  # fmt: skip
