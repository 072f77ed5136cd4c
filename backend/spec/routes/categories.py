"""The categories in which clients of VAMS 2.6 group routes."""

from backend.spec.routes.model import Route

_OF_PATHS = {
    "/auth/api-keys": "apiKeys",
    "/auth/user/api-keys": "apiKeys",
    "/roles": "roles",
    "/user-roles": "userRoles",
    "/user/cognito": "users",
    "/tag-types": "tagTypes",
}
_OF_DOMAINS = {
    "access": "auth",
    "asset_lifecycle": "assets",
    "asset_links": "assetLinks",
    "asset_versions": "assetVersions",
    "buckets": "databases",
    "bucket_sync": "databases",
    "configuration": "config",
    "downloads": "assetFiles",
    "executions": "workflows",
    "exports": "assets",
    "facts": "assetFiles",
    "files": "assetFiles",
    "ingest": "uploads",
    "metadata_schemas": "metadataSchema",
}
_AS_NAMED = frozenset(
    [
        "assets",
        "comments",
        "databases",
        "metadata",
        "pipelines",
        "search",
        "subscriptions",
        "tags",
        "uploads",
        "workflows",
    ]
)


def category_of(route: Route) -> str:
    """Return the category of a route; `addons` for domains that VAMS does not have."""
    for path, category in _OF_PATHS.items():
        if route.path == path or route.path.startswith(f"{path}/"):
            return category
    if route.domain in _AS_NAMED:
        return route.domain
    return _OF_DOMAINS.get(route.domain, "addons")
