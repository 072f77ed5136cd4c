"""The shape of a route declaration. The routes themselves stand in the modules beside this one."""

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
"""Groups of routes whose rates a deployment can limit apart from the others: searches, exports,
what a web client requests when a user signs in, and routes that need no credentials."""

IF_MATCH = "If-Match"
ETAG = "ETag"
ASSET_PATH = "/database/{databaseId}/assets/{assetId}"


class Touched(NamedTuple):
    """Documents of the search indexes that a route's write changes: an asset's, or files' of it.

    Each place is `path.<parameter>`, `body.<field>`, `reply.<field>` or `told.<field>`; of places
    joined by `|` the first counts that is given. `below_asset`: the paths begin with the asset's
    id. `records`: metadata or attributes are written. `at_once`: it is changed at once also where
    a job goes on with the rest.
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

    `name` is the service's verb; `public` routes need no credentials; those `open_to_users` need no
    permission beside them; `ours` marks routes beyond the VAMS contract, which refuse unknown body
    fields instead of ignoring them. `statuses` are those that a route answers with beside the ones
    that follow from its parameters. It `touches` documents of the search indexes, which its reply
    names in a token; one that `awaits` takes such a token. It `reads` these headers of a request,
    and `tells` these where it succeeds. `throttle` is the group whose limit of requests it has.
    With `empty_not_found` the message of its 404 is an empty object, as in the contract.
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
    touches: tuple[Touched, ...] = ()
    awaits: bool = False
    reads: tuple[str, ...] = ()
    tells: tuple[str, ...] = ()
    throttle: ThrottleGroup | None = None
    empty_not_found: bool = False

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
