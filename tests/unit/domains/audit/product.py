"""The whole product in memory, as one function with everything in it, and the writes it takes."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from backend.core.authorization import Authorization
from backend.core.transactions import Put, Write
from backend.domains.bucket_sync.repository import ImportRepository
from backend.domains.bucket_sync.service import BucketImports
from backend.domains.buckets.repository import BucketRepository
from backend.domains.buckets.service import BucketRegistration
from backend.entrypoints.administration import AccessWiring
from backend.entrypoints.audit_streams import AuditingWiring
from backend.entrypoints.comments import CommentWiring
from backend.entrypoints.downloads import DownloadWiring
from backend.entrypoints.executions import ExecutionWiring
from backend.entrypoints.exports import ExportWiring
from backend.entrypoints.facts import FactWiring
from backend.entrypoints.ingest import IngestWiring
from backend.entrypoints.lifecycle import LifecycleWiring
from backend.entrypoints.openapi import routers
from backend.entrypoints.subscriptions import SubscriptionsWiring
from backend.http.router import Router
from backend.spec.functions.apis import LIFECYCLE_API
from backend.spec.functions.workers import AUDIT_CREATIONS
from backend.spec.queues import STREAM_SUBSCRIPTIONS
from backend.spec.routes import Route
from backend.spec.tables.access import USERS
from backend.spec.tables.assets import ASSETS
from backend.spec.tables.operations import AUDIT
from tests.factories.access import OnlyUser, stored_user_role
from tests.factories.audit import entries
from tests.factories.buckets import EveryBucket, stored_bucket
from tests.factories.http import Answer, Client, Context, RecordedReads
from tests.factories.search import NOON
from tests.fakes.notifications import RememberedNotifications
from tests.fakes.objects import MemoryObjects
from tests.fakes.queues import MemoryQueues
from tests.fakes.runs import FakeRuns
from tests.fakes.tables import Change, MemoryTables
from tests.fakes.user_pool import MemoryUserPool
from tests.model.deployment import in_memory_settings, is_wanted, stream_record

SECRET = "the pepper of API keys"
PATTERN = next(s.pattern for s in STREAM_SUBSCRIPTIONS if s.consumer == AUDIT_CREATIONS.name)
SERVICES: dict[str, tuple[str, ...]] = {
    "access": ("roles", "user_roles", "constraints", "templates", "explanations"),
    "asset_links": ("asset_links", "link_reader", "link_metadata"),
    "asset_lifecycle": ("lifecycle", "version_lifecycle"),
    "asset_versions": ("version_creation", "version_queries", "version_updates"),
    "audit": ("audit_trail",),
    "bucket_sync": ("bucket_imports",),
    "buckets": ("buckets", "bucket_registration"),
    "databases": ("databases", "database_purges"),
    "downloads": ("downloads", "streams"),
    "executions": ("execution_commands", "execution_queries", "link"),
    "facts": ("facts", "glbs"),
    "files": ("files", "file_changes", "file_rewrites"),
    "identity": ("api_keys", "profiles", "users"),
    "pipelines": ("pipelines", "pipeline_commands"),
    "uploads": ("uploads", "renewals"),
    "workflows": ("workflows", "workflow_commands", "workflow_triggers"),
}


def router_of(wiring: Any, domain: str) -> Router:
    """The router of a domain over the wiring's services."""
    router = Router()
    for build_router in routers(domain):
        name = build_router.__module__.split(".")[2]
        router |= build_router(*(getattr(wiring, one) for one in SERVICES.get(name, (name,))))
    return router


class EveryWiring(
    LifecycleWiring,
    AccessWiring,
    CommentWiring,
    DownloadWiring,
    ExportWiring,
    FactWiring,
    IngestWiring,
    SubscriptionsWiring,
    ExecutionWiring,
):
    """What all functions together are made of."""


@dataclass
class WatchedTables(MemoryTables):
    """Tables in memory that note which writes were made together."""

    together: list[Sequence[Write]] = field(default_factory=list[Sequence[Write]])

    def transact(self, writes: Sequence[Write]) -> None:
        MemoryTables.transact(self, writes)
        self.together.append(writes)

    def write(self, write: Write) -> Any:
        answer = MemoryTables.write(self, write)
        self.together.append([write])
        return answer


class _Secrets:
    def value(self, secret: object) -> str:
        return SECRET if secret else ""


class Product:
    """Serves requests, and delivers the stream of assets to the function that makes entries."""

    def __init__(self, authorization: Authorization | None = None) -> None:
        self.now = NOON
        self.authorization = authorization or OnlyUser()
        self.changes: list[Change] = []
        self.reads = RecordedReads()
        self.tables = WatchedTables(changed=self.changes.append)
        self.objects = MemoryObjects()
        self.wiring = EveryWiring(LIFECYCLE_API, self.clock)
        self.creations = AuditingWiring(AUDIT_CREATIONS, self.clock)
        parts: dict[str, Any] = {
            "settings": in_memory_settings(),
            "tables": self.tables,
            "objects": self.objects,
            "queues": MemoryQueues(),
            "runs": FakeRuns(),
            "secrets": _Secrets(),
            "authorization": self.authorization,
            "notifications": RememberedNotifications(),
            "user_pool": MemoryUserPool(),
        }
        vars(self.wiring).update(parts)  # parts that are there are not built
        vars(self.creations).update(parts)
        self._serve_buckets()
        stored_bucket(self.tables)
        stored_user_role(self.tables, user_id="admin")
        for user in ("ann@example.org", "bob@example.org"):  # who may be subscribed
            row = {"userId": user, "email": user, "emailConfirmed": True}
            self.tables.write(Put(table=USERS, item=row))

    def _serve_buckets(self) -> None:
        wiring = self.wiring
        services = {
            "bucket_registration": BucketRegistration(
                BucketRepository(self.tables),
                EveryBucket(),
                self.authorization,
                wiring.audit,
                self.clock,
            ),
            "bucket_imports": BucketImports(
                ImportRepository(self.tables),
                wiring.buckets,
                wiring.jobs,
                wiring.audit,
                self.clock,
            ),
        }
        vars(wiring).update(services)

    def clock(self) -> datetime:
        """A time that passes with each look at it."""
        self.now += timedelta(milliseconds=1)
        return self.now

    def send(self, route: Route, user_id: str = "admin", **more: Any) -> Answer:
        router = router_of(self.wiring, route.domain)
        parameters: dict[str, str] = more.get("parameters", {})
        path = re.sub(r"\{([\w:]+)\+?\}", lambda name: parameters[name[1]], route.path)
        client = Client(router, user_id=user_id, authorization=self.authorization, reads=self.reads)
        return client.send(route.method, path, route=route.key, **more)

    def follow(self) -> None:
        """Deliver what the stream of assets tells, and all of it twice."""
        changes = [change for change in self.changes if change.table is ASSETS]
        records = [stream_record(change, n) for n, change in enumerate(changes)]
        told = [r for r in records if is_wanted(r, PATTERN)]
        for _ in range(2 if told else 0):
            reply = self.creations.creations_handler({"Records": told}, Context())
            assert reply == {"batchItemFailures": []}
        self.changes.clear()

    @property
    def entries(self) -> list[dict[str, Any]]:
        return entries(self.tables)


def lonely_entries(together: Iterable[Sequence[Write]]) -> list[str]:
    """The operations of entries that were written without what they are about."""
    return [
        writes[0].item["operation"]
        for writes in together
        if len(writes) == 1 and isinstance(writes[0], Put) and writes[0].table is AUDIT
    ]
