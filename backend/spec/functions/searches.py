"""The functions behind the HTTP API that search documents, and facts of files."""

from backend.spec import queues, secrets, settings
from backend.spec.buckets import ASSET_BUCKET, AUXILIARY_BUCKET
from backend.spec.functions.model import api
from backend.spec.functions.request_parts import BUCKET_RECORD
from backend.spec.tables import assets, metadata, operations, registry

SEARCH_API = api(
    "SearchApi",
    "search",
    "Search over assets and files; URLs of their previews.",
    uses={
        operations.SEARCH_STATE: ("GetItem",),
        assets.DATABASES: ("GetItem",),  # reads whether files of the database are inspected
        # reads the sources of a write, to confirm that the index contains it
        operations.RESERVATIONS: ("BatchGetItem", "GetItem", "PutItem", "UpdateItem"),
        assets.ASSETS: ("BatchGetItem",),
        metadata.ASSET_FILE_METADATA: ("BatchGetItem", "QueryIndexes"),
        metadata.FILE_ATTRIBUTES: ("BatchGetItem", "QueryIndexes"),
        metadata.RECORD_SETS: ("GetItem",),
        registry.ASSET_BUCKETS: ("Scan",),
        # Of objects, only previews (`objects_of`).
        ASSET_BUCKET: ("GetObject", "GetObjectVersion", "ListBucket", "ListBucketVersions"),
    },
    secrets=(secrets.PAGE_TOKEN_KEY,),
    settings=(
        settings.PRESIGNED_URL_SECONDS,
        settings.MALWARE_SCAN,
        settings.PROCESSING,
        settings.AUDIT_READS,
    ),
    search="read",
    sends=(queues.READS,),
)
FACTS_API = api(
    "FactsApi",
    "facts",
    "Facts of files: dependencies within an asset, files of a similar shape, GLBs.",
    uses={
        **BUCKET_RECORD,
        assets.DATABASES: ("GetItem",),
        assets.ASSETS: ("BatchGetItem", "GetItem"),
        metadata.FILE_ATTRIBUTES: ("BatchGetItem", "GetItem", "Query"),
        operations.SEARCH_STATE: ("GetItem",),
        operations.RESERVATIONS: ("BatchGetItem",),
        # The last one for a missing key: its old versions are listed.
        ASSET_BUCKET: ("GetObject", "ListBucket", "ListBucketVersions"),
        AUXILIARY_BUCKET: ("GetObject", "ListBucket", "ListBucketVersions"),
    },
    secrets=(secrets.PAGE_TOKEN_KEY,),
    settings=(
        settings.PRESIGNED_URL_SECONDS,
        settings.MALWARE_SCAN,
        settings.PROCESSING,
        settings.AUDIT_READS,
    ),
    search="query",
    sends=(queues.READS,),
)
