"""Tables of classification and configuration: tags, subscriptions, comments, features, buckets."""

from backend.spec import keys
from backend.spec.attributes import Attribute
from backend.spec.tables.model import Index, Table

BUCKET_NAME = Attribute("bucketName")
BASE_ASSETS_PREFIX = Attribute("baseAssetsPrefix")

TAGS = Table(
    "TagStorageTable",
    Attribute("tagName"),
    "Tags.",
    ("get some tags", "list tags (a registry: scanned by page)"),
)

TAG_TYPES = Table(
    "TagTypeStorageTable",
    Attribute("tagTypeName"),
    "Tag types of GLOBAL, which group tags and may require that an asset carries one of them.",
    ("get one tag type", "list tag types (a registry: scanned by page)"),
)

DATABASE_TAG_TYPES = Table(
    "DatabaseTagTypes",
    Attribute("databaseId"),
    "Tag types of databases: an asset's creation reads those of its own database.",
    ("get one tag type", "list those of a database", "list all (a registry: scanned by page)"),
    sort_key=TAG_TYPES.partition_key,
    origin="ours",
)

SUBSCRIPTION_EVENT = "Asset Version Change"
SUBSCRIPTION_ENTITY = "Asset"
"""The only event, and the only type of entity, that the contract allows subscriptions to."""

SUBSCRIPTIONS = Table(
    "SubscriptionsStorageTable",
    Attribute("eventName"),
    "Subscriptions: users by entity and event.",
    ("get the subscribers of an entity's event", "list the subscriptions to an event"),
    sort_key=keys.SUBSCRIBED_ENTITY,
)

COMMENTS = Table(
    "CommentStorageTable",
    Attribute("assetId"),
    "Comments on versions of assets.",
    ("get one comment", "list the comments of an asset, or of one version"),
    sort_key=keys.COMMENT,
)

FEATURES = Table(
    "AppFeatureEnabledStorageTable",
    Attribute("featureName"),
    "Enabled features.",
    ("list features (a registry: scanned by page)",),
)

BUCKETS_BY_NAME = Index("bucketNameGSI", BUCKET_NAME, BASE_ASSETS_PREFIX, "ALL", origin="chosen")
ASSET_BUCKETS = Table(
    "S3AssetBucketsStorageTable",
    Attribute("bucketId"),
    "Buckets, and prefixes in them, registered as asset storage.",
    ("get one bucket", "list buckets (a registry: scanned by page)"),
    sort_key=keys.BUCKET_LOCATION,
    indexes=(BUCKETS_BY_NAME,),
)

TABLES = (TAGS, TAG_TYPES, DATABASE_TAG_TYPES, SUBSCRIPTIONS, COMMENTS, FEATURES, ASSET_BUCKETS)
