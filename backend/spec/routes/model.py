"""The class of route declarations. The routes are declared in the other modules of this package."""

import re
from typing import Literal, NamedTuple

from backend.values import frozen

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
    "searchIndex",
    "audit",
    "role",
    "userRole",
    "constraint",
    "metadataSchema",
    "pipeline",
    "workflow",
    "none",
]

ThrottleGroup = Literal["search", "export", "signIn", "public"]
"""Groups of routes with rate limits of their own: searches, exports, the requests of a web client
at sign-in, and routes without credentials."""

IF_MATCH = "If-Match"
ETAG = "ETag"
ASSET_PATH = "/database/{databaseId}/assets/{assetId}"


NARROWING = frozenset(
    {
        *("databaseId", "assetId", "assetVersionId", "assetVersionIdAlias", "versionId"),
        *("assetName", "assetType", "tags", "tagName", "tagTypeName", "scope", "bucketId"),
        *("filePath", "fileKey", "fileExtension", "key", "prefix", "filters", "query", "q"),
        *("metadataKey", "metadataValue", "metadataQuery", "metadataFilters", "geoSearch"),
        *("metadataEntityType", "metadataSchemaEntityType", "metadataSchemaName"),
        *("metadataSchemaId", "pipelineId", "pipelineType", "pipelineExecutionType"),
        *("workflowId", "workflowDatabaseId", "executionId", "hasTriggers", "triggerType"),
        *("triggeredByUserId", "groupId", "status", "filterStartDate", "filterEndDate"),
        *("from", "to", "at", "userId", "ofUserId", "roleName", "entity", "entityTypes"),
        *("consumer", "objectType", "jobId", "uploadId", "apiKeyId", "constraintId"),
        *("assetLinkId", "queueName", "roleId", "tagId", "tagTypeId", "relationId", "extension"),
        *("createdAfter", "createdBefore", "modifiedAfter", "modifiedBefore"),
    }
)
"""Fields that narrow what a request reads, of this API or of later versions of VAMS. A route that
reads and does not have one refuses it, in every form (`form_of`): without it, the reply would
contain more than its caller means. A route that writes refuses other forms of those it has."""


def form_of(name: str) -> str:
    """Return what the forms of a field's name share: `databaseId`, `database-ids`, `databases`."""
    letters = re.sub(r"[\W_]", "", name.lower())
    stem = re.sub("ies$", "y", re.sub("(?<=.)(?:id|name)s?$", "", letters))
    # Of `status` and `statuses`, `type` and `types`, `prefix` and `prefixes`.
    return re.sub("s?e?s?$", "", stem)


NARROWING_FORMS = frozenset(map(form_of, NARROWING))


class SyncTarget(NamedTuple):
    """Search documents that a route's write changes: those of an asset, or of files of an asset.

    `database`, `asset` and `file` are the places of the ids and of the file's path:
    `path.<parameter>`, `body.<field>`, `reply.<field>` or `changed.<field>`. Of places joined by
    `|`, the first that has a value counts. `below_asset`: paths begin with the asset's id.
    `records`: metadata or attributes are written. `at_once`: this document is changed before the
    reply, even if a job continues the work.
    """

    database: str = "path.databaseId"
    asset: str = "path.assetId"
    file: str | None = None
    below_asset: bool = False
    records: bool = False
    at_once: bool = False


@frozen
class Route:
    """One route.

    `name` is the method of the service. `public` routes need no credentials; those that are
    `open_to_users` need credentials, but no permission. `ours` marks routes that VAMS does not
    have; they refuse unknown body fields instead of ignoring them. `statuses` are possible statuses
    besides those that follow from the parameters. `writes_documents` are the search documents that
    the reply's sync token names; a route that `awaits` accepts such a token. The route `reads`
    these request headers, and a successful reply has these `response_headers`. `throttle` is the
    group whose rate limit applies. With `empty_not_found`, the message of a 404 is an empty object,
    as in the contract. The caller must also have permission for one of the routes `also_one_of`.
    Each part of a request to a route with `parts` is a request to one of these routes, with the
    permissions and audit entries of that route.
    Routes of a `later` version of VAMS are declared as such. `aliases` are further paths, for
    clients that put the path of the API before a route's.
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
    later: bool = False
    open_to_users: bool = False
    statuses: tuple[int, ...] = ()
    writes_documents: tuple[SyncTarget, ...] = ()
    awaits: bool = False
    reads: tuple[str, ...] = ()
    response_headers: tuple[str, ...] = ()
    throttle: ThrottleGroup | None = None
    empty_not_found: bool = False
    also_one_of: tuple["Route", ...] = ()
    parts: tuple["Route", ...] = ()
    aliases: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """Return the route key as API Gateway writes it: `GET /database/{databaseId}`."""
        return f"{self.method} {self.path}"

    @property
    def action(self) -> Action:
        """Return the permission that tier 2 requires."""
        if self.tier2 is not None:
            return self.tier2
        return "GET" if self.method == "HEAD" else self.method
