"""Routes of the deployment: configuration, buckets, databases, tags."""

from backend.spec.routes.model import ETAG, IF_MATCH, Route

GET_AMPLIFY_CONFIG = Route(
    "GET", "/api/amplify-config", "configuration", "get_amplify_config",
    (
        "Get the configuration that a web client needs to start"
    ), public=True, statuses=(400,), throttle="public", aliases=("/api/api/amplify-config",),
)  # fmt: skip
GET_VERSION = Route(
    "GET", "/api/version", "configuration", "get_version",
    "Get the versions of the API contract and of the product", public=True, throttle="public",
    aliases=("/api/api/version",),
)  # fmt: skip
GET_SECURE_CONFIG = Route(
    "GET", "/secure-config", "configuration", "get_secure_config", "List the enabled features",
    open_to_users=True,
)  # fmt: skip
GET_OPENAPI = Route(
    "GET", "/openapi.json", "configuration", "get_openapi",
    "The OpenAPI document of this API", ours=True,
)  # fmt: skip
LIST_BUCKETS = Route("GET", "/buckets", "buckets", "list_buckets", "List the asset buckets")
REGISTER_BUCKET = Route(
    "POST", "/admin/buckets", "buckets", "register_bucket",
    "Register a bucket, or a prefix in a bucket, as asset storage", "bucket", ours=True,
)  # fmt: skip
IMPORT_BUCKET = Route(
    "POST", "/admin/buckets/{bucketId}/import", "bucket_sync", "import_bucket",
    "Create assets and files from the objects in a bucket", "bucket", ours=True,
)  # fmt: skip
CREATE_DATABASE = Route(
    "POST", "/database", "databases", "create_database", "Create a database", "database",
    response_headers=(ETAG,),
)  # fmt: skip
LIST_DATABASES = Route(
    "GET", "/database", "databases", "list_databases", "List the databases", "database"
)
GET_DATABASE = Route(
    "GET", "/database/{databaseId}", "databases", "get_database", "Get a database", "database",
    response_headers=(ETAG,),
)  # fmt: skip
UPDATE_DATABASE = Route(
    "PUT", "/database/{databaseId}", "databases", "update_database", "Change a database",
    "database",
    reads=(IF_MATCH,),
    response_headers=(ETAG,),
)  # fmt: skip
DELETE_DATABASE = Route(
    "DELETE", "/database/{databaseId}", "databases", "delete_database",
    "Delete a database without active assets (soft), or purge a deleted one", "database",
    reads=(IF_MATCH,),
)  # fmt: skip
LIST_TAGS = Route("GET", "/tags", "tags", "list_tags", "List the tags", "tag")
CREATE_TAG = Route("POST", "/tags", "tags", "create_tag", "Create a tag", "tag")
UPDATE_TAG = Route("PUT", "/tags", "tags", "update_tag", "Change a tag", "tag")
DELETE_TAG = Route("DELETE", "/tags/{tagId}", "tags", "delete_tag", "Delete a tag", "tag")
LIST_TAG_TYPES = Route(
    "GET", "/tag-types", "tags", "list_tag_types", "List tag types", "tagType"
)  # fmt: skip
CREATE_TAG_TYPE = Route(
    "POST", "/tag-types", "tags", "create_tag_type", "Create a tag type", "tagType"
)  # fmt: skip
UPDATE_TAG_TYPE = Route(
    "PUT", "/tag-types", "tags", "update_tag_type", "Change a tag type", "tagType"
)  # fmt: skip
DELETE_TAG_TYPE = Route(
    "DELETE", "/tag-types/{tagTypeId}", "tags", "delete_tag_type", "Delete a tag type", "tagType"
)  # fmt: skip
