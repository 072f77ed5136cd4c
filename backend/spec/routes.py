"""Every route of the REST API: method, path, domain, permission.

Tier 1 asks whether the caller may use the route (`object__type=api`); tier 2 whether it may act on
the entity (`object_type`, `action`). Where `action` is not the HTTP method, the contract says so.
"""

from dataclasses import dataclass
from typing import Literal

Method = Literal["GET", "POST", "PUT", "DELETE", "HEAD"]
Action = Literal["GET", "POST", "PUT", "DELETE"]
ObjectType = Literal[
    "bucket",
    "database",
    "asset",
    "tag",
    "tagType",
    "apiKey",
    "failure",
    "queue",
    "audit",
    "role",
    "userRole",
    "metadataSchema",
    "none",
]

ASSET_PATH = "/database/{databaseId}/assets/{assetId}"


@dataclass(frozen=True, slots=True)
class Route:
    """One route.

    `name` is the service's verb; `public` routes need no credentials; those `open_to_users` need no
    permission beside them; `ours` marks routes beyond the VAMS contract, which refuse unknown body
    fields instead of ignoring them. `statuses` are those that a route answers with beside the ones
    that follow from its parameters.
    """

    method: Method
    path: str
    domain: str
    name: str
    summary: str
    object_type: ObjectType = "none"
    tier2: Action | None = None
    public: bool = False
    ours: bool = False
    open_to_users: bool = False
    statuses: tuple[int, ...] = ()

    @property
    def key(self) -> str:
        """The route key as API Gateway writes it: `GET /database/{databaseId}`."""
        return f"{self.method} {self.path}"

    @property
    def action(self) -> Action:
        """What tier 2 asks permission for."""
        if self.tier2 is not None:
            return self.tier2
        return "GET" if self.method == "HEAD" else self.method


GET_AMPLIFY_CONFIG = Route(
    "GET", "/api/amplify-config", "configuration", "get_amplify_config",
    "What a web client needs to start", public=True,
)  # fmt: skip
GET_VERSION = Route(
    "GET", "/api/version", "configuration", "get_version",
    "The version of the contract and of the product", public=True,
)  # fmt: skip
GET_SECURE_CONFIG = Route(
    "GET", "/secure-config", "configuration", "get_secure_config", "The enabled features",
    open_to_users=True,
)  # fmt: skip

GET_OPENAPI = Route(
    "GET", "/openapi.json", "configuration", "get_openapi",
    "The OpenAPI document of this API", ours=True,
)  # fmt: skip

LIST_BUCKETS = Route("GET", "/buckets", "buckets", "list_buckets", "List the asset buckets")
REGISTER_BUCKET = Route(
    "POST", "/admin/buckets", "buckets", "register_bucket",
    "Let a bucket, or a prefix in it, hold assets", "bucket", ours=True,
)  # fmt: skip
IMPORT_BUCKET = Route(
    "POST", "/admin/buckets/{bucketId}/import", "bucket_sync", "import_bucket",
    "Make assets and files of what stands in a bucket", "bucket", ours=True,
)  # fmt: skip

CREATE_DATABASE = Route(
    "POST", "/database", "databases", "create_database", "Create a database", "database"
)
LIST_DATABASES = Route(
    "GET", "/database", "databases", "list_databases", "List the databases", "database"
)
GET_DATABASE = Route(
    "GET", "/database/{databaseId}", "databases", "get_database", "Get a database", "database"
)
UPDATE_DATABASE = Route(
    "PUT", "/database/{databaseId}", "databases", "update_database", "Change a database", "database"
)
DELETE_DATABASE = Route(
    "DELETE", "/database/{databaseId}", "databases", "delete_database",
    "Delete a database without active assets (soft)", "database",
)  # fmt: skip

