"""What is declared of a function, and the two shapes that recur."""

from dataclasses import dataclass, replace
from typing import Literal

from backend.spec import buckets, queues, settings
from backend.spec.buckets import Bucket
from backend.spec.queues import Queue
from backend.spec.secrets import Secret
from backend.spec.settings import Setting
from backend.spec.tables import access, operations
from backend.spec.tables.model import Table

Kind = Literal["api", "consumer", "authorizer", "bootstrap", "scheduled"]
SearchAccess = Literal["none", "read", "write"]


@dataclass(frozen=True, slots=True)
class Function:
    """One Lambda function; `writes` (tables and buckets) includes reading them.

    `appends` are tables and buckets to which it adds what it may neither read nor change.
    `rewrites` are those of its `secrets` whose values it may change. `loops` says that it sends
    messages to itself: Lambda stops loops that are not allowed after 16 rounds. `redrives` are
    queues whose dead letters it may move back.
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
    secrets: tuple[Secret, ...] = ()
    rewrites: tuple[Secret, ...] = ()
    settings: tuple[Setting, ...] = ()
    search: SearchAccess = "none"
    domain: str | None = None
    memory_mb: int = 512
    timeout_seconds: int = 29
    loops: bool = False

    @property
    def tables(self) -> tuple[Table, ...]:
        return tuple(r for r in self._used if isinstance(r, Table))

    @property
    def receives(self) -> tuple[Queue, ...]:
        """The queues that wake it."""
        return tuple(s.source for s in queues.QUEUE_SUBSCRIPTIONS if s.consumer == self.name)

    @property
    def buckets(self) -> tuple[Bucket, ...]:
        return tuple(r for r in self._used if isinstance(r, Bucket))

    @property
    def _used(self) -> tuple[Table | Bucket, ...]:
        return (*self.reads, *self.writes, *self.appends)


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
    """A function behind the HTTP API; each one reads the caller's roles."""
    return Function(
        name,
        "api",
        f"backend.entrypoints.http.{domain}.handler",
        description,
        reads=(*reads, access.USER_ROLES),
        writes=writes,
        secrets=secrets,
        settings=settings,
        search=search,
        domain=domain,
        memory_mb=1024,
    )


def audited(function: Function) -> Function:
    """The function, which also makes entries of what it writes."""
    return replace(
        function,
        appends=(*function.appends, operations.AUDIT, buckets.AUDIT_ARCHIVE_BUCKET),
        settings=(*function.settings, settings.AUDIT_DAYS),
    )
