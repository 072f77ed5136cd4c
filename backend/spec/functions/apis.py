"""The functions behind the HTTP API, one a domain."""

from dataclasses import replace

from backend.spec import buckets, queues, secrets, settings, topics
from backend.spec.functions.model import Function, api, audited, reported
from backend.spec.tables import access, assets, metadata, operations, registry

CONFIGURATION_API = replace(
    api(
        "ConfigurationApi",
        "configuration",
        "Version, client configuration, features.",
        reads=(registry.FEATURES,),
        settings=(
            settings.WEB_URL,
            settings.OIDC_ISSUER,
            settings.OIDC_CLIENT_ID,
            settings.OIDC_SCOPE,
            settings.OIDC_SCOPE_MFA,
        ),
    ),
    user_pool="known",
)
ACCESS_API = audited(
    Function(
        "AccessApi",
        "api",
        "backend.entrypoints.http.access.handler",
        "API keys, roles and their users, constraints, profiles, and users of the user pool.",
        reads=(assets.ASSETS,),
        writes=(
            access.API_KEYS,
            access.CONSTRAINTS,
            access.POLICIES,
            access.ROLES,
            access.USER_ROLES,
            access.USERS,
            operations.JOBS,
            operations.RESERVATIONS,
        ),
        secrets=(secrets.API_KEY_PEPPER, secrets.PAGE_TOKEN_KEY),
        settings=(settings.OIDC_ISSUER, settings.OIDC_USER_PREFIX),
        user_pool="administered",
        domain="access",
        memory_mb=1024,
    )
)
BUCKETS_API = audited(
    api(
        "BucketsApi",
        "buckets",
        "The asset buckets.",
        reads=(buckets.ASSET_BUCKET,),
        writes=(registry.ASSET_BUCKETS, operations.RESERVATIONS),
        secrets=(secrets.PAGE_TOKEN_KEY,),
        settings=(settings.IMPORTED_BUCKETS,),
    )
)
BUCKET_SYNC_API = audited(
    api(
        "BucketSyncApi",
        "bucket_sync",
        "Starts imports of existing objects in buckets.",
        reads=(registry.ASSET_BUCKETS,),
        writes=(operations.JOBS, operations.RESERVATIONS),
    )
)
DATABASES_API = audited(
    api(
        "DatabasesApi",
        "databases",
        "Databases.",
        reads=(registry.ASSET_BUCKETS, access.CONSTRAINTS),
        writes=(assets.DATABASES, operations.JOBS, operations.RESERVATIONS),
        secrets=(secrets.PAGE_TOKEN_KEY,),
    )
)
TAGS_API = audited(
    api(
        "TagsApi",
        "tags",
        "Tags and tag types.",
        reads=(access.CONSTRAINTS,),
        writes=(registry.TAGS, registry.TAG_TYPES, operations.JOBS, operations.RESERVATIONS),
        secrets=(secrets.PAGE_TOKEN_KEY,),
    )
)
ASSETS_API = audited(
    api(
        "AssetsApi",
        "assets",
        "Assets.",
        reads=(
            assets.DATABASES,
            registry.ASSET_BUCKETS,
            registry.TAGS,
            registry.TAG_TYPES,
            buckets.ASSET_BUCKET,
        ),
        writes=(assets.ASSETS, assets.ASSET_VERSIONS, operations.RESERVATIONS),
        secrets=(secrets.PAGE_TOKEN_KEY,),
    )
)
FILES_API = replace(
    audited(
        api(
            "FilesApi",
            "files",
            "Lists and changes the files of assets; long changes are jobs.",
            reads=(
                assets.DATABASES,
                metadata.METADATA_SCHEMAS,
                metadata.SCHEMA_SCOPES,
                registry.ASSET_BUCKETS,
            ),
            writes=(
                assets.ASSETS,
                assets.ASSET_VERSIONS,
                assets.ASSET_FILE_VERSIONS,
                assets.ASSET_FILE_METADATA_VERSIONS,
                metadata.ASSET_FILE_METADATA,
                metadata.FILE_ATTRIBUTES,
                metadata.RECORD_SETS,
                operations.JOBS,
                operations.RESERVATIONS,
                buckets.ASSET_BUCKET,
                buckets.AUXILIARY_BUCKET,
            ),
            secrets=(secrets.PAGE_TOKEN_KEY,),
        )
    ),
    sends=(queues.SETTLE,),
    settings=(
        settings.AUDIT_DAYS,
        settings.LARGE_FILE_BYTES,
        settings.SETTLE_DELAY_SECONDS,
        settings.MALWARE_SCAN,
    ),
)
UPLOADS_API = reported(
    audited(
        api(
            "UploadsApi",
            "uploads",
            "Uploads by presigned URLs.",
            reads=(assets.DATABASES, registry.ASSET_BUCKETS),
            writes=(
                assets.ASSET_UPLOADS,
                assets.ASSETS,
                operations.JOBS,
                operations.RESERVATIONS,
                buckets.ASSET_BUCKET,
            ),
            secrets=(secrets.PAGE_TOKEN_KEY,),
            settings=(
                settings.UPLOAD_RATE_PER_MINUTE,
                settings.PRESIGNED_URL_SECONDS,
                settings.LARGE_FILE_BYTES,
            ),
        )
    )
)
INGEST_API = reported(
    audited(
        api(
            "IngestApi",
            "ingest",
            "Creates assets together with the upload of their files.",
            reads=(
                assets.DATABASES,
                registry.ASSET_BUCKETS,
                registry.TAGS,
                registry.TAG_TYPES,
            ),
            writes=(
                assets.ASSETS,
                assets.ASSET_VERSIONS,
                assets.ASSET_UPLOADS,
                operations.JOBS,
                operations.RESERVATIONS,
                buckets.ASSET_BUCKET,
            ),
            secrets=(secrets.PAGE_TOKEN_KEY,),
            settings=(
                settings.UPLOAD_RATE_PER_MINUTE,
                settings.PRESIGNED_URL_SECONDS,
                settings.LARGE_FILE_BYTES,
            ),
        )
    )
)
DOWNLOADS_API = reported(
    api(
        "DownloadsApi",
        "downloads",
        "Downloads of files, previews and viewers' files: presigned URLs and content.",
        reads=(
            assets.ASSETS,
            registry.ASSET_BUCKETS,
            assets.ASSET_VERSIONS,
            assets.ASSET_FILE_VERSIONS,
            operations.RESERVATIONS,
            buckets.ASSET_BUCKET,
            buckets.AUXILIARY_BUCKET,
        ),
        settings=(settings.PRESIGNED_URL_SECONDS, settings.MALWARE_SCAN),
    )
)
METADATA_API = audited(
    api(
        "MetadataApi",
        "metadata",
        "Metadata of databases, assets and files, attributes of files.",
        reads=(
            assets.ASSETS,
            assets.DATABASES,
            assets.ASSET_VERSIONS,
            assets.ASSET_FILE_METADATA_VERSIONS,
            metadata.METADATA_SCHEMAS,
            metadata.SCHEMA_SCOPES,
            registry.ASSET_BUCKETS,
            buckets.ASSET_BUCKET,
        ),
        writes=(
            metadata.ASSET_FILE_METADATA,
            metadata.FILE_ATTRIBUTES,
            metadata.DATABASE_METADATA,
            metadata.RECORD_SETS,
        ),
        secrets=(secrets.PAGE_TOKEN_KEY,),
    )
)
METADATA_SCHEMAS_API = audited(
    api(
        "MetadataSchemasApi",
        "metadata_schemas",
        "Metadata schemas.",
        reads=(assets.DATABASES,),
        writes=(metadata.METADATA_SCHEMAS, metadata.SCHEMA_SCOPES),
        secrets=(secrets.PAGE_TOKEN_KEY,),
    )
)
ASSET_LINKS_API = audited(
    api(
        "AssetLinksApi",
        "asset_links",
        "Links between assets, with their metadata; trees of assets.",
        reads=(assets.DATABASES, metadata.METADATA_SCHEMAS, metadata.SCHEMA_SCOPES),
        writes=(
            assets.ASSETS,
            assets.ASSET_LINKS,
            assets.ASSET_LINKS_METADATA,
            assets.ASSET_LINK_EDGES,
            metadata.RECORD_SETS,
        ),
        secrets=(secrets.PAGE_TOKEN_KEY,),
    )
)
ASSET_VERSIONS_API = replace(
    audited(
        api(
            "AssetVersionsApi",
            "asset_versions",
            "Versions of assets: creates, reads, compares and restores them; large ones in jobs.",
            reads=(registry.ASSET_BUCKETS,),
            writes=(
                metadata.ASSET_FILE_METADATA,
                metadata.FILE_ATTRIBUTES,
                metadata.RECORD_SETS,
                assets.ASSETS,
                assets.ASSET_VERSIONS,
                assets.ASSET_FILE_VERSIONS,
                assets.ASSET_FILE_METADATA_VERSIONS,
                operations.JOBS,
                operations.RESERVATIONS,
                buckets.ASSET_BUCKET,
            ),
            secrets=(secrets.PAGE_TOKEN_KEY,),
        )
    ),
    sends=(queues.SETTLE,),
    settings=(
        settings.AUDIT_DAYS,
        settings.SETTLE_DELAY_SECONDS,
        settings.LARGE_FILE_BYTES,
        settings.MALWARE_SCAN,
    ),
)
EXPORTS_API = reported(
    api(
        "ExportsApi",
        "exports",
        "Exports of assets and trees of assets, page by page.",
        reads=(
            assets.ASSETS,
            assets.ASSET_LINK_EDGES,
            assets.ASSET_LINKS_METADATA,
            assets.ASSET_FILE_VERSIONS,
            metadata.ASSET_FILE_METADATA,
            metadata.FILE_ATTRIBUTES,
            registry.ASSET_BUCKETS,
            operations.RESERVATIONS,
            buckets.ASSET_BUCKET,
        ),
        secrets=(secrets.PAGE_TOKEN_KEY,),
        settings=(
            settings.PRESIGNED_URL_SECONDS,
            settings.NAME_HIDDEN_ASSETS,
            settings.MALWARE_SCAN,
        ),
    )
)
LIFECYCLE_API = replace(
    audited(
        api(
            "LifecycleApi",
            "asset_lifecycle",
            "Archives, restores and deletes assets; jobs do the remaining work.",
            reads=(registry.ASSET_BUCKETS,),
            writes=(
                assets.ASSETS,
                assets.ARCHIVED_FILES,
                assets.ASSET_VERSIONS,
                operations.JOBS,
                operations.RESERVATIONS,
                buckets.ASSET_BUCKET,
            ),
            secrets=(secrets.PAGE_TOKEN_KEY,),
        )
    ),
    sends=(queues.SETTLE,),
    settings=(settings.AUDIT_DAYS, settings.SETTLE_DELAY_SECONDS),
)
SUBSCRIPTIONS_API = replace(
    audited(
        api(
            "SubscriptionsApi",
            "subscriptions",
            "Subscriptions to assets.",
            reads=(assets.ASSETS, access.USERS),
            writes=(registry.SUBSCRIPTIONS, operations.RESERVATIONS),
            secrets=(secrets.PAGE_TOKEN_KEY,),
            settings=(settings.SUBSCRIBERS_PER_MINUTE,),
        )
    ),
    subscribes=(topics.NOTIFICATIONS,),
)
JOBS_API = audited(
    api(
        "JobsApi",
        "jobs",
        "The state of jobs; lists, cancels and resumes them.",
        reads=(assets.ASSETS, operations.RESERVATIONS),
        writes=(operations.JOBS,),
        secrets=(secrets.PAGE_TOKEN_KEY,),
    )
)

COMMENTS_API = audited(
    api(
        "CommentsApi",
        "comments",
        "Comments on versions of assets.",
        reads=(assets.ASSETS, assets.ASSET_VERSIONS, operations.RESERVATIONS),
        writes=(registry.COMMENTS,),
        secrets=(secrets.PAGE_TOKEN_KEY,),
    )
)

AUDIT_API = api(
    "AuditApi",
    "audit",
    "The audit log.",
    reads=(operations.AUDIT, buckets.AUDIT_ARCHIVE_BUCKET),
    secrets=(secrets.PAGE_TOKEN_KEY,),
)
