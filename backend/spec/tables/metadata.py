"""Tables of metadata on databases, assets and files, of file attributes and metadata schemas."""

from backend.spec import keys
from backend.spec.attributes import Attribute
from backend.spec.tables.assets import REMOVAL
from backend.spec.tables.model import Index, Table

METADATA_KEY = Attribute("metadataKey")
ATTRIBUTE_KEY = Attribute("attributeKey")
DATABASE_ID = Attribute("databaseId")
METADATA_SCHEMA_ID = Attribute("metadataSchemaId")
METADATA_ENTITY_TYPE = Attribute("metadataEntityType")

DATABASE_METADATA_BY_DATABASE = Index(
    "DatabaseIdIndex",
    DATABASE_ID,
    METADATA_KEY,
    "ALL",
    access_patterns=("list the metadata of a database",),
)
DATABASE_METADATA = Table(
    "DatabaseMetadataStorageTableV2",
    METADATA_KEY,
    "Metadata of databases.",
    ("get one record",),
    sort_key=DATABASE_ID,
    indexes=(DATABASE_METADATA_BY_DATABASE,),
    stream="NEW_IMAGE",
)

FILE_METADATA_BY_FILE = Index(
    "DatabaseIdAssetIdFilePathIndex",
    keys.FILE,
    METADATA_KEY,
    "ALL",
    access_patterns=("list the metadata of an asset or a file",),
)
FILE_METADATA_BY_ASSET = Index(
    "DatabaseIdAssetIdIndex",
    keys.ASSET,
    METADATA_KEY,
    "ALL",
    access_patterns=("list the metadata of an asset and of all its files", REMOVAL),
)
ASSET_FILE_METADATA = Table(
    "AssetFileMetadataStorageTableV2",
    METADATA_KEY,
    "Metadata of assets (path `/`) and of files.",
    ("get one record",),
    sort_key=keys.FILE,
    indexes=(FILE_METADATA_BY_FILE, FILE_METADATA_BY_ASSET),
    stream="NEW_IMAGE",
)

ATTRIBUTES_BY_FILE = Index(
    "DatabaseIdAssetIdFilePathIndex",
    keys.FILE,
    ATTRIBUTE_KEY,
    "ALL",
    access_patterns=("list the attributes of a file",),
)
ATTRIBUTES_BY_ASSET = Index(
    "DatabaseIdAssetIdIndex",
    keys.ASSET,
    ATTRIBUTE_KEY,
    "ALL",
    access_patterns=("list the attributes of all files of an asset", REMOVAL),
)
FILE_ATTRIBUTES = Table(
    "FileAttributeStorageTableV2",
    ATTRIBUTE_KEY,
    "Attributes of files. Users write them by the routes of metadata; they are kept apart from it.",
    ("get one record", "list the records of one key of an asset's files"),
    sort_key=keys.FILE,
    indexes=(ATTRIBUTES_BY_FILE, ATTRIBUTES_BY_ASSET),
    stream="NEW_IMAGE",
)

SCHEMAS_BY_SCOPE = Index(
    "DatabaseIdMetadataEntityTypeIndex",
    keys.SCHEMA_SCOPE,
    METADATA_SCHEMA_ID,
    "ALL",
    access_patterns=("list the schemas of a database for an entity type",),
)
SCHEMAS_BY_TYPE = Index(
    "MetadataEntityTypeIndex",
    METADATA_ENTITY_TYPE,
    METADATA_SCHEMA_ID,
    "ALL",
    access_patterns=("list the schemas for an entity type",),
)
SCHEMAS_BY_DATABASE = Index(
    "DatabaseIdIndex",
    DATABASE_ID,
    METADATA_SCHEMA_ID,
    "ALL",
    access_patterns=("list the schemas of a database",),
)
METADATA_SCHEMAS = Table(
    "MetadataSchemaStorageTableV2",
    METADATA_SCHEMA_ID,
    "Metadata schemas: the expected keys of an entity type.",
    (
        "get one schema",
        "list schemas (a registry: scanned by page)",
    ),
    sort_key=keys.SCHEMA_SCOPE,
    indexes=(SCHEMAS_BY_SCOPE, SCHEMAS_BY_TYPE, SCHEMAS_BY_DATABASE),
)

SCHEMA_SCOPES = Table(
    "MetadataSchemaScopes",
    keys.SCHEMA_SCOPE,
    "The schemas of a database, or of GLOBAL, for an entity type, as of the last write.",
    ("read the schemas in force for an entity, consistently",),
    origin="ours",
)

RECORDS_OWNER = Attribute("owner")
RECORDS_OF = Attribute("recordsOf")
RECORD_SETS = Table(
    "MetadataRecordSets",
    RECORDS_OWNER,
    (
        "The number of records of an entity (one item for an asset, each file, a database, a "
        "link), and a revision that changes with its keys; and the S3 version that a move left "
        "archived at the earlier path of a file."
    ),
    (
        "count records in or out in the transaction that writes them",
        "read which archived files of a folder were moved away",
        REMOVAL,
    ),
    sort_key=RECORDS_OF,
    origin="ours",
)

TABLES = (
    DATABASE_METADATA,
    ASSET_FILE_METADATA,
    FILE_ATTRIBUTES,
    METADATA_SCHEMAS,
    SCHEMA_SCOPES,
    RECORD_SETS,
)
