"""The VAMS data model, transcribed by hand from its document: plain data, no declaration imported.

Tables go by the document's headings. A key that the document leaves open is `None`; so is an index
of which it gives only the name. `TABLES_WITHOUT_HEADING` are the two whose headings it lost.
"""

from typing import NamedTuple


class IndexFacts(NamedTuple):
    """An index as the document describes it. None: not described; `"--"`: there is none."""

    partition_key: str | None
    sort_key: str | None
    projection: str | None


class TableFacts(NamedTuple):
    """A table as the document describes it."""

    partition_key: str
    sort_key: str | None = None
    stream: str | None = None
    global_indexes: dict[str, IndexFacts] = {}
    local_indexes: dict[str, IndexFacts] = {}


TABLES_WITH_HEADING = {
    "Asset Storage Table": TableFacts(
        "databaseId",
        "assetId",
        stream="NEW_IMAGE",
        global_indexes={
            "BucketIdGSI": IndexFacts("bucketId", "assetId", "Keys Only"),
            "assetIdGSI": IndexFacts("assetId", "databaseId", "Keys Only"),
        },
    ),
    "Database Storage Table": TableFacts("databaseId", stream="NEW_IMAGE"),
    "Asset Versions Storage Table (V2)": TableFacts("databaseId:assetId", "assetVersionId"),
    "Asset File Versions Storage Table (V2)": TableFacts(
        "databaseId:assetId:assetVersionId",
        "fileKey",
        global_indexes={"databaseIdAssetIdIndex": IndexFacts("databaseId:assetId", "--", "ALL")},
    ),
    "Asset File Metadata Versions Storage Table": TableFacts(
        "databaseId:assetId:assetVersionId",
        "type:filePath:metadataKey",
        global_indexes={"databaseIdAssetIdIndex": IndexFacts("databaseId:assetId", "--", "ALL")},
    ),
    "Asset Uploads Storage Table": TableFacts(
        "uploadId",
        "assetId",
        global_indexes={
            "AssetIdGSI": IndexFacts("assetId", "uploadId", "Keys Only"),
            "DatabaseIdGSI": IndexFacts("databaseId", "uploadId", "Keys Only"),
            "UserIdGSI": IndexFacts("UserId", "createdAt", "Keys Only"),
        },
    ),
    "Database Metadata Storage Table (V2)": TableFacts(
        "metadataKey",
        "databaseId",
        stream="NEW_IMAGE",
        global_indexes={"DatabaseIdIndex": IndexFacts("databaseId", "metadataKey", "ALL")},
    ),
    "Asset File Metadata Storage Table (V2)": TableFacts(
        "metadataKey",
        "databaseId:assetId:filePath",
        stream="NEW_IMAGE",
        global_indexes={
            "DatabaseIdAssetIdFilePathIndex": IndexFacts(
                "databaseId:assetId:filePath", "metadataKey", "ALL"
            ),
            "DatabaseIdAssetIdIndex": IndexFacts("databaseId:assetId", "metadataKey", "ALL"),
        },
    ),
    "File Attribute Storage Table (V2)": TableFacts(
        "attributeKey",
        "databaseId:assetId:filePath",
        stream="NEW_IMAGE",
        global_indexes={
            "DatabaseIdAssetIdFilePathIndex": IndexFacts(
                "databaseId:assetId:filePath", "attributeKey", "ALL"
            ),
            "DatabaseIdAssetIdIndex": IndexFacts("databaseId:assetId", "attributeKey", "ALL"),
        },
    ),
    "Metadata Schema Storage Table (V2)": TableFacts(
        "metadataSchemaId",
        "databaseId:metadataEntityType",
        global_indexes={
            "DatabaseIdMetadataEntityTypeIndex": IndexFacts(
                "databaseId:metadataEntityType", "metadataSchemaId", "ALL"
            ),
            "MetadataEntityTypeIndex": IndexFacts("metadataEntityType", "metadataSchemaId", "ALL"),
            "DatabaseIdIndex": IndexFacts("databaseId", "metadataSchemaId", "ALL"),
        },
    ),
    "Pipeline Storage Table": TableFacts("databaseId", "pipelineId"),
    "Workflow Storage Table": TableFacts("databaseId", "workflowId"),
    "Workflow Executions Storage Table": TableFacts(
        "databaseId:assetId",
        "executionId",
        global_indexes={
            "WorkflowGSI": IndexFacts("workflowDatabaseId:workflowId", "executionId", "Keys Only"),
            "ExecutionIdGSI": IndexFacts("workflowId", "executionId", "Keys Only"),
        },
        local_indexes={"WorkflowLSI": IndexFacts("--", "workflowDatabaseId:workflowId", None)},
    ),
    "Constraints Storage Table": TableFacts(
        "constraintId",
        global_indexes={
            "GroupPermissionsIndex": IndexFacts("groupId", "objectType", "ALL"),
            "UserPermissionsIndex": IndexFacts("userId", "objectType", "ALL"),
            "ObjectTypeIndex": IndexFacts("objectType", "constraintId", "ALL"),
        },
    ),
    "Auth Entities Storage Table": TableFacts("entityType", "sk"),
}

