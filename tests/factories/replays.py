"""Replays of failures, with a clock that can be set."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from backend.aws.objects import S3Objects
from backend.core.paging import PageRequest
from backend.core.tables import Tables
from backend.search.indexing.failures import FailureStore
from backend.search.indexing.rebuild import Rebuilder
from backend.search.maintenance.failure_entries import FailureEntries, FailureSummary
from backend.search.maintenance.replay import LeftoverReplays, Replayer
from tests.factories.failures import entries_in, replayer_of
from tests.factories.search import NOON, rebuilder
from tests.fakes.queues import MemoryQueues
from tests.fakes.search_engine import MemorySearchEngine


@dataclass
class ReplaySetup:
    """A failure bucket with content, and replays whose clock can be set."""

    tables: Tables
    objects: S3Objects
    engine: MemorySearchEngine
    sent: MemoryQueues
    now: datetime = NOON
    entries: FailureEntries = field(init=False)
    replayer: Replayer = field(init=False)
    indexing: Rebuilder = field(init=False)

    def __post_init__(self) -> None:
        self.entries = entries_in(self.objects)
        self.indexing = rebuilder(
            self.tables, self.objects, self.sent, self.engine, clock=lambda: self.now
        )
        self.replayer = replayer_of(
            self.indexing,
            self.tables,
            self.objects,
            self.sent,
            entries=self.entries,
            clock=lambda: self.now,
        )

    def listed(self) -> list[FailureSummary]:
        return list(self.entries.page(PageRequest(100)).items)

    def only(self) -> FailureSummary:
        (item,) = self.listed()
        return item

    def outcomes(self) -> list[str]:
        return [self.replayer.replay(item.key).outcome for item in self.listed()]

    def store_failure(self, consumer: str, body: object, name: str = "m") -> None:
        FailureStore(self.objects, "failurebucket", consumer, lambda: NOON).store(name, body, "odd")

    def run(self, *, minutes: int = 10) -> dict[str, int]:
        leftovers = LeftoverReplays(self.entries, self.replayer, lambda: self.now)
        return leftovers.run(until=self.now + timedelta(minutes=minutes))