LIST_TAGS = Route("GET", "/tags", "tags", "list_tags", "List the tags", "tag")
CREATE_TAG = Route("POST", "/tags", "tags", "create_tag", "Create a tag", "tag")
UPDATE_TAG = Route("PUT", "/tags", "tags", "update_tag", "Change a tag", "tag")
DELETE_TAG = Route("DELETE", "/tags/{tagId}", "tags", "delete_tag", "Delete a tag", "tag")
LIST_TAG_TYPES = Route("GET", "/tag-types", "tags", "list_tag_types", "List tag types", "tagType")
CREATE_TAG_TYPE = Route(
    "POST", "/tag-types", "tags", "create_tag_type", "Create a tag type", "tagType"
)
UPDATE_TAG_TYPE = Route(
    "PUT", "/tag-types", "tags", "update_tag_type", "Change a tag type", "tagType"
)
DELETE_TAG_TYPE = Route(
    "DELETE", "/tag-types/{tagTypeId}", "tags", "delete_tag_type", "Delete a tag type", "tagType"
)

CREATE_ASSET = Route(
    "POST", "/assets", "assets", "create_asset", "Create an asset", "asset", tier2="PUT"
)
LIST_ALL_ASSETS = Route(
    "GET", "/assets", "assets", "list_all_assets", "List the assets of all databases", "asset"
)
LIST_ASSETS = Route(
    "GET", "/database/{databaseId}/assets", "assets", "list_assets",
    "List the assets of a database", "asset",
)  # fmt: skip
GET_ASSET = Route("GET", ASSET_PATH, "assets", "get_asset", "Get an asset", "asset")
UPDATE_ASSET = Route("PUT", ASSET_PATH, "assets", "update_asset", "Change an asset", "asset")

ARCHIVE_ASSET = Route(
    "DELETE", f"{ASSET_PATH}/archiveAsset", "asset_lifecycle", "archive_asset",
    "Archive an asset and its files", "asset",
)  # fmt: skip
UNARCHIVE_ASSET = Route(
    "PUT", f"{ASSET_PATH}/unarchiveAsset", "asset_lifecycle", "unarchive_asset",
    "Bring an archived asset back, with the files that its archiving took", "asset",
)  # fmt: skip
DELETE_ASSET = Route(
    "DELETE", f"{ASSET_PATH}/deleteAsset", "asset_lifecycle", "delete_asset",
    "Delete an asset for good, with all that belongs to it", "asset",
)  # fmt: skip

CREATE_ASSET_VERSION = Route(
    "POST", f"{ASSET_PATH}/createVersion", "asset_versions", "create_asset_version",
    "Make a version of an asset", "asset",
)  # fmt: skip
LIST_ASSET_VERSIONS = Route(
    "GET", f"{ASSET_PATH}/getVersions", "asset_versions", "list_asset_versions",
    "List the versions of an asset, newest first", "asset",
)  # fmt: skip
GET_ASSET_VERSION = Route(
    "GET", f"{ASSET_PATH}/getVersion/{{assetVersionId}}", "asset_versions", "get_asset_version",
    "Get a version with its files, metadata and attributes", "asset",
)  # fmt: skip
UPDATE_ASSET_VERSION = Route(
    "PUT", f"{ASSET_PATH}/assetversions/{{assetVersionId}}", "asset_versions",
    "update_asset_version", "Change the comment or the alias of a version", "asset",
)  # fmt: skip
REVERT_ASSET_VERSION = Route(
    "POST", f"{ASSET_PATH}/revertAssetVersion/{{assetVersionId}}", "asset_versions",
    "revert_asset_version", "Bring an older version back, as a new one", "asset",
)  # fmt: skip
COMPARE_ASSET_VERSIONS = Route(
    "GET", f"{ASSET_PATH}/compareVersions", "asset_versions", "compare_asset_versions",
    "Tell what differs between two versions", "asset", ours=True,
)  # fmt: skip
ARCHIVE_ASSET_VERSION = Route(
    "POST", f"{ASSET_PATH}/assetversions/{{assetVersionId}}/archive", "asset_lifecycle",
    "archive_asset_version", "Archive a version; the current one takes its asset along", "asset",
)  # fmt: skip
UNARCHIVE_ASSET_VERSION = Route(
    "POST", f"{ASSET_PATH}/assetversions/{{assetVersionId}}/unarchive", "asset_lifecycle",
    "unarchive_asset_version", "Bring an archived version back, and its asset with it", "asset",
)  # fmt: skip

