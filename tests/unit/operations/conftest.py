"""The routes of operations over AWS in process, an engine and queues in memory."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import pytest

from backend.aws.objects import S3Objects
from backend.core.tables import Tables
from backend.domains.audit.repository import AuditRepository
from backend.domains.audit.service.commands import AuditNotes
from backend.operations.failures import FailureService
from backend.operations.queue_routes import build_router as queue_router
from backend.operations.queues import QueueService
from backend.operations.routes import build_router
from backend.search.indexing.indexes import ensure_indexes
from backend.search.indexing.rebuild import Rebuilder
from backend.search.indexing.state import SearchState
from backend.spec.queues import QUEUES
from tests.factories.access import OnlyUser
from tests.factories.audit import audit_service
from tests.factories.buckets import stored_bucket
from tests.factories.failures import entries_in, replayer_of
from tests.factories.http import Client
from tests.factories.search import NOON, rebuilder
from tests.fakes.dead_letters import MemoryDeadLetters
from tests.fakes.queues import MemoryQueues
from tests.fakes.search_engine import MemorySearchEngine

DEPLOYED = [queue for queue in QUEUES if not queue.with_events]
"""The queues of a deployment that publishes no events."""


@dataclass
class TickingClock:
    """A clock that advances by so many seconds at each reading."""

    seconds: float = 0
    now: datetime = NOON

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=self.seconds)
        return self.now


@dataclass
class Operations:
    objects: S3Objects
    tables: Tables
    engine: MemorySearchEngine
    indexing: Rebuilder
    client: Client
    of_queues: Client
    dead_letters: MemoryDeadLetters
    clock: TickingClock

    def by(self, user_id: str | None) -> Client:
        return replace(self.client, user_id=user_id)


@pytest.fixture
def operations(tables: Tables, objects: S3Objects) -> Operations:
    engine, queues, clock = MemorySearchEngine(), MemoryQueues(), TickingClock()
    ensure_indexes(engine, SearchState(tables, lambda: NOON))
    stored_bucket(tables)
    indexing = rebuilder(tables, objects, queues, engine)
    replayer = replayer_of(indexing, tables, objects, queues)
    notes = AuditNotes(AuditRepository(tables), audit_service(objects))
    failures = FailureService(entries_in(objects), replayer, OnlyUser(), notes, clock)
    dead_letters = MemoryDeadLetters()
    client = Client(build_router(failures))
    of_queues = Client(queue_router(QueueService(dead_letters, OnlyUser(), notes, DEPLOYED)))
    return Operations(objects, tables, engine, indexing, client, of_queues, dead_letters, clock)
