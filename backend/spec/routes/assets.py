"""Routes of assets, their links, versions, exports, comments and subscriptions."""

from backend.spec.routes.model import ASSET_PATH, ETAG, IF_MATCH, Route, SyncTarget

_ASSET = (SyncTarget(),)

CREATE_ASSET = Route(
    "POST", "/assets", "assets", "create_asset", "Create an asset", "asset", tier2="PUT",
    writes_documents=(SyncTarget("body.databaseId", "reply.assetId"),),
    response_headers=(ETAG,),
)  # fmt: skip
LIST_ALL_ASSETS = Route(
    "GET", "/assets", "assets", "list_all_assets", "List the assets of all databases", "asset"
)
LIST_ASSETS = Route(
    "GET", "/database/{databaseId}/assets", "assets", "list_assets",
    "List the assets of a database", "asset",
)  # fmt: skip
GET_ASSET = Route(
    "GET", ASSET_PATH, "assets", "get_asset", "Get an asset", "asset", response_headers=(ETAG,)
)  # fmt: skip
UPDATE_ASSET = Route(
    "PUT", ASSET_PATH, "assets", "update_asset", "Change an asset", "asset",
    writes_documents=_ASSET,
    reads=(IF_MATCH,),
    response_headers=(ETAG,),
)  # fmt: skip
ARCHIVE_ASSET = Route(
    "DELETE", f"{ASSET_PATH}/archiveAsset", "asset_lifecycle", "archive_asset",
    "Archive an asset and its files", "asset",
    writes_documents=(SyncTarget(at_once=True),),
    reads=(IF_MATCH,),
)  # fmt: skip
UNARCHIVE_ASSET = Route(
    "PUT", f"{ASSET_PATH}/unarchiveAsset", "asset_lifecycle", "unarchive_asset",
    "Restore an archived asset and the files archived with it", "asset",
    writes_documents=(SyncTarget(at_once=True),),
    reads=(IF_MATCH,),
)  # fmt: skip
DELETE_ASSET = Route(
    "DELETE", f"{ASSET_PATH}/deleteAsset", "asset_lifecycle", "delete_asset",
    "Permanently delete an asset with its files and metadata", "asset",
    writes_documents=(SyncTarget(at_once=True),),
    reads=(IF_MATCH,),
)  # fmt: skip
LIST_ASSET_HISTORY = Route(
    "GET", f"{ASSET_PATH}/assetHistory", "assets", "list_asset_history",
    "List the changes of an asset, newest first", "asset",
    later=True,
)  # fmt: skip
CREATE_ASSET_VERSION = Route(
    "POST", f"{ASSET_PATH}/createVersion", "asset_versions", "create_asset_version",
    "Create a version of an asset", "asset",
    writes_documents=_ASSET,
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
    writes_documents=_ASSET,
)  # fmt: skip
REVERT_ASSET_VERSION = Route(
    "POST", f"{ASSET_PATH}/revertAssetVersion/{{assetVersionId}}", "asset_versions",
    "revert_asset_version", "Restore an older version as a new version", "asset",
)  # fmt: skip
COMPARE_ASSET_VERSIONS = Route(
    "GET", f"{ASSET_PATH}/compareVersions", "asset_versions", "compare_asset_versions",
    "Compare two versions of an asset", "asset", ours=True,
)  # fmt: skip
ARCHIVE_ASSET_VERSION = Route(
    "POST", f"{ASSET_PATH}/assetversions/{{assetVersionId}}/archive", "asset_lifecycle",
    "archive_asset_version", "Archive a version; for the current one, also the asset", "asset",
    writes_documents=(SyncTarget(at_once=True),),
)  # fmt: skip
UNARCHIVE_ASSET_VERSION = Route(
    "POST", f"{ASSET_PATH}/assetversions/{{assetVersionId}}/unarchive", "asset_lifecycle",
    "unarchive_asset_version", "Restore an archived version, and its asset if archived", "asset",
    writes_documents=(SyncTarget(at_once=True),),
)  # fmt: skip
CREATE_LINK = Route(
    "POST", "/asset-links", "asset_links", "create_link", "Link two assets", "asset",
    writes_documents=(
        SyncTarget("body.fromAssetDatabaseId", "body.fromAssetId"),
        SyncTarget("body.toAssetDatabaseId", "body.toAssetId"),
    ),
)  # fmt: skip
GET_LINK = Route(
    "GET", "/asset-links/single/{assetLinkId}", "asset_links", "get_link", "Get an asset link",
    "asset",
)  # fmt: skip
LIST_LINKS = Route(
    "GET", f"{ASSET_PATH}/asset-links", "asset_links", "list_links",
    "List the assets linked to an asset, or the tree below it", "asset",
)  # fmt: skip
UPDATE_LINK = Route(
    "PUT", "/asset-links/{assetLinkId}", "asset_links", "update_link",
    "Change the alias or the tags of an asset link", "asset",
)  # fmt: skip
DELETE_LINK = Route(
    "DELETE", "/asset-links/{relationId}", "asset_links", "delete_link",
    "Delete an asset link with its metadata", "asset",
    writes_documents=(
        SyncTarget("changed.fromAssetDatabaseId", "changed.fromAssetId"),
        SyncTarget("changed.toAssetDatabaseId", "changed.toAssetId"),
    ),
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
    statuses=(303,), throttle="export",
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
    "PUT",
    _COMMENT_PATH,
    "comments",
    "update_comment",
    ("Change one of the caller's own comments"),
    "asset",
)
DELETE_COMMENT = Route(
    "DELETE",
    _COMMENT_PATH,
    "comments",
    "delete_comment",
    ("Delete one of the caller's own comments"),
    "asset",
)
LIST_SUBSCRIPTIONS = Route(
    "GET", "/subscriptions", "subscriptions", "list_subscriptions",
    "List subscriptions", "asset",
)  # fmt: skip
CREATE_SUBSCRIPTION = Route(
    "POST", "/subscriptions", "subscriptions", "create_subscription",
    "Subscribe users to an asset", "asset",
)  # fmt: skip
UPDATE_SUBSCRIPTION = Route(
    "PUT", "/subscriptions", "subscriptions", "update_subscription",
    "Replace the subscribers of an asset", "asset",
)  # fmt: skip
DELETE_SUBSCRIPTION = Route(
    "DELETE", "/subscriptions", "subscriptions", "delete_subscription",
    "Delete all subscriptions to an asset", "asset",
)  # fmt: skip
UNSUBSCRIBE = Route(
    "DELETE", "/unsubscribe", "subscriptions", "unsubscribe",
    "Unsubscribe users from an asset", "asset", tier2="POST",
)  # fmt: skip
CHECK_SUBSCRIPTION = Route(
    "POST", "/check-subscription", "subscriptions", "check_subscription",
    "Get whether a user is subscribed to an asset", "asset", tier2="GET",
)  # fmt: skip