TABLES_WITHOUT_HEADING = {
    # The one that relates assets as parent, child or related.
    "AssetLinksStorageTableV2": TableFacts(
        "assetLinkId",
        stream="NEW_IMAGE",
        global_indexes={
            "fromAssetGSI": IndexFacts(
                "fromAssetDatabaseId:fromAssetId", "toAssetDatabaseId:toAssetId", "Keys Only"
            ),
            "toAssetGSI": IndexFacts(
                "toAssetDatabaseId:toAssetId", "fromAssetDatabaseId:fromAssetId", "Keys Only"
            ),
        },
    ),
    # The one with metadata of such relationships.
    "AssetLinksMetadataStorageTable": TableFacts("assetLinkId", "metadataKey", stream="NEW_IMAGE"),
}

TABLES_IN_LISTS = {
    # Other authorization tables
    "RolesStorageTable": TableFacts("roleName"),
    "UserRolesStorageTable": TableFacts("userId", "roleName"),
    "UserStorageTable": TableFacts("userId"),
    "ApiKeyStorageTable": TableFacts(
        "apiKeyId",
        global_indexes={
            "apiKeyHashIndex": IndexFacts(None, None, None),
            "userIdIndex": IndexFacts(None, None, None),
        },
    ),
    # Classification tables
    "TagStorageTable": TableFacts("tagName"),
    "TagTypeStorageTable": TableFacts("tagTypeName"),
    "SubscriptionsStorageTable": TableFacts("eventName", "entityName_entityId"),
    "CommentStorageTable": TableFacts("assetId", "assetVersionId:commentId"),
    # Configuration tables
    "AppFeatureEnabledStorageTable": TableFacts("featureName"),
    "S3AssetBucketsStorageTable": TableFacts(
        "bucketId",
        "bucketName:baseAssetsPrefix",
        global_indexes={"bucketNameGSI": IndexFacts(None, None, None)},
    ),
}

BUCKET_HEADINGS = {
    # The document's heading, and the name that the bucket has here.
    "Asset Buckets": "AssetBucket",
    "Auxiliary Bucket": "AssetAuxiliaryBucket",
    "Web App Bucket": "WebAppBucket",
    "Artefacts Bucket": "ArtefactsBucket",
    "Access Logs Bucket": "AccessLogsBucket",
}
VERSIONED_BUCKETS = {"Asset Buckets"}
KEY_LAYOUTS = {
    "Asset Buckets": "{baseAssetsPrefix}{assetId}/{relative_path}/{filename}",
    "Auxiliary Bucket": "{assetId}/{viewer_type}/{generated_files}",
}
DEFAULT_BASE_ASSETS_PREFIX = "/"
ACCESS_LOG_PREFIXES = {
    "Asset Buckets": "asset-bucket-logs/",
    "Auxiliary Bucket": "assetAuxiliary-bucket-logs/",
    "Artefacts Bucket": "artefacts-bucket-logs/",
}
CLOUDTRAIL_PREFIX = "cloudtrail-logs/"
ACCESS_LOG_EXPIRATION_DAYS = 90

