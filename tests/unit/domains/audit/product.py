"""The whole product in memory, as one function with everything in it, and the writes it takes."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from importlib.util import find_spec, module_from_spec
from typing import Any
from unittest.mock import patch

from backend.core.authorization import Authorization
from backend.core.transactions import Put, Write
from backend.entrypoints.wiring import api
from backend.entrypoints.wiring.audit_streams import creations
from backend.entrypoints.wiring.context import Context
from backend.entrypoints.wiring.failures import failures
from backend.http.router import Router
from backend.spec.functions import Function
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
from tests.factories.http import Client, RecordedReads, Response
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


RouterBuilder = Callable[[Context], Router]


def _not_served(_: Function, router: RouterBuilder) -> RouterBuilder:
    return router


@cache
def _router_builder(domain: str) -> RouterBuilder:
    """Return the routers of a domain's handler module; the handler would need an environment."""
    spec = find_spec(f"backend.entrypoints.http.{domain}")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    with patch.object(api, "serve", _not_served):
        spec.loader.exec_module(module)
    return module.handler


def router_of(context: Context, domain: str) -> Router:
    """The router of a domain over the services of a context, as its function wires them."""
    return _router_builder(domain)(context)


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

    def accepted_values(self, secret: object) -> frozenset[str]:
        return frozenset({self.value(secret)})


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
            "bucket_facts": EveryBucket(),
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

    def send(self, route: Route, user_id: str = "admin", **more: Any) -> Response:
        router = router_of(self.context, route.domain)
        parameters: dict[str, str] = more.get("parameters", {})
        path = re.sub(r"\{([\w:]+)\+?\}", lambda name: parameters[name[1]], route.path)
        client = Client(router, user_id=user_id, authorization=self.authorization, reads=self.reads)
        return client.send(route.method, path, route=route.key, **more)

    def follow(self) -> None:
        """Deliver all records of the stream of assets, each twice."""
        changes = [change for change in self.changes if change.table is ASSETS]
        records = [stream_record(change, n) for n, change in enumerate(changes)]
        wanted = [r for r in records if is_wanted(r, PATTERN)]
        consume = creations(self.creations, failures(self.creations).store)
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
