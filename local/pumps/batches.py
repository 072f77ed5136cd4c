"""Delivers one batch of a stream: with retries, splits, checkpoints and a failure destination.

Independent of engines: the caller passes the functions that call, record and write, so that every
case of a delivery can be tested.
"""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from pydantic import JsonValue

from local.function_process import InvocationResult
from local.plan import Object
from local.pumps.records import created_at, sequence_of

EXPIRY_SECONDS = 24 * 3600.0  # the time for which a stream keeps a record
_FIRST_PAUSE = 0.2
_LONGEST_PAUSE = 15.0
_LONGEST_AWAY = 2.0  # a check of an engine costs little, and its return should be noticed soon


class Outlet(Protocol):
    """The operations that a delivery uses."""

    async def call(self, records: list[Object]) -> InvocationResult:
        """Call the function with a batch."""
        ...

    def done(self, sequence: str) -> None:
        """Record that all records up to `sequence` are processed."""
        ...

    async def store_failed(
        self, records: list[Object], condition: str, calls: int, result: InvocationResult | None
    ) -> None:
        """Write records to the failure destination; the stream continues only after it succeeds."""
        ...


@dataclass(frozen=True)
class Policy:
    """The settings of the mapping for failures."""

    reports_failures: bool
    bisects: bool
    maximum_retries: int | None
    maximum_age: float | None


@dataclass(frozen=True)
class _Segment:
    records: list[Object]
    failures: int = 0


async def deliver(
    records: list[Object],
    policy: Policy,
    outlet: Outlet,
    *,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> None:
    """Deliver the records in order; return when all are processed."""
    waiting = [_Segment(records)]
    while waiting:
        segment = await _without_aged(waiting.pop(), policy, outlet)
        if not segment.records:
            continue
        result = await outlet.call(segment.records)
        failed = first_failure(result, segment.records, reports=policy.reports_failures)
        if failed:
            outlet.done(sequence_of(segment.records[failed - 1]))
        elif failed is None:
            outlet.done(sequence_of(segment.records[-1]))
            continue
        rest = segment.records[failed:]
        failures = 1 if failed else segment.failures + 1
        if policy.bisects and len(rest) > 1:
            # Split where the function reported, or in the middle if it made no progress.
            half = 0 if failed else len(rest) // 2
            # As on AWS, splitting a failed batch does not count as a retry. Halves, not single
            # records: a batch that failed in an outage needs few calls after the outage.
            waiting += [_Segment(part) for part in (rest[half:], rest[:half]) if part]
        elif policy.maximum_retries is not None and failures > policy.maximum_retries:
            await outlet.store_failed(rest, "RetryAttemptsExhausted", failures, result)
            outlet.done(sequence_of(rest[-1]))
        else:
            waiting.append(_Segment(rest, failures))
            await sleep(pause_after(failures))


async def _without_aged(segment: _Segment, policy: Policy, outlet: Outlet) -> _Segment:
    """Send records that are older than the policy allows to the failures; return the rest."""
    limit = EXPIRY_SECONDS if policy.maximum_age is None else policy.maximum_age
    oldest = time.time() - limit
    young = (at for at, record in enumerate(segment.records) if created_at(record) >= oldest)
    aged = next(young, len(segment.records))
    if not aged:
        return segment
    await outlet.store_failed(segment.records[:aged], "RecordAgeExceeded", segment.failures, None)
    outlet.done(sequence_of(segment.records[aged - 1]))
    return _Segment(segment.records[aged:])


def pause_after(failures: int) -> float:
    """Return the delay before the next attempt: doubled each time, with jitter."""
    pause = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** min(failures - 1, 10))
    return pause * random.uniform(0.8, 1.2)


def pause_while_away(failures: int) -> float:
    """Return the delay before another attempt while an engine does not respond."""
    return min(_LONGEST_AWAY, pause_after(failures))


def first_failure(result: InvocationResult, records: list[Object], *, reports: bool) -> int | None:
    """Return the index of the first record that failed; None if all succeeded.

    A report that names no record of the batch means that the whole batch failed.
    """
    if result.error is not None:
        return 0
    if not reports:
        return None
    named = failed_identifiers(result)
    if named is None:
        return 0
    if not named:
        return None
    places = {sequence_of(record): index for index, record in enumerate(records)}
    return min(places.get(name, 0) for name in named)


def failed_identifiers(result: InvocationResult) -> set[str] | None:
    """Return the identifiers in a function's `batchItemFailures`; None when it is malformed."""
    try:
        value: JsonValue = result.value()
    except ValueError:
        return None
    if value is None:
        return set()
    if not isinstance(value, dict):
        return None
    failures = value.get("batchItemFailures") or []
    if not isinstance(failures, list):
        return None
    named: set[str] = set()
    for failure in failures:
        identifier = failure.get("itemIdentifier") if isinstance(failure, dict) else None
        if not isinstance(identifier, str) or not identifier:
            return None
        named.add(identifier)
    return named