LIST_FILES = Route(
    "GET", f"{ASSET_PATH}/listFiles", "files", "list_files", "List the files of an asset", "asset"
)
GET_FILE = Route("GET", f"{ASSET_PATH}/fileInfo", "files", "get_file", "Describe a file", "asset")
CREATE_FOLDER = Route(
    "POST", f"{ASSET_PATH}/createFolder", "files", "create_folder", "Create a folder", "asset"
)
MOVE_FILE = Route(
    "POST", f"{ASSET_PATH}/moveFile", "files", "move_file",
    "Move a file within its asset, with all that belongs to it", "asset",
)  # fmt: skip
COPY_FILE = Route(
    "POST", f"{ASSET_PATH}/copyFile", "files", "copy_file",
    "Copy a file, also to another asset or database, with all that belongs to it", "asset",
    tier2="GET",
)  # fmt: skip
ARCHIVE_FILE = Route(
    "DELETE", f"{ASSET_PATH}/archiveFile", "files", "archive_file",
    "Archive a file or a folder of files", "asset", tier2="POST",
)  # fmt: skip
UNARCHIVE_FILE = Route(
    "POST", f"{ASSET_PATH}/unarchiveFile", "files", "unarchive_file",
    "Bring an archived file back", "asset",
)  # fmt: skip
DELETE_FILE = Route(
    "DELETE", f"{ASSET_PATH}/deleteFile", "files", "delete_file",
    "Delete a file or a folder of files for good, with all that belongs to them", "asset",
    tier2="POST",
)  # fmt: skip
REVERT_FILE_VERSION = Route(
    "POST", f"{ASSET_PATH}/revertFileVersion/{{versionId}}", "files", "revert_file_version",
    "Make an old version of a file its newest one", "asset",
)  # fmt: skip
SET_PRIMARY_FILE = Route(
    "PUT", f"{ASSET_PATH}/setPrimaryFile", "files", "set_primary_file",
    "Say what a file is to its asset", "asset", tier2="POST",
)  # fmt: skip
DELETE_ASSET_PREVIEW = Route(
    "DELETE", f"{ASSET_PATH}/deleteAssetPreview", "files", "delete_asset_preview",
    "Delete the preview of an asset", "asset", tier2="POST",
)  # fmt: skip
DELETE_AUXILIARY_FILES = Route(
    "DELETE", f"{ASSET_PATH}/deleteAuxiliaryPreviewAssetFiles", "files",
    "delete_auxiliary_files", "Delete what viewers and pipelines made of a file", "asset",
    tier2="POST",
)  # fmt: skip

INITIALISE_UPLOAD = Route(
    "POST", "/uploads", "uploads", "initialise_upload", "Start an upload", "asset"
)
COMPLETE_UPLOAD = Route(
    "POST", "/uploads/{uploadId}/complete", "uploads", "complete_upload", "Finish an upload",
    "asset",
)  # fmt: skip
RENEW_UPLOAD = Route(
    "POST", "/uploads/{uploadId}/renew", "uploads", "renew_upload",
    "Go on with an upload: fresh URLs, and the parts that are there", "asset", ours=True,
)  # fmt: skip
GET_UPLOAD = Route(
    "GET", "/uploads/{uploadId}", "uploads", "get_upload",
    "What has become of the files of an upload", "asset", tier2="POST", ours=True,
)  # fmt: skip
ABORT_UPLOAD = Route(
    "DELETE", "/uploads/{uploadId}", "uploads", "abort_upload", "Give an upload up",
    "asset", tier2="POST", ours=True,
)  # fmt: skip

INGEST_ASSET = Route(
    "POST", "/ingest-asset", "ingest", "ingest_asset",
    "Make an asset and start the upload of its files, or finish that", "asset",
)  # fmt: skip

DOWNLOAD = Route(
    "POST", f"{ASSET_PATH}/download", "downloads", "get_download_url",
    "Get a presigned URL of a file or preview", "asset", tier2="GET", statuses=(410,),
)  # fmt: skip

