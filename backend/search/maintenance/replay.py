"""Replays entries of the failure bucket, through the consumers in which they failed.

A replay builds documents from the current sources, under its own ticket, so it may run twice, late,
or at the same time as another one. An entry is removed only after all its documents are written,
and only if it was not changed since it was read: if the event failed again meanwhile, the entry
remains. A replay that dies leaves the entry unchanged.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Literal, cast

from aws_lambda_powertools import Logger

from backend.core.clock import Clock, iso
from backend.core.deliveries import Event, Reply
from backend.core.errors import UnavailableError
from backend.core.paging import PageRequest
from backend.core.queues import Queues
from backend.core.quoting import quoted
from backend.search.indexing.changes import Changes, Record, object_changes, settle_changes
from backend.search.indexing.failures import Failures, count_metric
from backend.search.indexing.rebuild import Rebuilder, StoredVersionAheadError
from backend.search.indexing.references import Reference
from backend.search.maintenance.failure_entries import (
    BatchEntry,
    FailureEntries,
    FailureSummary,
    PoisonEntry,
    Replays,
    StoredFailure,
    UnreadableFailureError,
    kind_of,
    parse_failure,
    parse_leading_members,
    replays_of,
)
from backend.spec.functions.operations import REPLAY_FAILURES
from backend.spec.functions.workers import INDEX_OBJECTS, INDEX_SETTLE
from backend.spec.metrics import REPLAYS_GIVEN_UP
from backend.spec.queues import QUEUE_SUBSCRIPTIONS
from backend.values import frozen

Outcome = Literal["replayed", "failed", "changed", "absent"]
StreamConsumers = Mapping[str, Callable[[Failures], Callable[[Event], Reply]]]
"""Creates the handler of each stream consumer. Its poison is passed to the given failures."""

# The schedule runs every five minutes (`spec.schedules`).
FIRST_PAUSE = timedelta(minutes=5)
LONGEST_PAUSE = timedelta(days=1)
# Scheduled attempts to replay an entry, over about eleven days; administrators can replay it after
# that. An outage is not an attempt (decision 17).
MOST_ATTEMPTS = 20

# Batches of one list of keys; each is read only when it is due.
_PAGE = 100
_READERS: dict[str, Callable[[Sequence[Record]], Changes]] = {
    INDEX_OBJECTS.name: object_changes,
    INDEX_SETTLE.name: settle_changes,
}
_logger = Logger()


@frozen
class Replayed:
    """The result of one replay.

    `replayed`: the documents were written, the entry was removed. `failed`: the entry remains, with
    one more attempt. `changed`: the documents were written, but the event has failed again
    meanwhile; the new entry remains. `absent`: there is no such entry.
    """

    key: str
    outcome: Outcome
    reason: str = ""


@dataclass(slots=True)
class _Collected:
    """The poison of a replay, whose entry exists already."""

    consumer: str
    reasons: list[str] = field(default_factory=list[str])

    def store(
        self,
        name: str,  # noqa: ARG002 - the protocol's signature
        body: object,  # noqa: ARG002 - likewise
        reason: str,
        *,
        references: Iterable[Reference] = (),  # noqa: ARG002 - likewise
    ) -> None:
        self.reasons.append(reason)


@dataclass(eq=False, repr=False)
class Replayer:
    """Replays entries one by one. `store_of` stores new poison under the name of a consumer."""

    entries: FailureEntries
    rebuilder: Rebuilder
    streams: StreamConsumers
    store_of: Callable[[str], Failures]
    queues: Queues
    clock: Clock

    def replay(self, key: str) -> Replayed:
        """Replay one entry.

        Raises:
            UnavailableError: a service is unavailable; the entry is unchanged.
            StoredVersionAheadError: the ticket counter was reset; the entry is unchanged.
        """
        stored = self.entries.read(key)
        if stored is None:
            return Replayed(key, "absent", "the failure does not exist")
        try:
            entry = parse_failure(stored)
        except UnreadableFailureError as error:
            self._record_failure(stored, str(error), again=False)
            return Replayed(key, "failed", str(error))
        failure = self._replay_entry(key, entry)
        if failure is not None:
            # Poison waits until its cause is corrected; batches of outages are replayed by the
            # schedule.
            self._record_failure(stored, failure, again=isinstance(entry, BatchEntry))
            return Replayed(key, "failed", failure)
        if not self.entries.remove(stored):
            return Replayed(key, "changed", "it failed again in the meantime")
        return Replayed(key, "replayed")

    def _replay_entry(self, key: str, entry: PoisonEntry | BatchEntry) -> str | None:
        """Replay an entry; return the reason if it fails again."""
        try:
            if isinstance(entry, PoisonEntry):
                return self._replay_item(entry)
            if entry.consumer not in self.streams:
                return f"failures of {entry.consumer} cannot be replayed"
            # Poison events in the batch become separate entries.
            self._deliver(entry.consumer, self.store_of(entry.consumer), entry.records)
        # An outage is not an attempt: the entry remains unchanged.
        except (UnavailableError, StoredVersionAheadError):
            raise
        except Exception as error:  # possibly the bug that caused the failure
            _logger.exception("unexpected error in a replay", extra={"key": key})
            # The text of an unexpected error may be another program's: only the log has it.
            return f"an unexpected error ({type(error).__name__}); the log has its text"
        return None

    def _deliver(
        self, consumer: str, failures: Failures, records: Sequence[Mapping[str, Any]]
    ) -> None:
        """Deliver stream records. If a consumer returns some of them, a service is unavailable."""
        reply = self.streams[consumer](failures)({"Records": records})
        if reply["batchItemFailures"]:
            raise UnavailableError(f"a service that {consumer} needs is unavailable")

    def _replay_item(self, entry: PoisonEntry) -> str | None:
        """Try an item again; return the reason if it is still rejected."""
        collected = _Collected(entry.consumer)
        rebuilder = replace(self.rebuilder, failures=collected)
        if entry.references:
            rebuilder.rebuild(entry.references)
        elif not isinstance(entry.body, dict):
            return "the failure names no document and contains no event to replay"
        else:
            event = cast("Record", entry.body)
            if entry.consumer in self.streams:
                self._deliver(entry.consumer, collected, [event])
            elif entry.consumer in _READERS:
                changes = _READERS[entry.consumer]([event])
                collected.reasons += (item.reason for item in changes.poison)
                rebuilder.rebuild(changes.references, settles=changes.records)
            else:
                self._send_again(entry.consumer, event, collected)
        return collected.reasons[-1] if collected.reasons else None

    def _send_again(self, consumer: str, message: Record, collected: _Collected) -> None:
        """Put a message back into its queue, whose consumer processes it."""
        queue = next((s.source for s in QUEUE_SUBSCRIPTIONS if s.consumer == consumer), None)
        if queue is None:
            collected.reasons.append(f"{consumer} is not a consumer of a queue or a stream")
            return
        try:
            body: object = json.loads(message["body"])
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            collected.reasons.append(f"the message is not JSON: {quoted(error)}")
            return
        self.queues.send(queue, [body])

    def _record_failure(self, stored: StoredFailure, reason: str, *, again: bool) -> None:
        """Record the failure in the entry; with `again`, the schedule retries it later."""
        now = self.clock()
        before = replays_of(parse_leading_members(stored.text))
        attempts = before.attempts + 1
        was_scheduled = before.attempts == 0 or before.next_at is not None
        following = next_attempt(now, attempts) if again else None
        noted = Replays(attempts, iso(now), following and iso(following), reason)
        if not self.entries.record(stored, noted):
            _logger.info("an entry was replaced while it was replayed", extra={"key": stored.key})
        elif following is None and kind_of(stored.key) == "batch" and was_scheduled:
            count_metric(REPLAYS_GIVEN_UP, REPLAY_FAILURES.name)


def next_attempt(now: datetime, attempts: int) -> datetime | None:
    """Return when the schedule retries a batch that failed this often; None for never."""
    if attempts >= MOST_ATTEMPTS:
        return None
    return now + min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** min(attempts - 1, 16))


def is_due(entry: FailureSummary, now: datetime) -> bool:
    """Return whether the schedule replays a batch now."""
    next_at = entry.replays.next_at
    return entry.replays.attempts == 0 or (next_at is not None and next_at <= iso(now))


@dataclass(eq=False, repr=False)
class LeftoverReplays:
    """Replays batches, by a schedule, that stream mappings gave up during an outage."""

    entries: FailureEntries
    replayer: Replayer
    clock: Clock

    def run(self, *, until: datetime) -> dict[str, int]:
        """Replay due batches until the time is used up; return the number of each result.

        An outage ends the run and does not count as an attempt.
        """
        counts: dict[str, int] = {}
        request: PageRequest | None = PageRequest(_PAGE)
        while request is not None:
            page = self.entries.batches(request)
            for entry in page.items:
                now = self.clock()
                if now >= until:
                    return counts
                # False is an outage, in which all other batches would fail too.
                if is_due(entry, now) and not self._replay(entry.key, counts):
                    return counts
            request = None if page.after is None else PageRequest(_PAGE, page.after)
        return counts

    def _replay(self, key: str, counts: dict[str, int]) -> bool:
        try:
            replayed = self.replayer.replay(key)
        except (UnavailableError, StoredVersionAheadError) as error:
            _logger.warning("replays are postponed", extra={"key": key, "reason": error.message})
            counts["outage"] = 1
            return False
        counts[replayed.outcome] = counts.get(replayed.outcome, 0) + 1
        if replayed.reason:
            extra = {"key": key, "outcome": replayed.outcome, "reason": replayed.reason}
            _logger.warning("a batch is not replayed", extra=extra)
        return True