TEXT_WITH_KEYWORD = "text + keyword"

FIELD_PREFIXES = {
    "str_": "text with keyword sub-field",
    "num_": "long",
    "bool_": "boolean",
    "date_": "date",
    "list_": "text with keyword sub-field",
    "gp_": "geo_point",
    "gs_": "text (JSON string)",
}

ASSET_INDEX = {
    "str_databaseid": TEXT_WITH_KEYWORD,
    "str_assetid": TEXT_WITH_KEYWORD,
    "str_assetname": TEXT_WITH_KEYWORD,
    "str_assettype": TEXT_WITH_KEYWORD,
    "str_description": TEXT_WITH_KEYWORD,
    "str_bucketid": TEXT_WITH_KEYWORD,
    "str_bucketname": TEXT_WITH_KEYWORD,
    "str_bucketprefix": TEXT_WITH_KEYWORD,
    "str_asset_version_id": TEXT_WITH_KEYWORD,
    "str_asset_version_comment": TEXT_WITH_KEYWORD,
    "str_assetlocationkey": TEXT_WITH_KEYWORD,
    "str_previewfilekey": TEXT_WITH_KEYWORD,
    "bool_isdistributable": "boolean",
    "list_tags": TEXT_WITH_KEYWORD,
    "date_asset_version_createdate": "date",
    "bool_has_asset_children": "boolean",
    "bool_has_asset_parents": "boolean",
    "bool_has_assets_related": "boolean",
    "bool_archived": "boolean",
    "MD_": "flat_object",
    "_rectype": "keyword",
}
ASSET_DOCUMENT_ID = "{databaseId}:{assetId}"
ASSET_RECTYPE = "asset"

FILE_INDEX = {
    "str_key": TEXT_WITH_KEYWORD,
    "str_databaseid": TEXT_WITH_KEYWORD,
    "str_assetid": TEXT_WITH_KEYWORD,
    "str_assetname": TEXT_WITH_KEYWORD,
    "str_bucketid": TEXT_WITH_KEYWORD,
    "str_bucketname": TEXT_WITH_KEYWORD,
    "str_bucketprefix": TEXT_WITH_KEYWORD,
    "str_fileext": TEXT_WITH_KEYWORD,
    "str_etag": TEXT_WITH_KEYWORD,
    "str_s3_version_id": TEXT_WITH_KEYWORD,
    "str_previewfilekey": TEXT_WITH_KEYWORD,
    "date_lastmodified": "date",
    "num_filesize": "long",
    "bool_archived": "boolean",
    "list_tags": TEXT_WITH_KEYWORD,
    "MD_": "flat_object",
    "AB_": "flat_object",
    "_rectype": "keyword",
}
FILE_DOCUMENT_ID = "{databaseId}:{assetId}:{fileKey}"
FILE_RECTYPE = "file"

DYNAMIC_TEMPLATES = [
    {
        "core_strings": {
            "match": "str_*",
            "mapping": {"type": "text", "fields": {"keyword": {"type": "keyword"}}},
        }
    },
    {"core_numeric": {"match": "num_*", "mapping": {"type": "long"}}},
    {"core_boolean": {"match": "bool_*", "mapping": {"type": "boolean"}}},
    {"core_dates": {"match": "date_*", "mapping": {"type": "date"}}},
    {
        "core_lists": {
            "match": "list_*",
            "mapping": {"type": "text", "fields": {"keyword": {"type": "keyword"}}},
        }
    },
]

ARCHIVED_SUFFIX = "#deleted"
EXCLUDED_FIELD_PREFIXES = ("VAMS_", "_")
FIELDS_NOT_EXCLUDED = ("_rectype",)
