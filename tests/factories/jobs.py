"""Jobs over tables and queues in memory, with a clock that tests set, and workers that crash."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from backend.aws.items import to_wire
from backend.core.authorization import Authorization
from backend.core.clock import Clock
from backend.core.identity import Identity
from backend.core.tables import Tables
from backend.domains.jobs.models import Job, Progress, Step
from backend.domains.jobs.repository import JobRepository
from backend.domains.jobs.service.commands import JobService
from backend.domains.jobs.service.consumers import JobConsumer, JobStarter
from backend.domains.jobs.service.runner import JobRunner
from backend.spec.jobs import ARCHIVE_ASSET, JobKind
from backend.spec.metrics import Metric
from backend.spec.queues import LIFECYCLE, Queue
from backend.spec.tables.operations import JOBS
from tests.factories.access import OnlyUser
from tests.factories.audit import audit_service
from tests.factories.search import NOON
from tests.fakes.objects import MemoryObjects
from tests.fakes.tables import Change, MemoryTables

ADMIN = Identity("admin")
PAGES = 5
ITEMS_A_PAGE = 3
HIDDEN_SECONDS = 720
"""Time for which a message is hidden after its worker crashed."""


class KilledError(BaseException):
    """The process of a worker ended; none of its code runs any more."""


def die(page: int) -> None:
    """End the process of a worker, before or after a page."""
    raise KilledError


def job_service(tables: Tables, clock: Clock = lambda: NOON) -> JobService:
    """The service of jobs, for an administrator."""
    return JobService(
        JobRepository(tables), OnlyUser(), audit_service(MemoryObjects(), clock), clock
    )


@dataclass
class Message:
    body: Any
    due: datetime
    number: int
    received: int = 0


@dataclass
class Counting:
    """A step that processes pages of numbers; `effects` has each processed page once.

    `before` and `after` are called around the effect of each page.
    """

    pages: int = PAGES
    effects: set[int] = field(default_factory=set[int])
    done: list[int] = field(default_factory=list[int])
    before: Callable[[int], None] = lambda page: None
    after: Callable[[int], None] = lambda page: None
    waits: Mapping[int, int] = field(default_factory=dict[int, int])

    def __call__(self, job: Job) -> Progress:
        page = int(job.cursor.get("page", 0))
        self.before(page)
        self.effects.update(range(page * ITEMS_A_PAGE, (page + 1) * ITEMS_A_PAGE))
        self.done.append(page)
        self.after(page)
        return Progress(
            {"page": page + 1},
            items=ITEMS_A_PAGE,
            finished=page + 1 == self.pages,
            wait_seconds=self.waits.get(page, 0),
        )

    @property
    def everything(self) -> set[int]:
        return set(range(self.pages * ITEMS_A_PAGE))


@dataclass
class JobWorld:
    """The queue of one kind, its worker, the stream that starts jobs, and the clock."""

    step: Step
    kind: JobKind = ARCHIVE_ASSET
    tables: MemoryTables = field(default_factory=MemoryTables)
    authorization: Authorization = field(default_factory=OnlyUser)
    now: datetime = NOON
    messages: list[Message] = field(default_factory=list[Message])
    records: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    kept: list[tuple[str, object, str]] = field(default_factory=list[tuple[str, object, str]])
    rung: list[Metric] = field(default_factory=list[Metric])
    before: Callable[[str], None] = lambda operation: None
    sent: int = 0
    advances: list[int] = field(default_factory=list[int])
    """The step in the row, for each time it changed."""

    def __post_init__(self) -> None:
        self.tables.changed = self._changed

    @property
    def pages(self) -> Counting:
        """The step, if it processes pages."""
        assert isinstance(self.step, Counting)
        return self.step

    @property
    def jobs(self) -> JobService:
        audit = audit_service(MemoryObjects(), lambda: self.now)
        return JobService(JobRepository(self.tables), self.authorization, audit, lambda: self.now)

    @property
    def runner(self) -> JobRunner:
        return JobRunner(JobRepository(self.tables), lambda: self.now)

    @property
    def consumer(self) -> JobConsumer:
        return JobConsumer(
            queue=LIFECYCLE,
            queues=self,
            jobs=self.jobs,
            runner=self.runner,
            steps={self.kind.name: self.step},
            store_failure=lambda name, body, reason: self.kept.append((name, body, reason)),
            count_metric=self.rung.append,
            clock=lambda: self.now,
        )

    def start(self, job_id: str = "archiveAsset.museum.pump.2") -> Job:
        job = self.jobs.new(self.kind, job_id, caller=ADMIN, database_id="museum", asset_id="pump")
        self.tables.write(self.jobs.put(job))
        return job

    def job(self, job_id: str = "archiveAsset.museum.pump.2") -> Job:
        result = self.jobs.find(job_id)
        assert result is not None
        return result

    def run(self, seconds: int = 60, *, to_end: bool = False) -> Job | None:
        """Run steps of the job; return None if another worker holds it or it waits."""
        until = self.now + timedelta(seconds=seconds)
        return self.runner.run("archiveAsset.museum.pump.2", self.step, until=until, to_end=to_end)

    def run_job(self, seconds: int = 60, *, to_end: bool = False) -> Job:
        job = self.run(seconds, to_end=to_end)
        assert job is not None
        return job

    def send(self, queue: Queue, bodies: Any, *, delay_seconds: int = 0) -> None:
        """The port `Queues`."""
        self.before("send")
        for body in bodies:
            self.sent += 1
            due = self.now + timedelta(seconds=delay_seconds)
            self.messages.append(Message(json.loads(json.dumps(body)), due, self.sent))

    def postpone(self, queue: Queue, receipts: Any, *, seconds: int) -> None:
        """The port `Queues`."""
        self.before("postpone")
        for message in self.messages:
            if str(message.number) in receipts:
                message.due = self.now + timedelta(seconds=seconds)

    def deliver_stream(self) -> None:
        """Deliver the records of the stream."""
        records = list(self.records)
        assert JobStarter(self).consume({"Records": records}) == {"batchItemFailures": []}
        self.records = self.records[len(records) :]

    def deliver(self, message: Message, *, repeatable: bool = False) -> None:
        """Deliver a message.

        It remains if its worker crashed or returned it, or with `repeatable`.
        """
        message.received += 1
        record = {
            "messageId": str(message.number),
            "receiptHandle": str(message.number),
            "body": json.dumps(message.body),
            "attributes": {"ApproximateReceiveCount": str(message.received)},
        }
        due, message.due = message.due, self.now + timedelta(seconds=HIDDEN_SECONDS)
        try:
            reply = self.consumer.consume({"Records": [record]})
        except KilledError:
            return
        if repeatable:
            message.due = due
        elif not reply["batchItemFailures"]:
            self.messages.remove(message)

    def deliver_due(self) -> bool:
        """Deliver the message that is due first; return False if there is none."""
        self.deliver_stream()
        due = sorted((m for m in self.messages if m.due <= self.now), key=lambda m: m.due)
        if due:
            self.deliver(due[0])
        return bool(due)

    def drain(self, rounds: int = 1000) -> None:
        """Deliver all messages; set the clock to the next one whenever none is due."""
        for _ in range(rounds):
            if self.deliver_due():
                continue
            if not self.messages:
                return
            self.now = max(self.now, min(message.due for message in self.messages))
        raise AssertionError(f"messages are left after {rounds} rounds: {self.messages}")

    def _changed(self, change: Change) -> None:
        if change.table is JOBS and change.new is not None:
            image = to_wire(change.new)
            self.records.append({"dynamodb": {"NewImage": image}})
            if change.old is not None and change.old["step"] != change.new["step"]:
                self.advances.append(change.new["step"])