STREAMED = (206, 304, 307, 410, 416)
STREAM_FILE = Route(
    "GET", f"{ASSET_PATH}/download/stream/{{proxy+}}", "downloads", "stream_file",
    "Get the bytes of a file, or a redirect to them", "asset", statuses=STREAMED,
)  # fmt: skip
HEAD_FILE = Route(
    "HEAD", f"{ASSET_PATH}/download/stream/{{proxy+}}", "downloads", "head_file",
    "Get size and type of a file", "asset", statuses=(304, 410),
)  # fmt: skip
STREAM_AUXILIARY_FILE = Route(
    "GET", f"{ASSET_PATH}/auxiliaryPreviewAssets/stream/{{proxy+}}", "downloads",
    "stream_auxiliary_file", "Get the bytes of a viewer's file, or a redirect to them", "asset",
    statuses=STREAMED,
)  # fmt: skip
HEAD_AUXILIARY_FILE = Route(
    "HEAD", f"{ASSET_PATH}/auxiliaryPreviewAssets/stream/{{proxy+}}", "downloads",
    "head_auxiliary_file", "Get size and type of a viewer's file", "asset", statuses=(304, 410),
)  # fmt: skip

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
)  # fmt: skip
UPDATE_ASSET_METADATA = Route(
    "PUT", f"{ASSET_PATH}/metadata", "metadata", "update_asset_metadata",
    "Change or replace the metadata of an asset", "asset",
)  # fmt: skip
DELETE_ASSET_METADATA = Route(
    "DELETE", f"{ASSET_PATH}/metadata", "metadata", "delete_asset_metadata",
    "Remove metadata from an asset", "asset",
)  # fmt: skip
GET_FILE_METADATA = Route(
    "GET", f"{ASSET_PATH}/metadata/file", "metadata", "list_file_metadata",
    "List the metadata or attributes of a file", "asset",
)  # fmt: skip
CREATE_FILE_METADATA = Route(
    "POST", f"{ASSET_PATH}/metadata/file", "metadata", "create_file_metadata",
    "Add metadata or attributes to a file", "asset",
)  # fmt: skip
UPDATE_FILE_METADATA = Route(
    "PUT", f"{ASSET_PATH}/metadata/file", "metadata", "update_file_metadata",
    "Change or replace the metadata or attributes of a file", "asset",
)  # fmt: skip
DELETE_FILE_METADATA = Route(
    "DELETE", f"{ASSET_PATH}/metadata/file", "metadata", "delete_file_metadata",
    "Remove metadata or attributes from a file", "asset",
)  # fmt: skip

CREATE_LINK = Route(
    "POST", "/asset-links", "asset_links", "create_link", "Link two assets", "asset"
)
GET_LINK = Route(
    "GET", "/asset-links/single/{assetLinkId}", "asset_links", "get_link", "Get an asset link",
    "asset",
)  # fmt: skip
LIST_LINKS = Route(
    "GET", f"{ASSET_PATH}/asset-links", "asset_links", "list_links",
    "List what an asset is linked to, or the tree below it", "asset",
)  # fmt: skip
UPDATE_LINK = Route(
    "PUT", "/asset-links/{assetLinkId}", "asset_links", "update_link",
    "Change the alias or the tags of an asset link", "asset",
)  # fmt: skip
DELETE_LINK = Route(
    "DELETE", "/asset-links/{relationId}", "asset_links", "delete_link",
    "Delete an asset link with its metadata", "asset",
)  # fmt: skip

GET_LINK_METADATA = Route(
    "GET", "/asset-links/{assetLinkId}/metadata", "asset_links", "list_asset_link_metadata",
    "List the metadata of an asset link", "asset",
)  # fmt: skip
CREATE_LINK_METADATA = Route(
    "POST", "/asset-links/{assetLinkId}/metadata", "asset_links", "create_asset_link_metadata",
    "Add metadata to an asset link", "asset",
)  # fmt: skip
UPDATE_LINK_METADATA = Route(
    "PUT", "/asset-links/{assetLinkId}/metadata", "asset_links", "update_asset_link_metadata",
    "Change or replace the metadata of an asset link", "asset",
)  # fmt: skip
DELETE_LINK_METADATA = Route(
    "DELETE", "/asset-links/{assetLinkId}/metadata", "asset_links", "delete_asset_link_metadata",
    "Remove metadata from an asset link", "asset",
)  # fmt: skip

