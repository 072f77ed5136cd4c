"""The connections between resources that the runtime serves once all of them are created.

The modules in `resources/` fill the plan; the gateway and the pumps read it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue

Object = dict[str, JsonValue]


@dataclass(frozen=True)
class Source:
    """The common part of all event source mappings."""

    id: str
    function: str
    batch_size: int
    window: float
    filters: tuple[str, ...]
    reports_failures: bool


@dataclass(frozen=True)
class StreamMapping(Source):
    """A table's stream to a function.

    `maximum_retries` is None if a record is retried until it expires.
    """

    stream_arn: str
    from_start: bool
    bisects: bool
    maximum_retries: int | None
    maximum_age: float | None
    on_failure: str | None


@dataclass(frozen=True)
class QueueMapping(Source):
    """A queue to a function."""

    queue_arn: str
    concurrency: int | None


@dataclass(frozen=True)
class Queue:
    """A queue of the engine."""

    name: str
    arn: str
    url: str
    attributes: Mapping[str, str]
    dead_letters: str | None


@dataclass(frozen=True)
class Target:
    """A target of a rule."""

    id: str
    arn: str
    input: str | None
    input_path: str | None


@dataclass(frozen=True)
class Rule:
    """An EventBridge rule: a pattern over events, or a schedule."""

    id: str
    arn: str
    pattern: str | None
    schedule: str | None
    targets: tuple[Target, ...]


@dataclass(frozen=True)
class Bucket:
    """A bucket, and whether its events are sent to EventBridge."""

    name: str
    sends_events: bool


@dataclass(frozen=True)
class StateMachine:
    """A state machine in its engine."""

    name: str
    arn: str
    role: str
    definition: str


@dataclass(frozen=True)
class Cors:
    """The CORS settings of an API."""

    origins: tuple[str, ...]
    methods: tuple[str, ...]
    headers: tuple[str, ...]
    exposed: tuple[str, ...]
    credentials: bool
    max_age: int | None


@dataclass(frozen=True)
class Authorizer:
    """A Lambda authorizer with simple responses."""

    id: str
    function: str
    identity_sources: tuple[str, ...]
    cache_seconds: float


@dataclass(frozen=True)
class Route:
    """A route of the HTTP API."""

    key: str
    integration: str
    authorizer: str | None


@dataclass(frozen=True)
class Integration:
    """A function behind routes."""

    function: str
    timeout: float


@dataclass
class Api:
    """One HTTP API, filled in the order in which the template's resources are created."""

    id: str
    name: str
    cors: Cors | None
    routes: list[Route] = field(default_factory=list[Route])
    integrations: dict[str, Integration] = field(default_factory=dict[str, Integration])
    authorizers: dict[str, Authorizer] = field(default_factory=dict[str, Authorizer])
    stages: list[str] = field(default_factory=list[str])


@dataclass
class Plan:
    """Everything that is served or pumped."""

    streams: list[StreamMapping] = field(default_factory=list[StreamMapping])
    queue_mappings: list[QueueMapping] = field(default_factory=list[QueueMapping])
    queues: dict[str, Queue] = field(default_factory=dict[str, Queue])
    rules: list[Rule] = field(default_factory=list[Rule])
    buckets: list[Bucket] = field(default_factory=list[Bucket])
    user_pools: list[tuple[str, str, list[str]]] = field(
        default_factory=list[tuple[str, str, list[str]]]
    )
    """The name and the id of each user pool, and the names of its clients."""

    state_machines: list[StateMachine] = field(default_factory=list[StateMachine])
    topics: list[str] = field(default_factory=list[str])
    apis: dict[str, Api] = field(default_factory=dict[str, Api])
    layers: dict[str, str] = field(default_factory=dict[str, str])
    outputs: dict[str, JsonValue] = field(default_factory=dict[str, JsonValue])

    def dead_letter_queues(self) -> frozenset[str]:
        """Return the ARNs of the queues that others use for dead letters."""
        return frozenset(q.dead_letters for q in self.queues.values() if q.dead_letters)

    def http_api(self) -> Api | None:
        """Return the API that the gateway serves; there is at most one."""
        return next(iter(self.apis.values()), None)

    def web_origins(self) -> frozenset[str]:
        """Return the origins of the web application, by the API's CORS settings."""
        api = self.http_api()
        return frozenset(api.cors.origins if api and api.cors else ()) - {"*"}
