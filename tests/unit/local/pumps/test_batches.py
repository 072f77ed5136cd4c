"""Every course that the delivery of a stream's batch can take."""

import asyncio
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local.function_process import InvocationResult, function_error
from local.plan import Object
from local.pumps.batches import Policy, deliver, pause_after, pause_while_away
from local.pumps.records import sequence_of

_OK = InvocationResult(b'{"batchItemFailures": []}')


def _record(sequence: int, age: float = 0) -> Object:
    changed: Object = {
        "SequenceNumber": str(sequence),
        "ApproximateCreationDateTime": time.time() - age,
    }
    return {"dynamodb": changed}


def _report(*sequences: int) -> InvocationResult:
    failures = [{"itemIdentifier": str(sequence)} for sequence in sequences]
    return InvocationResult(json.dumps({"batchItemFailures": failures}).encode())


@dataclass
class _Outlet:
    """Writes down what a delivery does; the function's answer is the test's."""

    answer: Callable[[list[int]], InvocationResult]
    calls: list[list[int]] = field(default_factory=list[list[int]])
    checkpoints: list[int] = field(default_factory=list[int])
    failed_batch: list[tuple[list[int], str]] = field(default_factory=list[tuple[list[int], str]])
    pauses: list[float] = field(default_factory=list[float])

    async def call(self, records: list[Object]) -> InvocationResult:
        numbers = [int(sequence_of(record)) for record in records]
        self.calls.append(numbers)
        return self.answer(numbers)

    def done(self, sequence: str) -> None:
        self.checkpoints.append(int(sequence))

    async def store_failed(
        self, records: list[Object], condition: str, calls: int, result: InvocationResult | None
    ) -> None:
        self.failed_batch.append(([int(sequence_of(record)) for record in records], condition))

    async def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)


def _deliver(
    outlet: _Outlet,
    records: list[Object],
    *,
    reports: bool = True,
    bisects: bool = True,
    retries: int | None = None,
    age: float | None = None,
) -> None:
    policy = Policy(reports, bisects, retries, age)
    asyncio.run(deliver(records, policy, outlet, sleep=outlet.sleep))


def _records(count: int) -> list[Object]:
    return [_record(number) for number in range(count)]


@pytest.mark.parametrize(
    ("first", "reports", "calls", "checkpoints"),
    [
        (_OK, True, [[0, 1, 2, 3, 4]], [4]),
        # a partial failure is retried from the first that failed
        (_report(3, 2), True, [[0, 1, 2, 3, 4], [2, 3, 4]], [1, 4]),
        # without reports only an error is a failure
        (_report(0), False, [[0, 1, 2, 3, 4]], [4]),
    ],
)
def test_a_batch_is_called_again_from_what_failed(
    first: InvocationResult, reports: bool, calls: list[list[int]], checkpoints: list[int]
) -> None:
    outlet = _Outlet(lambda _: first if len(outlet.calls) == 1 else _OK)
    _deliver(outlet, _records(5), reports=reports)
    assert (outlet.calls, outlet.checkpoints) == (calls, checkpoints)


def test_a_report_about_no_record_of_the_batch_fails_all() -> None:
    answers = iter([_report(77), InvocationResult(b'{"batchItemFailures": [{"x": 1}]}'), _OK])
    outlet = _Outlet(lambda _: next(answers))
    _deliver(outlet, _records(3), bisects=False)

    assert outlet.calls == [[0, 1, 2]] * 3


def test_splitting_finds_the_one_record_that_raises() -> None:
    outlet = _Outlet(lambda numbers: function_error("E", "") if 5 in numbers else _OK)
    _deliver(outlet, _records(8), retries=2)

    assert outlet.failed_batch == [([5], "RetryAttemptsExhausted")]
    assert outlet.calls.count([5]) == 3
    assert outlet.checkpoints[-1] == 7


def test_without_splitting_the_whole_rest_is_abandoned() -> None:
    outlet = _Outlet(lambda numbers: _report(2) if 2 in numbers else _OK)
    _deliver(outlet, _records(4), bisects=False, retries=1)

    assert outlet.failed_batch == [([2, 3], "RetryAttemptsExhausted")]
    assert outlet.checkpoints == [1, 3]


def test_an_outage_is_waited_out_with_growing_pauses_and_few_calls_after_it() -> None:
    outlet = _Outlet(lambda _: function_error("E", "") if len(outlet.calls) <= 20 else _OK)
    _deliver(outlet, _records(512))

    assert outlet.pauses[0] < 1 < outlet.pauses[-1]
    assert len(outlet.calls) - 20 <= 10
    assert outlet.checkpoints[-1] == 511
    assert not outlet.failed_batch


def test_pauses_grow_to_a_limit() -> None:
    assert pause_after(1) < 0.3
    assert 10 < pause_after(100) < 20
    assert pause_while_away(1) < 0.3
    assert pause_while_away(100) == 2


def test_records_that_are_too_old_are_abandoned_without_a_call() -> None:
    outlet = _Outlet(lambda _: _OK)
    _deliver(outlet, [_record(0, age=100), _record(1)], age=60)

    assert outlet.failed_batch == [([0], "RecordAgeExceeded")]
    assert outlet.calls == [[1]]


def test_a_failing_record_is_abandoned_when_it_grows_too_old() -> None:
    old = _record(0, age=59.8)
    outlet = _Outlet(lambda _: function_error("E", ""))

    async def sleep(_: float) -> None:
        await asyncio.sleep(0.1)

    asyncio.run(deliver([old], Policy(True, True, None, 60), outlet, sleep=sleep))

    assert outlet.failed_batch == [([0], "RecordAgeExceeded")]


@given(
    poison=st.sets(st.integers(0, 30)),
    count=st.integers(1, 31),
    reports=st.booleans(),
    retries=st.integers(0, 3),
)
def test_whatever_fails_everything_else_is_delivered_in_order(
    poison: set[int], count: int, reports: bool, retries: int
) -> None:
    delivered: list[int] = []

    def answer(numbers: list[int]) -> InvocationResult:
        bad = [number for number in numbers if number in poison]
        if not bad:
            delivered.extend(numbers)
            return _OK
        if not reports:
            return function_error("E", "")
        delivered.extend(number for number in numbers if number < bad[0])
        return _report(bad[0])

    outlet = _Outlet(answer)
    _deliver(outlet, _records(count), reports=reports, retries=retries)

    assert delivered == [number for number in range(count) if number not in poison]
    failed_batch = [number for numbers, _ in outlet.failed_batch for number in numbers]
    assert failed_batch == sorted(poison & set(range(count)))
    assert outlet.checkpoints == sorted(outlet.checkpoints)
    assert outlet.checkpoints[-1] == count - 1
