"""The declaration of a function, and the common form of those behind the API."""

from typing import Literal

from backend.spec import queues
from backend.spec.buckets import Bucket
from backend.spec.functions.request_parts import CALLER, Requests
from backend.spec.queues import Queue
from backend.spec.secrets import Secret
from backend.spec.settings import (
    API_ONLY_THROUGH_PAGE,
    AUDIT_DAYS,
    DEFAULT_USER_ROLE,
    Setting,
)
from backend.spec.tables import operations
from backend.spec.tables.model import Table
from backend.spec.topics import Topic
from backend.values import frozen

Kind = Literal[
    "api",
    "consumer",
    "authorizer",
    "bootstrap",
    "scheduled",
    "pipeline",
    "output",
    "reader",
    "probe",
]
"""A `pipeline` is called by the state machine of executions, an `output` after all pipelines, a
`reader` by a pipeline."""
Packages = Literal["inspect", "inspect-cad", "inspect-ifc", "inspect-usd", "inspect-media"]
"""A dependency layer: the dependency group in `pyproject.toml` that it holds."""
SearchAccess = Literal["none", "inspect", "query", "read", "write", "sweep", "manage", "renew"]
"""Access to the search domain. `none`; `inspect` reads mappings; `query` sends single queries;
`read` adds queries by pages, and mappings; `write` writes documents; `sweep` finds and removes
tombstones; `manage` creates indexes and aliases; `renew` combines all of these, and removes
indexes."""
ActsFor = Literal["callers", "itself", "both"]
"""The permissions that count. For itself, a function may do everything, and users nothing."""
RunRequest = Literal["start", "stop", "describe", "steps"]
UserPoolAccess = Literal["none", "known", "read", "administered"]
"""Access to the Cognito user pool. `known`: the function learns whether there is a pool, and its
id; `read`: it reads single users; `administered`: it creates and deletes users."""


@frozen
class Function:
    """One Lambda function; `uses` are its requests to tables and buckets: exactly its grants.

    `up --record-grants FILE` and `local grants FILE` report unused grants; the local runtime
    refuses missing ones. Tables that grow with assets or files are never scanned.
    `rewrites` are those of its `secrets` whose values it may change. `loops` is true if it sends
    messages to itself: Lambda stops loops that are not allowed after 16 rounds. `redrives` are
    queues whose dead letters it may move back. It `publishes` to topics, and `subscribes` addresses
    to them. Permissions for the user pool apply only if one is deployed. `runs` are its requests
    about executions of the state machine. `packages` is a dependency layer in addition to the one
    of all functions, `storage_mb` its temporary storage. It `calls` functions of its stack, if they
    are deployed, and waits for them. An instance of a function in `tenant_isolation` serves the
    calls of one tenant only. It `reads_quotas` of Lambda, but not from a network, which
    has no way there. It `acts_for` its callers, or for the users who started what it processes. It
    `publishes_events` on the bus, if there is one. Of the setting `EVENTS`, it is deployed
    `with_events` of these values; empty: all.
    """

    name: str
    kind: Kind
    handler: str
    description: str
    uses: Requests
    sends: tuple[Queue, ...] = ()
    redrives: tuple[Queue, ...] = ()
    publishes: tuple[Topic, ...] = ()
    subscribes: tuple[Topic, ...] = ()
    secrets: tuple[Secret, ...] = ()
    rewrites: tuple[Secret, ...] = ()
    settings: tuple[Setting, ...] = ()
    search: SearchAccess = "none"
    user_pool: UserPoolAccess = "none"
    domain: str | None = None
    memory_mb: int = 512
    # A second less than API Gateway waits for a reply; a request ends five seconds before it
    # (decision 39).
    timeout_seconds: int = 29
    loops: bool = False
    runs: tuple[RunRequest, ...] = ()
    packages: Packages | None = None
    # Lambda's default, which is free of charge.
    storage_mb: int = 512
    calls: tuple["Function", ...] = ()
    tenant_isolation: bool = False
    reads_quotas: bool = False
    acts_for: ActsFor = "callers"
    publishes_events: bool = False
    with_events: tuple[str, ...] = ()

    @property
    def tables(self) -> tuple[Table, ...]:
        return tuple(use for use in self.uses if isinstance(use, Table))

    @property
    def buckets(self) -> tuple[Bucket, ...]:
        return tuple(use for use in self.uses if isinstance(use, Bucket))

    @property
    def topics(self) -> tuple[Topic, ...]:
        return tuple(dict.fromkeys((*self.publishes, *self.subscribes)))

    @property
    def receives(self) -> tuple[Queue, ...]:
        """Return the queues whose messages it receives."""
        return tuple(s.source for s in queues.QUEUE_SUBSCRIPTIONS if s.consumer == self.name)


def api(
    name: str,
    domain: str,
    description: str,
    *,
    uses: Requests,
    secrets: tuple[Secret, ...] = (),
    settings: tuple[Setting, ...] = (),
    sends: tuple[Queue, ...] = (),
    search: SearchAccess = "none",
) -> Function:
    """Declare a function behind the HTTP API.

    It reads the caller's permissions and records refusals.
    """
    return Function(
        name,
        "api",
        f"backend.entrypoints.http.{domain}.handler",
        description,
        uses={**CALLER, operations.AUDIT: ("PutItem",), **uses},
        secrets=secrets,
        settings=(*settings, AUDIT_DAYS, API_ONLY_THROUGH_PAGE, DEFAULT_USER_ROLE),
        sends=sends,
        search=search,
        domain=domain,
        # Lambda gives processor time by memory, and callers wait for these functions.
        memory_mb=1024,
    )
