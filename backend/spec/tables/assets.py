"""Tables of databases, assets, their versions, files, uploads and links."""

from backend.spec import keys
from backend.spec.attributes import Attribute
from backend.spec.tables.model import Index, Table

DATABASE_ID = Attribute("databaseId")
ASSET_ID = Attribute("assetId")
ASSET_VERSION_ID = Attribute("assetVersionId")
FILE_KEY = Attribute("fileKey")
BUCKET_ID = Attribute("bucketId")
UPLOAD_ID = Attribute("uploadId")
UPLOAD_USER_ID = Attribute("UserId")  # the data model spells this one with a capital
CREATED_AT = Attribute("createdAt")
ASSET_LINK_ID = Attribute("assetLinkId")
METADATA_KEY = Attribute("metadataKey")

BY_BUCKET = Index("BucketIdGSI", BUCKET_ID, ASSET_ID, "KEYS_ONLY")
BY_ASSET_ID = Index("assetIdGSI", ASSET_ID, DATABASE_ID, "KEYS_ONLY")
ASSETS = Table(
    "AssetStorageTable",
    DATABASE_ID,
    "The primary record of each asset; archived ones stand in the partition `<database>#deleted`.",
    (
        "get one asset of a database",
        "list the active, or the archived, assets of a database by id",
    ),
    sort_key=ASSET_ID,
    indexes=(BY_BUCKET, BY_ASSET_ID),
    stream="NEW_IMAGE",
)

DATABASES = Table(
    "DatabaseStorageTable",
    DATABASE_ID,
    "The record of each database, a collection of assets; that of a deleted one is `<id>#deleted`.",
    ("get one database", "list databases (a registry: scanned by page)"),
    stream="NEW_IMAGE",
)

ASSET_VERSIONS = Table(
    "AssetVersionsStorageTableV2",
    keys.ASSET,
    "The version records of each asset, under their numbers, and one item for each alias: its sort "
    "key is `alias#<alias>`, its attribute `version` the number that has it. Lists read the sort "
    "keys from `0` to `:`, so no alias is among them.",
    (
        "get one version, by its number or its alias",
        "list the versions of an asset",
        "create a version and reserve its alias in one transaction",
    ),
    sort_key=ASSET_VERSION_ID,
)

REMOVAL = "remove everything of a deleted asset"

FILE_VERSIONS_BY_ASSET = Index(
    "databaseIdAssetIdIndex", keys.ASSET, None, "ALL", access_patterns=(REMOVAL,)
)
ASSET_FILE_VERSIONS = Table(
    "AssetFileVersionsStorageTableV2",
    keys.ASSET_VERSION,
    (
        "The files of a version, each with its S3 version id, stored under the version's "
        "number before its own row. Versions created by an earlier release name another id "
        "(`snapshotId`) under which their files are stored."
    ),
    (
        "list the files of a version",
        "store the files that a request names, a hundred a row, until they are processed",
    ),
    sort_key=FILE_KEY,
    indexes=(FILE_VERSIONS_BY_ASSET,),
)

METADATA_VERSIONS_BY_ASSET = Index(
    "databaseIdAssetIdIndex", keys.ASSET, None, "ALL", access_patterns=(REMOVAL,)
)
ASSET_FILE_METADATA_VERSIONS = Table(
    "AssetFileMetadataVersionsStorageTable",
    keys.ASSET_VERSION,
    "The metadata and attributes as they were when a version was made, stored as its files are.",
    ("list the snapshot of a version, whole or of one file",),
    sort_key=keys.SNAPSHOT,
    indexes=(METADATA_VERSIONS_BY_ASSET,),
)