EXPORT_ASSETS = Route(
    "POST", f"{ASSET_PATH}/export", "exports", "export_assets",
    "Export an asset, or the tree below it, with files, metadata and links", "asset", tier2="GET",
)  # fmt: skip

LIST_API_KEYS = Route(
    "GET", "/auth/api-keys", "access", "list_api_keys", "List the API keys", "apiKey"
)
CREATE_API_KEY = Route(
    "POST", "/auth/api-keys", "access", "create_api_key", "Create an API key", "apiKey"
)
GET_API_KEY = Route(
    "GET", "/auth/api-keys/{apiKeyId}", "access", "get_api_key", "Get an API key", "apiKey"
)
UPDATE_API_KEY = Route(
    "PUT", "/auth/api-keys/{apiKeyId}", "access", "update_api_key", "Change an API key", "apiKey"
)
DELETE_API_KEY = Route(
    "DELETE", "/auth/api-keys/{apiKeyId}", "access", "delete_api_key", "Delete an API key",
    "apiKey",
)  # fmt: skip

LIST_ROLES = Route("GET", "/roles", "access", "list_roles", "List the roles", "role")
CREATE_ROLE = Route("POST", "/roles", "access", "create_role", "Create a role", "role")
UPDATE_ROLE = Route("PUT", "/roles", "access", "update_role", "Change a role", "role")
DELETE_ROLE = Route(
    "DELETE", "/roles/{roleId}", "access", "delete_role",
    "Delete a role and take it from all users", "role",
)  # fmt: skip
LIST_USER_ROLES = Route(
    "GET", "/user-roles", "access", "list_user_roles", "List who has which roles", "userRole"
)
ADD_USER_ROLES = Route(
    "POST", "/user-roles", "access", "add_user_roles", "Give a user further roles", "userRole"
)
SET_USER_ROLES = Route(
    "PUT", "/user-roles", "access", "set_user_roles", "Give a user exactly these roles", "userRole"
)
DELETE_USER_ROLES = Route(
    "DELETE", "/user-roles", "access", "delete_user_roles", "Take all roles from a user", "userRole"
)
LIST_ALLOWED_ROUTES = Route(
    "POST", "/auth/routes", "access", "list_allowed_routes",
    "Which pages of the web application the caller may see", open_to_users=True,
)  # fmt: skip
GET_LOGIN_PROFILE = Route(
    "GET", "/auth/loginProfile/{userId}", "access", "get_login_profile",
    "Get the caller's own profile", open_to_users=True,
)  # fmt: skip
UPDATE_LOGIN_PROFILE = Route(
    "POST", "/auth/loginProfile/{userId}", "access", "update_login_profile",
    "Make the caller's own profile, or bring it up to date", open_to_users=True,
)  # fmt: skip
LIST_COGNITO_USERS = Route(
    "GET", "/user/cognito", "access", "list_cognito_users", "List the users who can sign in",
    "userRole",
)  # fmt: skip
CREATE_COGNITO_USER = Route(
    "POST", "/user/cognito", "access", "create_cognito_user", "Let a user sign in", "userRole"
)
UPDATE_COGNITO_USER = Route(
    "PUT", "/user/cognito/{userId}", "access", "update_cognito_user",
    "Change the address or number of a user who can sign in", "userRole",
)  # fmt: skip
DELETE_COGNITO_USER = Route(
    "DELETE", "/user/cognito/{userId}", "access", "delete_cognito_user",
    "Let a user sign in no more", "userRole",
)  # fmt: skip
RESET_COGNITO_PASSWORD = Route(
    "POST", "/user/cognito/{userId}/resetPassword", "access", "reset_cognito_password",
    "Have a user choose a new password", "userRole",
)  # fmt: skip

