"""The functions behind the HTTP API, one per domain."""

from dataclasses import replace

from backend.spec import queues, secrets, settings, topics
from backend.spec.buckets import ASSET_BUCKET, AUDIT_ARCHIVE_BUCKET, AUXILIARY_BUCKET
from backend.spec.functions.model import api
from backend.spec.functions.request_parts import (
    AUDITED,
    BUCKET_RECORD,
    EDITS,
    FILE_CHANGES,
    GOVERNED,
    RECORDS,
    STORED_FILES,
    VERSIONS,
    combined_requests,
)
from backend.spec.tables import access, assets, metadata, operations, registry

CONFIGURATION_API = replace(
    api(
        "ConfigurationApi",
        "configuration",
        "Version, client configuration, features.",
        uses={registry.FEATURES: ("Scan",), operations.RESERVATIONS: ("GetItem",)},
        settings=(
            settings.WEB_URL,
            settings.PAGE,
            settings.OIDC_ISSUER,
            settings.OIDC_CLIENT_ID,
            settings.OIDC_SCOPE,
            settings.OIDC_SCOPE_MFA,
        ),
    ),
    user_pool="known",
)
ACCESS_API = replace(
    api(
        "AccessApi",
        "access",
        "API keys, sessions, roles and their users, constraints, profiles, and users of the pool.",
        uses={
            **AUDITED,
            access.USER_ROLES: (
                *("ConditionCheckItem", "DeleteItem", "GetItem", "PutItem", "Query", "Scan"),
            ),
            access.API_KEYS: (*EDITS, "BatchGetItem", "QueryIndexes", "Scan"),
            access.CONSTRAINTS: ("DeleteItem", "PutItem", "Scan"),
            access.POLICIES: (*EDITS, "BatchGetItem"),
            access.ROLES: (*EDITS, "BatchGetItem", "Scan"),
            access.USERS: ("GetItem", "UpdateItem"),
            assets.ASSETS: ("BatchGetItem",),
            operations.JOBS: ("PutItem",),
            operations.RESERVATIONS: ("GetItem", "PutItem"),
        },
        secrets=(secrets.API_KEY_PEPPER, secrets.PAGE_TOKEN_KEY, secrets.PAGE_EDGE_KEY),
        settings=(settings.OIDC_ISSUER, settings.OIDC_USER_PREFIX, settings.SESSION_HOURS),
    ),
    user_pool="administered",
)
BUCKETS_API = api(
    "BucketsApi",
    "buckets",
    "The asset buckets.",
    uses={
        **AUDITED,
        registry.ASSET_BUCKETS: ("PutItem", "Scan"),
        operations.RESERVATIONS: ("GetItem", "UpdateItem"),
        ASSET_BUCKET: ("GetBucketVersioning", "GetObject", "ListBucket"),
    },
    secrets=(secrets.PAGE_TOKEN_KEY,),
    settings=(settings.IMPORTED_BUCKETS,),
)
BUCKET_SYNC_API = api(
    "BucketSyncApi",
    "bucket_sync",
    "Starts imports of existing objects in buckets.",
    uses={
        **AUDITED,
        **BUCKET_RECORD,
        operations.JOBS: ("GetItem", "PutItem"),
        operations.RESERVATIONS: ("GetItem", "UpdateItem"),
    },
)
DATABASES_API = api(
    "DatabasesApi",
    "databases",
    "Databases.",
    uses={
        **AUDITED,
        **BUCKET_RECORD,
        assets.DATABASES: (*EDITS, "BatchGetItem", "ConditionCheckItem", "Scan"),
        access.CONSTRAINTS: ("Scan",),
        operations.JOBS: ("GetItem", "PutItem"),
        operations.RESERVATIONS: ("BatchGetItem", "DeleteItem", "GetItem", "PutItem"),
    },
    secrets=(secrets.PAGE_TOKEN_KEY,),
)
TAGS_API = api(
    "TagsApi",
    "tags",
    "Tags and tag types.",
    uses={
        **AUDITED,
        assets.DATABASES: ("ConditionCheckItem",),
        registry.TAGS: (*EDITS, "ConditionCheckItem", "Scan"),
        registry.TAG_TYPES: (*EDITS, "BatchGetItem", "ConditionCheckItem", "Scan"),
        registry.DATABASE_TAG_TYPES: (*EDITS, "BatchGetItem", "Scan"),
        access.CONSTRAINTS: ("Scan",),
        operations.JOBS: ("PutItem",),
        operations.RESERVATIONS: ("GetItem", "PutItem", "UpdateItem"),
    },
    secrets=(secrets.PAGE_TOKEN_KEY,),
)
ASSETS_API = api(
    "AssetsApi",
    "assets",
    "Assets.",
    uses={
        **AUDITED,
        **BUCKET_RECORD,
        assets.DATABASES: ("GetItem", "Scan"),
        registry.TAGS: ("BatchGetItem",),
        registry.TAG_TYPES: ("Scan",),
        registry.DATABASE_TAG_TYPES: ("Query",),
        assets.ASSETS: ("BatchGetItem", "GetItem", "PutItem", "Query", "UpdateItem"),
        assets.ASSET_VERSIONS: ("PutItem",),
        assets.ASSET_HISTORY: ("PutItem", "Query"),
        operations.RESERVATIONS: ("BatchGetItem", "PutItem", "UpdateItem"),
        ASSET_BUCKET: ("ListBucket",),
    },
    secrets=(secrets.PAGE_TOKEN_KEY,),
)
FILES_API = api(
    "FilesApi",
    "files",
    "Lists and changes the files of assets; long changes are jobs.",
    uses={
        **AUDITED,
        **combined_requests(
            FILE_CHANGES,
            {
                assets.ASSETS: ("ConditionCheckItem", "GetItem"),
                assets.ASSET_VERSIONS: ("GetItem",),
                assets.ASSET_FILE_VERSIONS: ("BatchGetItem",),
                assets.FILE_VERSION_HISTORY: ("BatchGetItem",),
                assets.DATABASES: ("GetItem",),
                operations.JOBS: ("PutItem",),
            },
        ),
    },
    secrets=(secrets.PAGE_TOKEN_KEY,),
    sends=(queues.SETTLE,),
    settings=(settings.LARGE_FILE_BYTES, settings.SETTLE_DELAY_SECONDS, settings.MALWARE_SCAN),
)
UPLOADS_API = api(
    "UploadsApi",
    "uploads",
    "Uploads by presigned URLs.",
    uses={
        **AUDITED,
        **BUCKET_RECORD,
        **STORED_FILES,
        assets.DATABASES: ("GetItem",),
        assets.ASSETS: ("GetItem", "UpdateItem"),
        operations.JOBS: ("GetItem", "PutItem"),
        operations.RESERVATIONS: ("UpdateItem",),
        assets.ASSET_UPLOADS: (
            *("BatchWriteItem", "DeleteItem", "PutItem", "Query", "QueryIndexes", "UpdateItem"),
        ),
    },
    secrets=(secrets.PAGE_TOKEN_KEY,),
    settings=(
        settings.UPLOAD_RATE_PER_MINUTE,
        settings.PRESIGNED_URL_SECONDS,
        settings.LARGE_FILE_BYTES,
        settings.AUDIT_READS,
    ),
    sends=(queues.READS,),
)
INGEST_API = api(
    "IngestApi",
    "ingest",
    "Creates assets together with the upload of their files.",
    uses={
        **AUDITED,
        **BUCKET_RECORD,
        **STORED_FILES,
        registry.TAGS: ("BatchGetItem",),
        registry.TAG_TYPES: ("Scan",),
        registry.DATABASE_TAG_TYPES: ("Query",),
        assets.DATABASES: ("GetItem",),
        assets.ASSETS: ("GetItem", "PutItem", "UpdateItem"),
        assets.ASSET_VERSIONS: ("PutItem",),
        assets.ASSET_HISTORY: ("PutItem",),
        operations.JOBS: ("GetItem", "PutItem"),
        operations.RESERVATIONS: ("PutItem", "UpdateItem"),
        assets.ASSET_UPLOADS: ("BatchWriteItem", "PutItem", "Query", "QueryIndexes", "UpdateItem"),
    },
    secrets=(secrets.PAGE_TOKEN_KEY,),
    settings=(
        settings.UPLOAD_RATE_PER_MINUTE,
        settings.PRESIGNED_URL_SECONDS,
        settings.LARGE_FILE_BYTES,
        settings.AUDIT_READS,
    ),
    sends=(queues.READS,),
)
DOWNLOADS_API = api(
    "DownloadsApi",
    "downloads",
    "Downloads of files, previews and viewers' files: presigned URLs and content.",
    uses={
        **BUCKET_RECORD,
        assets.ASSETS: ("GetItem",),
        assets.ASSET_VERSIONS: ("GetItem",),
        assets.ASSET_FILE_VERSIONS: ("BatchGetItem",),
        operations.RESERVATIONS: ("BatchGetItem",),
        ASSET_BUCKET: ("GetObject", "GetObjectVersion", "ListBucket", "ListBucketVersions"),
        AUXILIARY_BUCKET: ("GetObject", "ListBucket", "ListBucketVersions"),
    },
    settings=(settings.PRESIGNED_URL_SECONDS, settings.MALWARE_SCAN, settings.AUDIT_READS),
    sends=(queues.READS,),
)
METADATA_API = api(
    "MetadataApi",
    "metadata",
    "Metadata of databases, assets and files, attributes of files; of links in changes of several.",
    uses={
        **AUDITED,
        assets.ASSETS: ("BatchGetItem", "GetItem"),
        **BUCKET_RECORD,
        assets.DATABASES: ("GetItem",),
        assets.ASSET_VERSIONS: ("GetItem",),
        assets.ASSET_FILE_METADATA_VERSIONS: ("Query",),
        operations.RESERVATIONS: ("ConditionCheckItem", "GetItem"),
        **RECORDS,
        metadata.DATABASE_METADATA: ("BatchGetItem", "DeleteItem", "PutItem", "QueryIndexes"),
        assets.ASSET_LINKS: ("ConditionCheckItem", "GetItem"),
        assets.ASSET_LINKS_METADATA: ("BatchGetItem", "DeleteItem", "PutItem"),
        ASSET_BUCKET: ("GetObject", "ListBucket", "ListBucketVersions"),
    },
    secrets=(secrets.PAGE_TOKEN_KEY,),
)
METADATA_SCHEMAS_API = api(
    "MetadataSchemasApi",
    "metadata_schemas",
    "Metadata schemas.",
    uses={
        **AUDITED,
        assets.DATABASES: ("GetItem",),
        metadata.METADATA_SCHEMAS: (
            *("DeleteItem", "PutItem", "Query"),
            *("QueryIndexes", "Scan", "UpdateItem"),
        ),
        metadata.SCHEMA_SCOPES: ("GetItem", "PutItem"),
    },
    secrets=(secrets.PAGE_TOKEN_KEY,),
)
ASSET_LINKS_API = api(
    "AssetLinksApi",
    "asset_links",
    "Links between assets, with their metadata; trees of assets.",
    uses={
        **AUDITED,
        **GOVERNED,
        assets.DATABASES: ("GetItem",),
        assets.ASSETS: ("BatchGetItem", "GetItem", "UpdateItem"),
        assets.ASSET_LINKS: ("ConditionCheckItem", "DeleteItem", "GetItem", "PutItem"),
        assets.ASSET_LINKS_METADATA: (
            *("BatchGetItem", "BatchWriteItem", "DeleteItem"),
            *("PutItem", "Query"),
        ),
        assets.ASSET_LINK_EDGES: (
            *("BatchGetItem", "ConditionCheckItem", "DeleteItem"),
            *("PutItem", "Query", "UpdateItem"),
        ),
        metadata.RECORD_SETS: ("DeleteItem", "GetItem", "UpdateItem"),
    },
    secrets=(secrets.PAGE_TOKEN_KEY,),
)
ASSET_VERSIONS_API = api(
    "AssetVersionsApi",
    "asset_versions",
    "Versions of assets: creates, reads, compares and restores them; large ones in jobs.",
    uses={
        **AUDITED,
        **BUCKET_RECORD,
        **VERSIONS,
        assets.ASSETS: ("BatchGetItem", "ConditionCheckItem", "GetItem", "UpdateItem"),
        assets.ASSET_VERSIONS: (*EDITS, "BatchGetItem", "Query"),
        operations.JOBS: ("GetItem", "PutItem", "UpdateItem"),
        operations.RESERVATIONS: ("BatchGetItem", "ConditionCheckItem", "GetItem", "UpdateItem"),
        ASSET_BUCKET: (
            *("AbortMultipartUpload", "GetObject", "GetObjectVersion", "ListBucket"),
            *("ListBucketVersions", "ListMultipartUploadParts", "PutObject"),
        ),
    },
    secrets=(secrets.PAGE_TOKEN_KEY,),
    sends=(queues.SETTLE,),
    settings=(settings.SETTLE_DELAY_SECONDS, settings.LARGE_FILE_BYTES, settings.MALWARE_SCAN),
)
EXPORTS_API = api(
    "ExportsApi",
    "exports",
    "Exports of assets and trees of assets, page by page.",
    uses={
        assets.ASSETS: ("BatchGetItem", "GetItem"),
        **BUCKET_RECORD,
        assets.ASSET_LINK_EDGES: ("Query",),
        assets.ASSET_LINKS_METADATA: ("Query",),
        assets.ASSET_FILE_VERSIONS: ("BatchGetItem",),
        metadata.ASSET_FILE_METADATA: ("QueryIndexes",),
        metadata.FILE_ATTRIBUTES: ("QueryIndexes",),
        operations.RESERVATIONS: ("BatchGetItem",),
        ASSET_BUCKET: ("GetObject", "GetObjectVersion", "ListBucket", "ListBucketVersions"),
        AUXILIARY_BUCKET: ("GetObject", "PutObject"),
    },
    secrets=(secrets.PAGE_TOKEN_KEY,),
    settings=(
        settings.PRESIGNED_URL_SECONDS,
        settings.NAME_HIDDEN_ASSETS,
        settings.MALWARE_SCAN,
        settings.AUDIT_READS,
    ),
    sends=(queues.READS,),
)
LIFECYCLE_API = api(
    "LifecycleApi",
    "asset_lifecycle",
    "Archives, restores and deletes assets; jobs do the remaining work.",
    uses={
        **AUDITED,
        **BUCKET_RECORD,
        assets.ASSETS: ("BatchGetItem", "ConditionCheckItem", "DeleteItem", "PutItem"),
        assets.ASSET_HISTORY: ("PutItem",),
        assets.ARCHIVED_FILES: ("DeleteItem", "GetItem", "PutItem", "Query"),
        assets.FILE_VERSION_HISTORY: ("BatchWriteItem",),
        assets.ASSET_VERSIONS: ("GetItem", "UpdateItem"),
        operations.JOBS: ("ConditionCheckItem", "GetItem", "PutItem", "UpdateItem"),
        operations.RESERVATIONS: ("ConditionCheckItem", "UpdateItem"),
        ASSET_BUCKET: ("DeleteObject", "DeleteObjectVersion", "ListBucket", "ListBucketVersions"),
    },
    secrets=(secrets.PAGE_TOKEN_KEY,),
    sends=(queues.SETTLE,),
    settings=(settings.SETTLE_DELAY_SECONDS,),
)
SUBSCRIPTIONS_API = replace(
    api(
        "SubscriptionsApi",
        "subscriptions",
        "Subscriptions to assets.",
        uses={
            **AUDITED,
            assets.ASSETS: ("BatchGetItem", "ConditionCheckItem", "GetItem"),
            operations.RESERVATIONS: ("GetItem", "UpdateItem"),
            access.USERS: ("BatchGetItem",),
            registry.SUBSCRIPTIONS: (*EDITS, "Query"),
        },
        secrets=(secrets.PAGE_TOKEN_KEY,),
        settings=(settings.SUBSCRIBERS_PER_MINUTE,),
    ),
    subscribes=(topics.NOTIFICATIONS,),
)
JOBS_API = api(
    "JobsApi",
    "jobs",
    "The state of jobs; lists, cancels and resumes them.",
    uses={
        **AUDITED,
        assets.ASSETS: ("BatchGetItem",),
        operations.JOBS: ("BatchGetItem", "GetItem", "QueryIndexes", "UpdateItem"),
        operations.RESERVATIONS: ("GetItem",),
    },
    secrets=(secrets.PAGE_TOKEN_KEY,),
)
COMMENTS_API = api(
    "CommentsApi",
    "comments",
    "Comments on versions of assets.",
    uses={
        **AUDITED,
        assets.ASSETS: ("ConditionCheckItem", "GetItem"),
        assets.ASSET_VERSIONS: ("GetItem",),
        operations.RESERVATIONS: ("GetItem",),
        registry.COMMENTS: (*EDITS, "ConditionCheckItem", "Query"),
    },
    secrets=(secrets.PAGE_TOKEN_KEY,),
)
AUDIT_API = api(
    "AuditApi",
    "audit",
    "The audit log.",
    uses={
        # It also records its own refusals.
        operations.AUDIT: ("PutItem", "Query", "QueryIndexes"),
        AUDIT_ARCHIVE_BUCKET: ("GetObject", "ListBucket"),
    },
    secrets=(secrets.PAGE_TOKEN_KEY,),
)
