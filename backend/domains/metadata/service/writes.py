"""Carries out a request to write records: reads, decides, writes, and retries.

A request of more records than a transaction allows is written in several, in the order of its plan.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from typing import NamedTuple

from backend.core.errors import ConflictError, TooLargeError, UnavailableError
from backend.core.transactions import MAX_TRANSACTION_ITEMS, Write
from backend.domains.metadata import rules
from backend.domains.metadata.errors import NoRoomError, RecordsBusyError, TooManyRecordsError
from backend.domains.metadata.models import MAX_RECORDS, AnyEntity, Entity, Record
from backend.domains.metadata.repository import (
    EntryOf,
    Found,
    MetadataRepository,
    Part,
    RecordSet,
    item_of,
    size_of,
)
from backend.spec.facts import STORED_KEYS

# Records that fit one transaction of 100 items besides the audit entry, the count and related rows;
# more are counted first, because they take several.
MOST_AT_ONCE = 90
_ATTEMPTS = 8  # of a write that conflicts with additions or removals of the same keys
_FIRST_PAUSE = 0.01  # seconds; before the third attempt, and twice as long before each next one
_BESIDE_RECORDS = 2  # items of a transaction: its entry, and the count of the records
_TRANSACTION_BYTES = 3_500_000  # DynamoDB's limit is 4 MB per transaction


class WriteRequest(NamedTuple):
    """A request to write: the deciding keys, the plan, and the audit entries."""

    entity: AnyEntity
    reads: Set[str]
    plan: Callable[[rules.Records, Set[str]], rules.Plan]
    entry_of: EntryOf | None
    guards: tuple[Write, ...] = ()
    blind: bool = False
    """Whether the first attempt writes without a read. Its conditions detect existing records."""
    serial: bool = False
    """Whether the result depends on records that are not written, which must be unchanged then."""
    whole: bool = False
    """Whether the result depends on all records of the entity."""
    atomic: bool = False
    """Whether all of it is written in one transaction, or nothing."""


def carry_out(metadata: MetadataRepository, wanted: WriteRequest) -> rules.Plan:
    """Read, decide and write; repeat after conflicts.

    After a part of the request is written, keys with conflicts fail individually; so do keys that
    cannot be written because of an outage or a guard.

    Raises:
        ConflictError: a guard refuses the first part, or not all others are removed.
        RecordsBusyError: nothing is written, or not all others are removed.
        UnavailableError: nothing is written, or not all others are removed.
    """
    done: set[str] = set()
    plan = rules.Plan({}, {})
    stored: Mapping[str, Found] = {}
    for attempt in range(_ATTEMPTS):  # by hand: it pauses, and keeps the keys that are written
        if attempt > 1:
            metadata.pause(_FIRST_PAUSE * 2 ** (attempt - 2))
        try:
            known, stored = _state(metadata, wanted, is_blind=wanted.blind and attempt == 0)
            plan = wanted.plan({key: row.record for key, row in stored.items()}, done)
            if _write_plan(metadata, wanted, plan, known, stored, done):
                return plan
        except (ConflictError, UnavailableError) as error:
            if wanted.whole or not done:
                raise
            is_busy = isinstance(error, ConflictError)  # of a guard
            return _left(plan, stored, done, rules.BUSY if is_busy else rules.OUTAGE)
    if wanted.whole or not done:
        raise RecordsBusyError
    return _left(plan, stored, done, rules.BUSY)


def put_facts(
    metadata: MetadataRepository,
    entity: Entity,
    facts: Iterable[Record],
    guards: Iterable[Write] = (),
    unless: Callable[[rules.Records], bool] | None = None,
) -> None:
    """Replace all facts of a file, in one transaction; write nothing if they are unchanged.

    `unless` returns whether the stored ones remain. Raises as `carry_out`.
    """
    sent = {record.metadata_key: record for record in facts}

    def plan(stored: rules.Records, done: Set[str]) -> rules.Plan:
        if unless is not None and unless(stored):
            return rules.Plan({}, {})
        targets = {**dict.fromkeys(key for key in stored if key not in done), **sent}
        return rules.Plan(targets, {})

    reads = set(STORED_KEYS) | sent.keys()
    carry_out(metadata, WriteRequest(entity, reads, plan, entry_of=None, guards=tuple(guards)))


def _left(plan: rules.Plan, stored: Mapping[str, Found], done: Set[str], reason: str) -> rules.Plan:
    """Return the plan, with the reason for each key that is not written."""
    plan.refused.update(dict.fromkeys(_pending_records(plan, stored).keys() - done, reason))
    return plan


def _state(
    metadata: MetadataRepository, wanted: WriteRequest, *, is_blind: bool
) -> tuple[RecordSet | None, Mapping[str, Found]]:
    """Return the set of records, read first if it affects the decision, and the records."""
    if is_blind:
        return None, {}
    if wanted.whole:
        return metadata.whole(wanted.entity)
    is_counted = wanted.serial or len(wanted.reads) > MOST_AT_ONCE
    known = metadata.set_of(wanted.entity) if is_counted else None
    return known, metadata.found(wanted.entity, sorted(wanted.reads))


def _write_plan(
    metadata: MetadataRepository,
    wanted: WriteRequest,
    plan: rules.Plan,
    known: RecordSet | None,
    stored: Mapping[str, Found],
    done: set[str],
) -> bool:
    """Write the plan; return False if records were changed. `done` lists the written keys.

    Raises:
        TooLargeError: an atomic request does not fit one transaction.
        TooManyRecordsError: there is no room, and nothing was written.
    """
    entity = wanted.entity
    pending = _pending_records(plan, stored)
    if known is not None and not done:
        growth = Part(entity=entity, stored=stored, targets=pending).growth
        if growth > 0 and known.size + growth > MAX_RECORDS:
            raise TooManyRecordsError(known.size + growth)
    beside = _BESIDE_RECORDS + len(wanted.guards)
    batches = list(_batches(entity, pending, stored, MAX_TRANSACTION_ITEMS - beside))
    if wanted.atomic and len(batches) > 1:
        raise TooLargeError(
            f"The {len(pending)} changes, including those filled in by metadata schemas, do not "
            f"fit one transaction of {MAX_TRANSACTION_ITEMS} items and {_TRANSACTION_BYTES} bytes"
        )
    for batch in batches:
        part = Part(
            entity=entity,
            stored=stored,
            targets={key: pending[key] for key in batch},
            expected=known if wanted.serial else None,
            guards=wanted.guards,
        )
        try:
            if not metadata.write(part, wanted.entry_of):
                return False
        except NoRoomError as error:
            if not done:
                size = metadata.set_of(entity).size
                raise TooManyRecordsError(size + part.growth) from error
            plan.refused.update(dict.fromkeys(batch, rules.NO_ROOM))
            continue
        done.update(batch)
        if known is not None:
            known = known.after(part)
    return True


def _pending_records(plan: rules.Plan, stored: Mapping[str, Found]) -> dict[str, Record | None]:
    """Return the writes that the plan still needs; None for a removal."""
    return {
        key: record
        for key, record in plan.targets.items()
        if (stored[key].record if key in stored else None) != record
    }


def _batches(
    entity: AnyEntity,
    pending: Mapping[str, Record | None],
    stored: Mapping[str, Found],
    items: int,
) -> Iterator[list[str]]:
    """Yield as many keys at once as a transaction allows."""
    batch: list[str] = []
    size = 0
    for key, record in pending.items():
        old = size_of(stored[key].item) if key in stored else 0
        # Current values are part of the conditions, which count for the 4 MB of a transaction.
        this = old + (0 if record is None else size_of(item_of(entity, record)))
        if batch and (len(batch) == items or size + this > _TRANSACTION_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(key)
        size += this
    if batch:
        yield batch
