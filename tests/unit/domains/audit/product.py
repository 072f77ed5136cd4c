"""The whole product in memory, as one function with everything in it, and the writes it takes."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from backend.core.authorization import Authorization
from backend.core.transactions import Put, Write
from backend.domains.buckets.service import BucketRegistration
from backend.entrypoints.openapi import routers
from backend.entrypoints.wiring import (
    access,
    asset_lifecycle,
    asset_links,
    asset_versions,
    assets,
    audit,
    bucket_sync,
    buckets,
    comments,
    databases,
    downloads,
    executions,
    exports,
    facts,
    file_changes,
    files,
    identity,
    ingest,
    jobs,
    metadata,
    metadata_schemas,
    pipelines,
    subscriptions,
    tags,
    uploads,
    workflows,
)
from backend.entrypoints.wiring.audit_streams import creations
from backend.entrypoints.wiring.context import Context
from backend.entrypoints.wiring.failures import failures
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
from tests.factories.http import Answer, Client, RecordedReads
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


def _registration(context: Context) -> BucketRegistration:
    return replace(buckets.bucket_registration(context), facts=EveryBucket())


def _later(make: Callable[[Context], Any]) -> Callable[[Context], Any]:
    return lambda context: partial(make, context)


SERVICES: dict[str, tuple[Callable[[Context], Any], ...]] = {
    "access": (
        *(access.roles, access.user_roles),
        *(access.constraints, access.templates, access.explanations),
    ),
    "asset_lifecycle": (asset_lifecycle.lifecycle, asset_lifecycle.version_lifecycle),
    "asset_links": (asset_links.asset_links, asset_links.link_reader, asset_links.link_metadata),
    "asset_versions": (
        asset_versions.version_creation,
        asset_versions.version_queries,
        asset_versions.version_updates,
    ),
    "assets": (assets.assets,),
    "audit": (audit.audit_trail,),
    "bucket_sync": (bucket_sync.bucket_imports,),
    "buckets": (buckets.buckets, _registration),
    "comments": (comments.comments,),
    "databases": (databases.databases, _later(databases.database_purges)),
    "downloads": (downloads.downloads, downloads.streams),
    "executions": (
        executions.execution_commands,
        executions.execution_queries,
        lambda context: partial(executions.console_link, context),
    ),
    "exports": (exports.exports,),
    "facts": (facts.facts, facts.glbs),
    "files": (files.files, _later(file_changes.changes), _later(file_changes.rewrites)),
    "identity": (identity.api_keys, identity.profiles, identity.users),
    "ingest": (ingest.ingest,),
    "jobs": (jobs.jobs,),
    "metadata": (metadata.metadata,),
    "metadata_schemas": (metadata_schemas.metadata_schemas,),
    "pipelines": (pipelines.pipelines, pipelines.pipeline_commands),
    "subscriptions": (subscriptions.subscriptions,),
    "tags": (tags.tags,),
    "uploads": (uploads.uploads, uploads.renewals),
    "workflows": (
        workflows.workflows,
        workflows.workflow_commands,
        workflows.workflow_triggers,
    ),
}


def router_of(context: Context, domain: str) -> Router:
    """The router of a domain over the services of a context."""
    router = Router()
    for build_router in routers(domain):
        makers = SERVICES[build_router.__module__.split(".")[2]]
        router |= build_router(*(make(context) for make in makers))
    return router


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
        self.context = Context(LIFECYCLE_API, self.clock, **parts)
        self.creations = Context(AUDIT_CREATIONS, self.clock, **parts)
        stored_bucket(self.tables)
        stored_user_role(self.tables, user_id="admin")
        for user in ("ann@example.org", "bob@example.org"):  # who may be subscribed
            row = {"userId": user, "email": user, "emailConfirmed": True}
            self.tables.write(Put(table=USERS, item=row))

    def clock(self) -> datetime:
        """A time that passes with each look at it."""
        self.now += timedelta(milliseconds=1)
        return self.now

    def send(self, route: Route, user_id: str = "admin", **more: Any) -> Answer:
        router = router_of(self.context, route.domain)
        parameters: dict[str, str] = more.get("parameters", {})
        path = re.sub(r"\{([\w:]+)\+?\}", lambda name: parameters[name[1]], route.path)
        client = Client(router, user_id=user_id, authorization=self.authorization, reads=self.reads)
        return client.send(route.method, path, route=route.key, **more)

    def follow(self) -> None:
        """Deliver what the stream of assets tells, and all of it twice."""
        changes = [change for change in self.changes if change.table is ASSETS]
        records = [stream_record(change, n) for n, change in enumerate(changes)]
        wanted = [r for r in records if is_wanted(r, PATTERN)]
        consume = creations(self.creations, failures(self.creations).keep)
        for _ in range(2 if wanted else 0):
            reply = consume({"Records": wanted})
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
