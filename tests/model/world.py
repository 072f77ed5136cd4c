"""The product with an adversary between its parts, who decides what is delivered when.

It delivers twice, out of order, in batches of any size, lets indexes of tables lag, stops workers
at any request, kills them, and lets requests meet outages. In the end everything has been
delivered.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from backend.core.errors import UnavailableError
from backend.core.search_engine import JsonObject
from backend.spec.buckets import BUCKETS
from backend.spec.queues import (
    BUCKET_EVENTS,
    OBJECT_EVENTS,
    QUEUE_SUBSCRIPTIONS,
    SETTLE,
    STREAM_SUBSCRIPTIONS,
    UPLOAD_TRIGGERS,
    QueueSubscription,
)
from tests.factories.buckets import stored_bucket
from tests.fakes.objects import MemoryObjects
from tests.fakes.queues import MemoryQueues, Message
from tests.fakes.search_engine import MemorySearchEngine
from tests.fakes.tables import Change, MemoryTables
from tests.model.deployment import (
    CONSUMERS,
    LAG_SECONDS,
    LIFE_SECONDS,
    SETTLE_SECONDS,
    Deployment,
    Ports,
    Time,
    in_memory_settings,
    is_wanted,
    object_event,
    stream_record,
)
from tests.model.turns import KilledError, Turns, Worker

Record = Mapping[str, Any]
HIDDEN_SECONDS = LIFE_SECONDS + 10
_BATCH = 10
_ROUNDS = 5000


@dataclass
class Delivery:
    """A batch in progress. `ended` receives the records that must be delivered again, if any."""

    consumer: str
    records: list[Any]
    worker: Worker
    ended: Callable[[list[Any]], None]
    reply: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass
class World:
    """The product over ports in memory. Without `lag` indexes are exact; see `settles`."""

    lag: bool = True
    settles: bool = True
    """If false, messages that build documents once more are dropped: without lag they are not
    needed, and without them the other rules are tested."""

    def __post_init__(self) -> None:
        self.time = Time()
        self.turns = Turns()
        self.streams: dict[str, list[Record]] = {name: [] for name in CONSUMERS}
        self.underway: list[Delivery] = []
        self.changes = 0
        self.queues = MemoryQueues(before=self.turns.before, now=self.time.now)
        self.ports = self.made_ports()
        self.on = Deployment(self.ports)
        stored_bucket(self.ports.tables, name=self.bucket)

    def made_ports(self) -> Ports:
        settings = in_memory_settings()
        versioned = {b.name.lower() for b in BUCKETS if b.versioned}
        self.tables = MemoryTables(
            before=self.turns.before,
            lagging=self.lag,
            changed=self.item_changed,
            now=self.time.now,
        )
        self.objects = MemoryObjects(
            before=self.turns.before,
            changed=self.object_changed,
            clock=self.time.clock,
            versioned=versioned.__contains__,
        )
        self.engine = MemorySearchEngine(before=self.turns.before)
        return Ports(
            self.tables,
            self.objects,
            self.queues,
            self.engine,
            settings,
            self.time.clock,
            lambda: self.let_indexes_see(self.time.now()),
        )

    @property
    def bucket(self) -> str:
        return "assetbucket"

    def documents(self) -> dict[str, JsonObject]:
        """The documents that an unrestricted search would find, by id."""
        return self.engine.live()

    def item_changed(self, change: Change) -> None:
        """Put a change on the streams that have consumers."""
        self.changes += 1
        record = stream_record(change, self.changes)
        for subscription in STREAM_SUBSCRIPTIONS:
            if subscription.source is change.table and is_wanted(record, subscription.pattern):
                self.streams.setdefault(subscription.consumer, []).append(record)

    def object_changed(self, bucket: str, key: str) -> None:
        if bucket == self.bucket:
            turn, self.turns.running = self.turns.running, None  # an event is not a request
            for queue in (OBJECT_EVENTS, BUCKET_EVENTS):
                self.queues.send(queue, [object_event(bucket, key)])
            self.turns.running = turn

    def pull(self) -> None:
        """Read changes that have no event of their own."""

    def deliver(self, number: int, *, size: int, first: int = 0, again: bool = False) -> bool:
        """Begin to deliver some of the waiting events; with `again`, they are delivered once more.

        Return False if nothing waits.
        """
        self.pull()
        self._drop_unused()
        waiting = self._waiting()
        if not waiting:
            return False
        begin = waiting[number % len(waiting)]
        begin(size, first, again)
        return True

    def advance(self, number: int, steps: int, *, fails: bool = False) -> None:
        """Let a worker continue by some requests, the first of which may meet an outage."""
        if not self.underway:
            return
        delivery = self.underway[number % len(self.underway)]
        for step in range(steps):
            if delivery.worker.has_ended:
                break
            delivery.worker.step(fails=fails and step == 0)
        self._look_at(delivery)

    def finish(self, number: int) -> None:
        if self.underway:
            delivery = self.underway[number % len(self.underway)]
            delivery.worker.finish()
            self._look_at(delivery)

    def kill(self, number: int) -> None:
        if self.underway:
            self._kill(self.underway[number % len(self.underway)])

    def pass_time(self, seconds: int) -> None:
        """Advance the time: workers that run too long are killed, and indexes catch up."""
        self.time.seconds += seconds
        for delivery in list(self.underway):
            if self.time.now() - delivery.worker.born > LIFE_SECONDS:
                self._kill(delivery)
        self.let_indexes_see(self.time.now() - LAG_SECONDS)

    def let_indexes_see(self, until: int) -> None:
        self.tables.catch_up(until)

    def drain(self) -> None:
        """Deliver everything, until nothing waits.

        Waiting events are delivered before the stopped workers continue, so these write last.
        """
        stopped = len(self.underway)
        while stopped and self.deliver(0, size=_BATCH):
            while len(self.underway) > stopped:
                self.finish(len(self.underway) - 1)
        for _ in range(_ROUNDS):
            while self.underway:
                self.finish(0)
            if self.deliver(0, size=_BATCH):
                continue
            due = [message.visible_from for message in self.queues.messages]
            due += [entry.since + LAG_SECONDS for entry in self.behind()]
            if not due:
                return
            self.pass_time(max(1, int(min(due)) - self.time.now()))
        left = [(m.queue, m.body, m.received) for m in self.queues.messages]
        raise AssertionError(f"there is no end to deliveries: {left}")

    def let_an_index_see(self, number: int) -> None:
        self.tables.catch_up_one(number)

    def send(self, url: str, body: bytes) -> str:
        """PUT a part to its URL; return the ETag."""
        return self.objects.receive(url, body)

    def behind(self) -> Iterable[Any]:
        return self.tables.behind

    def _waiting(self) -> list[Callable[[int, int, bool], None]]:
        result: list[Callable[[int, int, bool], None]] = []
        for consumer, records in self.streams.items():
            if records and consumer in CONSUMERS:
                result.append(_bound(self._deliver_records, consumer))
        result += [
            _bound(self._deliver_messages, subscription)
            for subscription in QUEUE_SUBSCRIPTIONS
            if self.queues.visible(subscription.source) and subscription.consumer in CONSUMERS
        ]
        return result

    def _deliver_records(self, consumer: str, size: int, first: int, again: bool) -> None:
        waiting = self.streams[consumer]
        batch = _some(waiting, size, first)
        if not again:
            for record in batch:
                waiting.remove(record)
        self._begin(consumer, batch, ended=waiting.extend)

    def _deliver_messages(
        self, subscription: QueueSubscription, size: int, first: int, again: bool
    ) -> None:
        size = min(size, subscription.batch_size)
        messages: list[Message] = _some(self.queues.visible(subscription.source), size, first)
        batch = self.queues.receive(messages, hidden_seconds=HIDDEN_SECONDS)

        def ended(left: list[Any]) -> None:
            kept = {record["messageId"] for record in left}
            if again:  # the acknowledgement was lost
                kept = {record["messageId"] for record in batch}
            self.queues.remove({record["messageId"] for record in batch} - kept)

        self._begin(subscription.consumer, batch, ended)

    def _begin(self, consumer: str, batch: list[Any], ended: Callable[[list[Any]], None]) -> None:
        handler = self.on.consumers[consumer]

        def work() -> None:
            delivery.reply = handler({"Records": batch})

        worker = Worker(self.turns, work, self.time.now())
        delivery = Delivery(consumer, batch, worker, ended)
        self.underway.append(delivery)

    def _look_at(self, delivery: Delivery) -> None:
        """Record the end of a worker, with or without an error."""
        if not delivery.worker.has_ended:
            return
        self.underway.remove(delivery)
        error = delivery.worker.error
        if isinstance(error, UnavailableError | KilledError):
            delivery.ended(delivery.records)
        elif error is not None:
            raise error
        else:
            failed = {failure["itemIdentifier"] for failure in delivery.reply["batchItemFailures"]}
            delivery.ended(_left(delivery.records, failed))

    def _kill(self, delivery: Delivery) -> None:
        delivery.worker.kill()
        self._look_at(delivery)

    def _drop_unused(self) -> None:
        """Drop messages about files that could start workflows, and those of `settles`."""
        self.queues.messages = [
            m
            for m in self.queues.messages
            if m.queue != UPLOAD_TRIGGERS.name
            and (self.settles or m.queue != SETTLE.name or m.delay != SETTLE_SECONDS)
        ]

    def close(self) -> None:
        """End all threads."""
        while self.underway:
            self.underway.pop().worker.kill()


def _bound(deliver: Callable[..., None], source: object) -> Callable[[int, int, bool], None]:
    return lambda size, first, again: deliver(source, size, first, again)


def _some(waiting: list[Any], size: int, first: int) -> list[Any]:
    """Some of the waiting events, from any position on."""
    start = first % len(waiting)
    return (waiting[start:] + waiting[:start])[:size]


def _left(records: list[Any], failed: set[str]) -> list[Any]:
    """The events to deliver again: failed messages, or records from the first failed one on."""
    if not failed or "messageId" in records[0]:
        return [record for record in records if _name(record) in failed]
    return records[min(n for n, record in enumerate(records) if _name(record) in failed) :]


def _name(record: Any) -> str:
    return record["messageId"] if "messageId" in record else record["dynamodb"]["SequenceNumber"]
