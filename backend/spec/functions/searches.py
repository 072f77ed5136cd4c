"""The functions behind the HTTP API that search documents, and facts of files."""

from backend.spec import buckets, secrets, settings
from backend.spec.functions.model import api, reported
from backend.spec.tables import assets, metadata, operations, registry

SEARCH_API = reported(
    api(
        "SearchApi",
        "search",
        "Search over assets and files; URLs of their previews.",
        reads=(
            operations.SEARCH_STATE,
            # whether files of a database are inspected
            assets.DATABASES,
            # to check whether the indexes contain a write
            assets.ASSETS,
            metadata.ASSET_FILE_METADATA,
            metadata.FILE_ATTRIBUTES,
            metadata.RECORD_SETS,
            registry.ASSET_BUCKETS,
            buckets.ASSET_BUCKET,
        ),
        writes=(operations.RESERVATIONS,),
        secrets=(secrets.PAGE_TOKEN_KEY,),
        settings=(settings.PRESIGNED_URL_SECONDS, settings.MALWARE_SCAN, settings.PROCESSING),
        search="read",
    )
)
FACTS_API = reported(
    api(
        "FactsApi",
        "facts",
        "Facts of files: dependencies within an asset, files of a similar shape, GLBs.",
        reads=(
            assets.DATABASES,
            assets.ASSETS,
            metadata.FILE_ATTRIBUTES,
            registry.ASSET_BUCKETS,
            operations.SEARCH_STATE,
            operations.RESERVATIONS,
            buckets.ASSET_BUCKET,
            buckets.AUXILIARY_BUCKET,
        ),
        secrets=(secrets.PAGE_TOKEN_KEY,),
        settings=(settings.PRESIGNED_URL_SECONDS, settings.MALWARE_SCAN, settings.PROCESSING),
        search="query",
    )
)