UPLOADS_BY_ASSET = Index(
    "AssetIdGSI",
    ASSET_ID,
    UPLOAD_ID,
    "KEYS_ONLY",
    access_patterns=("list the uploads of an asset that is deleted",),
)
UPLOADS_BY_DATABASE = Index("DatabaseIdGSI", DATABASE_ID, UPLOAD_ID, "KEYS_ONLY")
UPLOADS_BY_USER = Index(
    "UserIdGSI",
    UPLOAD_USER_ID,
    CREATED_AT,
    "KEYS_ONLY",
    access_patterns=(
        "list the newest uploads of a user, for a preview whose file is in another",
        "list the uploads of a user, newest first",
    ),
)
ASSET_UPLOADS = Table(
    "AssetUploadsStorageTable",
    UPLOAD_ID,
    (
        "Uploads in progress; a row expires after seven days, or seven days after large files "
        "were passed to their worker."
    ),
    ("get one upload",),
    sort_key=ASSET_ID,
    indexes=(UPLOADS_BY_ASSET, UPLOADS_BY_DATABASE, UPLOADS_BY_USER),
    ttl="expiresAt",
)

LINKS_FROM = Index("fromAssetGSI", keys.LINK_FROM, keys.LINK_TO, "KEYS_ONLY")
LINKS_TO = Index("toAssetGSI", keys.LINK_TO, keys.LINK_FROM, "KEYS_ONLY")
ASSET_LINKS = Table(
    "AssetLinksStorageTableV2",
    ASSET_LINK_ID,
    "Relationships between assets: parent and child, or related.",
    ("get one link",),
    indexes=(LINKS_FROM, LINKS_TO),
    stream="NEW_IMAGE",
)

ASSET_LINKS_METADATA = Table(
    "AssetLinksMetadataStorageTable",
    ASSET_LINK_ID,
    "Metadata of relationships between assets.",
    ("list the metadata of a link",),
    sort_key=METADATA_KEY,
    stream="NEW_IMAGE",
)

EDGE = Attribute("edge")
ASSET_LINK_EDGES = Table(
    "AssetLinkEdges",
    keys.ASSET,
    (
        "The graph of asset links: one item at both ends of each link, and a head for each "
        "asset, whose marks record the latest links to a parent or a child."
    ),
    (
        "list the links of an asset, consistently",
        "refuse a second link between two assets, and a link that closes a cycle",
        "remove the links of an asset that is deleted",
    ),
    sort_key=EDGE,
    origin="ours",
)

ARCHIVE_PAGE = Attribute("page")
ARCHIVED_FILES = Table(
    "ArchivedFiles",
    keys.ASSET,
    "The files archived with an asset, some hundred a row, so that exactly these are restored.",
    ("store a page of files", "read the first remaining page", REMOVAL),
    sort_key=ARCHIVE_PAGE,
    origin="ours",
)

HISTORY_RECORD_ID = Attribute("historyRecordId")
ASSET_HISTORY = Table(
    "AssetHistoryStorageTable",
    keys.ASSET,
    (
        "What each change of an asset left, written with the change. It outlives the asset, and "
        "continues if another asset gets the id."
    ),
    ("list the changes of an asset, newest first",),
    sort_key=HISTORY_RECORD_ID,
    origin="ours",
)

FILE_VERSION_HISTORY = Table(
    "FileVersionHistory",
    keys.ASSET,
    (
        "The origin of each version of a file: its user and the kind of change. That of a delete "
        "marker, which S3 names only once it exists, is written before it under the version that "
        "it hides: `<versionId>#marker`."
    ),
    ("get the origins of listed versions", REMOVAL),
    sort_key=keys.FILE_VERSION,
    origin="ours",
)

TABLES = (
    ASSETS,
    DATABASES,
    ASSET_VERSIONS,
    ASSET_FILE_VERSIONS,
    ASSET_FILE_METADATA_VERSIONS,
    ASSET_UPLOADS,
    ASSET_LINKS,
    ASSET_LINKS_METADATA,
    ASSET_LINK_EDGES,
    ARCHIVED_FILES,
    ASSET_HISTORY,
    FILE_VERSION_HISTORY,
)