LIST_COMMENTS = Route(
    "GET", "/comments/assets/{assetId}", "comments", "list_comments",
    "List the comments on an asset", "asset",
)  # fmt: skip
LIST_VERSION_COMMENTS = Route(
    "GET", "/comments/assets/{assetId}/assetVersionId/{assetVersionId}", "comments",
    "list_version_comments", "List the comments on a version of an asset", "asset",
)  # fmt: skip
_COMMENT_PATH = "/comments/assets/{assetId}/assetVersionId:commentId/{assetVersionId:commentId}"
GET_COMMENT = Route("GET", _COMMENT_PATH, "comments", "get_comment", "Get a comment", "asset")
CREATE_COMMENT = Route(
    "POST", _COMMENT_PATH, "comments", "create_comment", "Comment on a version of an asset", "asset"
)
UPDATE_COMMENT = Route(
    "PUT", _COMMENT_PATH, "comments", "update_comment", "Change a comment of one's own", "asset"
)
DELETE_COMMENT = Route(
    "DELETE", _COMMENT_PATH, "comments", "delete_comment", "Delete a comment of one's own", "asset"
)

LIST_SUBSCRIPTIONS = Route(
    "GET", "/subscriptions", "subscriptions", "list_subscriptions",
    "List who is told of changes of which assets", "asset",
)  # fmt: skip
CREATE_SUBSCRIPTION = Route(
    "POST", "/subscriptions", "subscriptions", "create_subscription",
    "Have further users told of changes of an asset", "asset",
)  # fmt: skip
UPDATE_SUBSCRIPTION = Route(
    "PUT", "/subscriptions", "subscriptions", "update_subscription",
    "Have exactly these users told of changes of an asset", "asset",
)  # fmt: skip
DELETE_SUBSCRIPTION = Route(
    "DELETE", "/subscriptions", "subscriptions", "delete_subscription",
    "Have nobody told of changes of an asset", "asset",
)  # fmt: skip
UNSUBSCRIBE = Route(
    "DELETE", "/unsubscribe", "subscriptions", "unsubscribe",
    "Have users told of changes of an asset no more", "asset", tier2="POST",
)  # fmt: skip
CHECK_SUBSCRIPTION = Route(
    "POST", "/check-subscription", "subscriptions", "check_subscription",
    "Whether a user is told of changes of an asset", "asset", tier2="GET",
)  # fmt: skip

GET_JOB = Route("GET", "/jobs/{jobId}", "jobs", "get_job", "Get the state of long work", ours=True)
CANCEL_JOB = Route(
    "POST", "/jobs/{jobId}/cancel", "jobs", "cancel_job", "Stop long work", ours=True
)
RESUME_JOB = Route(
    "POST", "/jobs/{jobId}/resume", "jobs", "resume_job",
    "Have long work go on that failed or was stopped", ours=True,
)  # fmt: skip

LIST_AUDIT_ENTRIES = Route(
    "GET", "/audit", "audit", "list_audit_entries",
    "List what was changed about something, or by someone", "audit", ours=True,
)  # fmt: skip
GET_AUDIT_VALUE = Route(
    "GET", "/audit/values/{valueHash}", "audit", "get_audit_value",
    "Get a value that is too large for an audit entry", "audit", ours=True,
)  # fmt: skip

GET_SEARCH_MAPPINGS = Route(
    "GET", "/search", "search", "get_mappings", "The mappings of both search indexes"
)
SEARCH = Route("POST", "/search", "search", "search", "Search assets and files", tier2="GET")
SEARCH_SIMPLE = Route(
    "POST", "/search/simple", "search", "search_simple", "Search by named fields", tier2="GET"
)

LIST_FAILURES = Route(
    "GET", "/admin/failures", "operations", "list_failures",
    "List what could not be indexed, or was given up", "failure", ours=True,
)  # fmt: skip
GET_FAILURE = Route(
    "GET", "/admin/failures/entry", "operations", "get_failure",
    "Show a failure with its body", "failure", ours=True,
)  # fmt: skip
REPLAY_FAILURES = Route(
    "POST", "/admin/failures/replay", "operations", "replay_failures",
    "Replay failures, by key, all of a consumer, or all", "failure", ours=True,
)  # fmt: skip
LIST_QUEUES = Route(
    "GET", "/admin/queues", "operations", "list_queues",
    "List the queues with their depths and dead letters", "queue", ours=True,
)  # fmt: skip
REDRIVE_QUEUE = Route(
    "POST", "/admin/queues/{queueName}/redrive", "operations", "redrive_queue",
    "Move the dead letters of a queue back into it", "queue", ours=True,
)  # fmt: skip

ROUTES: tuple[Route, ...] = tuple(value for value in globals().values() if isinstance(value, Route))
