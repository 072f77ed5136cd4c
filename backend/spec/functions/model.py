"""The declaration of a function, and two common forms of it."""

from dataclasses import replace
from typing import Literal

from backend.spec import buckets, queues
from backend.spec.buckets import Bucket
from backend.spec.queues import Queue
from backend.spec.requests import (
    BUCKET_APPENDS,
    BUCKET_READS,
    BUCKET_WRITES,
    TABLE_APPENDS,
    TABLE_READS,
    TABLE_WRITES,
    Request,
)
from backend.spec.secrets import Secret
from backend.spec.settings import AUDIT_DAYS, AUDIT_READS, Setting
from backend.spec.tables import access, operations
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
Packages = Literal["inspect", "inspect-cad"]
"""A dependency layer: the dependency group in `pyproject.toml` that it holds."""
SearchAccess = Literal["none", "inspect", "query", "read", "write", "sweep", "manage", "renew"]
"""Mappings; a query; queries by pages, and mappings; documents written; tombstones found and
removed; indexes and aliases made; all of these, and indexes removed."""
RunRequest = Literal["start", "stop", "describe", "steps"]
UserPoolAccess = Literal["none", "known", "read", "administered"]
"""Whether there is a Cognito user pool, and which; one user read; users made and removed."""


@frozen
class Function:
    """One Lambda function; `writes` (tables and buckets) includes reading them.

    `appends` are tables and buckets to which it adds entries that it may neither read nor change.
    `rewrites` are those of its `secrets` whose values it may change. `loops` is true if it sends
    messages to itself: Lambda stops loops that are not allowed after 16 rounds. `redrives` are
    queues whose dead letters it may move back. It `publishes` to topics, and `subscribes` addresses
    to them. Permissions for the user pool apply only if one is deployed. `runs` are its requests
    about executions of the state machine. `packages` is a dependency layer in addition to the one
    of all functions, `storage_mb` its temporary storage. It `calls` functions of its stack, if they
    are deployed, and waits for them. An instance of a function in `tenant_isolation` serves the
    calls of one tenant only. It `reads_quotas` of Lambda, but not from a network, which
    has no way there.
    """

    name: str
    kind: Kind
    handler: str
    description: str
    reads: tuple[Table | Bucket, ...] = ()
    writes: tuple[Table | Bucket, ...] = ()
    appends: tuple[Table | Bucket, ...] = ()
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
    timeout_seconds: int = 29
    loops: bool = False
    runs: tuple[RunRequest, ...] = ()
    packages: Packages | None = None
    storage_mb: int = 512
    calls: tuple["Function", ...] = ()
    tenant_isolation: bool = False
    reads_quotas: bool = False

    @property
    def tables(self) -> tuple[Table, ...]:
        return tuple(r for r in self._used if isinstance(r, Table))

    @property
    def topics(self) -> tuple[Topic, ...]:
        return tuple(dict.fromkeys((*self.publishes, *self.subscribes)))

    @property
    def receives(self) -> tuple[Queue, ...]:
        """Return the queues whose messages it receives."""
        return tuple(s.source for s in queues.QUEUE_SUBSCRIPTIONS if s.consumer == self.name)

    @property
    def buckets(self) -> tuple[Bucket, ...]:
        return tuple(r for r in self._used if isinstance(r, Bucket))

    def requests(self, resource: Table | Bucket) -> tuple[Request, ...]:
        """Return the requests that it makes to one of its tables or buckets.

        Those of `REQUESTS`; where that has no entry, all that the declaration allows except scans.
        Scans must be declared, and tables that grow with assets or files are never scanned.
        """
        from backend.spec.functions.requests import REQUESTS  # noqa: PLC0415 - of templates only

        said = REQUESTS.get(self.name, {}).get(resource)
        if said is not None:
            return said
        reads, writes, appends = (
            _of_tables(resource) if isinstance(resource, Table) else _OF_BUCKETS
        )
        if resource in self.writes:
            return (*reads, *writes)
        return reads if resource in self.reads else appends

    @property
    def _used(self) -> tuple[Table | Bucket, ...]:
        return tuple(dict.fromkeys((*self.reads, *self.writes, *self.appends)))


_Requests = tuple[Request, ...]
_OF_BUCKETS: tuple[_Requests, _Requests, _Requests] = (BUCKET_READS, BUCKET_WRITES, BUCKET_APPENDS)


def _of_tables(table: Table) -> tuple[_Requests, _Requests, _Requests]:
    without: set[Request] = {"Scan"} if table.indexes else {"Scan", "QueryIndexes"}
    reads: _Requests = tuple(each for each in TABLE_READS if each not in without)
    return reads, TABLE_WRITES, TABLE_APPENDS


def api(
    name: str,
    domain: str,
    description: str,
    *,
    reads: tuple[Table | Bucket, ...] = (),
    writes: tuple[Table | Bucket, ...] = (),
    secrets: tuple[Secret, ...] = (),
    settings: tuple[Setting, ...] = (),
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
        reads=(*reads, *access.RIGHTS),
        writes=writes,
        appends=(operations.AUDIT,),
        secrets=secrets,
        settings=(*settings, AUDIT_DAYS),
        search=search,
        domain=domain,
        memory_mb=1024,
    )


def audited(function: Function) -> Function:
    """Return the function with permission to record its writes in the audit log."""
    appends = (*function.appends, operations.AUDIT, buckets.AUDIT_ARCHIVE_BUCKET)
    return replace(
        function,
        appends=tuple(dict.fromkeys(appends)),
        settings=tuple(dict.fromkeys((*function.settings, AUDIT_DAYS))),
    )


def reported(function: Function) -> Function:
    """Return the function with permission to record what its callers read."""
    return replace(
        function,
        sends=(*function.sends, queues.READS),
        settings=(*function.settings, AUDIT_READS),
    )
