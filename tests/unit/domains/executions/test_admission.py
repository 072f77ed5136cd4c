"""Executions wait until there is room, start once, and release their place when they end."""

from collections.abc import Callable

import pytest

from backend.core.errors import RateLimitedError, UnavailableError
from backend.core.runs import RunInput
from backend.core.transactions import Delete
from backend.domains.executions.errors import ExecutionActiveError
from backend.domains.executions.repository.rows import row_key
from backend.domains.executions.rules import reservation_key, target_of
from backend.spec.queues import EXECUTION_STARTS
from backend.spec.tables.operations import RESERVATIONS
from backend.spec.tables.workflows import ACTIVE_EXECUTIONS, WORKFLOW_EXECUTIONS
from tests.factories.executions import Runner, status_event


@pytest.fixture
def runner() -> Runner:
    return Runner()


def test_an_execution_that_waits_is_started(runner: Runner) -> None:
    runner.create()
    assert runner.status_of() == "NEW"
    assert runner.start() == {"batchItemFailures": []}
    assert set(runner.runs.started) == {"e1"}
    execution = runner.executions.find("e1")
    assert execution is not None
    assert (execution.execution_status, execution.start_date) == ("RUNNING", "03/01/2026, 12:00:00")
    assert execution.started_at == "2026-03-01T12:00:00.000000Z"
    assert runner.counted == 1


def test_no_more_than_the_limit_are_admitted_and_the_oldest_come_first(runner: Runner) -> None:
    runner.limit = 3
    ids = runner.create_many(8)
    runner.start()
    assert list(runner.runs.started) == ids[:3]
    runner.start()
    assert (len(runner.runs.started), runner.counted) == (3, 3)
    runner.report(status_event(ids[1]))
    assert runner.queues.take(EXECUTION_STARTS) == [{}]
    runner.start()
    assert list(runner.runs.started) == ids[:4]
    assert runner.counted == 3


def test_many_executions_all_run_and_never_more_than_the_limit_at_once(runner: Runner) -> None:
    runner.limit = 7
    ids = runner.create_many(100)
    most = 0
    for _ in range(200):
        runner.start()
        running = [one for one, run in runner.runs.started.items() if run.state.status == "RUNNING"]
        most = max(most, len(running))
        if not running:
            break
        for one in running[::2] or running:
            runner.runs.end(one, "SUCCEEDED")
            runner.report(status_event(one))
    assert set(runner.runs.started) == set(ids)
    assert {runner.status_of(one) for one in ids} == {"SUCCEEDED"}
    assert most == 7
    assert runner.counted == 0
    assert runner.tables.rows(ACTIVE_EXECUTIONS) == []


def test_a_call_stops_in_time_and_has_the_rest_started_by_the_next(
    runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A function that its time-out ends would return the message as one that failed."""
    ids = runner.create_many(8)
    start = runner.runs.start

    def slow(execution_id: str, given: RunInput) -> None:
        runner.wait(seconds=25)
        start(execution_id, given)

    monkeypatch.setattr(runner.runs, "start", slow)
    runner.start()
    assert list(runner.runs.started) == ids[:3]
    assert runner.queues.take(EXECUTION_STARTS) == [{}]
    runner.start()
    runner.start()
    assert list(runner.runs.started) == ids
    assert runner.queues.take(EXECUTION_STARTS) == [{}]


def test_an_end_that_is_reported_twice_releases_one_place(runner: Runner) -> None:
    first, second = runner.create_many(2)
    runner.start()
    runner.report(status_event(first), status_event(first), status_event(first, "FAILED"))
    assert runner.status_of(first) == "SUCCEEDED"
    assert runner.counted == 1
    runner.report(status_event(second, "ABORTED"))
    assert runner.counted == 0


def test_an_end_releases_the_workflow_and_file(runner: Runner) -> None:
    created = runner.create()
    runner.start()
    with pytest.raises(ExecutionActiveError):
        runner.create("e2")
    runner.report(status_event("e1", "TIMED_OUT"))
    assert runner.executions.active_run(reservation_key(target_of(created))) is None
    runner.create("e2")


def test_events_may_overtake_each_other(runner: Runner) -> None:
    runner.create()
    runner.start()
    runner.report(status_event(status="SUCCEEDED"), status_event(status="RUNNING"))
    assert runner.status_of() == "SUCCEEDED"


def test_an_end_may_be_reported_before_the_start_is_noted(runner: Runner) -> None:
    """The process died after the start, before it noted it."""
    runner.create()
    (waiting,) = runner.active.oldest_waiting(1)
    runner.active.admit(waiting, at="2026-03-01T12:00:00.000000Z", limit=50)
    runner.report(status_event())
    execution = runner.executions.find("e1")
    assert execution is not None
    assert (execution.execution_status, execution.started_at) == ("SUCCEEDED", execution.stopped_at)
    assert runner.counted == 0


def test_events_of_unknown_executions_change_nothing(runner: Runner) -> None:
    before = runner.tables.rows(RESERVATIONS)
    assert runner.report(status_event("unknown")) == {"batchItemFailures": []}
    assert runner.report(status_event("unknown", "RUNNING")) == {"batchItemFailures": []}
    assert runner.tables.rows(RESERVATIONS) == before
    assert runner.kept == []


@pytest.mark.parametrize(
    "body", [{}, {"detail": {"name": 7}}, [], "text", {"detail": {"name": ""}}]
)
def test_what_is_no_event_is_kept_with_the_failures(runner: Runner, body: object) -> None:
    assert runner.report(body) == {"batchItemFailures": []}
    assert len(runner.kept) == 1


def test_an_admitted_execution_that_was_never_started_is_started_later(runner: Runner) -> None:
    """The process died between admission and start."""
    runner.create()
    (waiting,) = runner.active.oldest_waiting(1)
    runner.active.admit(waiting, at="2026-03-01T12:00:00.000000Z", limit=50)
    runner.start()  # it may be under way in another process
    assert not runner.runs.started
    runner.wait(seconds=31)
    runner.start()
    assert runner.status_of() == "RUNNING"
    assert runner.counted == 1


def test_an_admitted_execution_is_started_at_once_when_its_starter_is_known_to_have_ended(
    runner: Runner,
) -> None:
    """Its message comes again: after a crash of the local runtime, or after an outage."""
    runner.create()
    (waiting,) = runner.active.oldest_waiting(1)
    runner.active.admit(waiting, at="2026-03-01T12:00:00.000000Z", limit=50)
    runner.start(received=2)
    assert runner.status_of() == "RUNNING"


def test_a_start_is_repeated_without_effect(runner: Runner) -> None:
    """The process died after the start, before it noted it."""
    created = runner.create()
    runner.start()
    (admitted,) = runner.active.list_admitted()
    runner.tables.write(
        Delete(table=ACTIVE_EXECUTIONS, key={"state": "admitted", "executionId": "e1"})
    )
    again = admitted.model_copy(update={"started_at": None})
    row = again.model_dump(by_alias=True, exclude_none=True)
    runner.tables.put_many(ACTIVE_EXECUTIONS, [row])
    runner.wait(minutes=1)
    runner.start()
    assert (len(runner.runs.started), runner.counted) == (1, 1)
    assert runner.executions.find("e1") is not None
    assert created.execution_id in runner.runs.started


def test_an_outage_delays_a_start(runner: Runner) -> None:
    runner.create()
    runner.runs.fail_next = 1
    assert runner.start() == {"batchItemFailures": [{"itemIdentifier": "m"}]}
    assert (runner.status_of(), len(runner.alarms)) == ("NEW", 1)
    runner.wait(seconds=10)
    assert runner.start(received=2) == {"batchItemFailures": []}
    assert runner.status_of() == "RUNNING"
    assert runner.counted == 1


class Busy:
    """Step Functions that throttles every start."""

    def start(self, execution_id: str, given: RunInput) -> None:
        raise RateLimitedError("too many executions", retry_after=60)


def test_throttled_starts_are_tried_for_fifteen_minutes(
    runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner.create()
    monkeypatch.setattr(runner.runs, "start", Busy().start)
    runner.start()
    assert runner.alarms == []  # it is no outage
    for _ in range(14):
        runner.wait(minutes=1)
        assert runner.start() == {"batchItemFailures": [{"itemIdentifier": "m"}]}
    assert runner.status_of() == "NEW"
    runner.wait(minutes=2)
    assert runner.start() == {"batchItemFailures": []}
    execution = runner.executions.find("e1")
    assert execution is not None
    assert execution.error is not None
    assert (execution.execution_status, execution.error.code) == ("FAILED", "NotStarted")
    assert runner.counted == 0


def test_an_execution_of_an_archived_asset_fails_with_the_reason(runner: Runner) -> None:
    runner.create(asset_id="unknown", input_asset_file_key="unknown/a.glb")
    runner.create("e2")
    runner.start()
    execution = runner.executions.find("e1")
    assert execution is not None
    assert execution.error is not None
    assert (execution.execution_status, execution.error.code) == ("FAILED", "AssetNotFound")
    assert set(runner.runs.started) == {"e2"}
    assert runner.counted == 1


@pytest.mark.parametrize("is_started", [False, True])
def test_a_deleted_asset_frees_its_places(runner: Runner, is_started: bool) -> None:
    created = runner.create()
    if is_started:
        runner.start()
    runner.tables.write(Delete(table=WORKFLOW_EXECUTIONS, key=row_key(created)))
    if is_started:
        runner.report(status_event())
    else:
        runner.start()
        assert not runner.runs.started
    assert runner.counted == 0
    assert runner.tables.rows(ACTIVE_EXECUTIONS) == []
    assert runner.executions.active_run(reservation_key(target_of(created))) is None


def test_an_execution_that_ends_while_it_is_started_is_stopped(runner: Runner) -> None:
    runner.create()
    start: Callable[[str, RunInput], None] = runner.runs.start

    def overtaken(execution_id: str, given: RunInput) -> None:
        runner.progress.end(execution_id, "ABORTED")
        start(execution_id, given)

    runner.runs.start = overtaken
    runner.start()
    assert runner.status_of() == "ABORTED"
    assert runner.runs.started["e1"].state.status == "ABORTED"
    assert runner.counted == 0


def test_an_interrupted_execution_fails_truthfully(runner: Runner) -> None:
    ids = runner.create_many(3)
    runner.start()
    del runner.runs.started[ids[0]]
    runner.runs.end(ids[1], "FAILED", error="MeshBroken", cause="not manifold")
    runner.reconciliation.run()
    assert runner.status_of(ids[0]) == "RUNNING"  # its start may not be visible yet
    runner.wait(minutes=6)
    runner.reconciliation.run()
    assert [runner.status_of(one) for one in ids] == ["FAILED", "FAILED", "RUNNING"]
    lost, ended = (runner.executions.find(one) for one in ids[:2])
    assert lost is not None
    assert lost.error is not None
    assert lost.error.code == "Interrupted"
    assert ended is not None
    assert ended.error is not None
    assert ended.error.message == "not manifold"
    assert ended.stopped_at == "2026-01-02T03:04:05.678000Z"
    assert runner.counted == 1


def test_reconciliation_requests_starts_that_were_lost(runner: Runner) -> None:
    runner.reconciliation.run()
    assert runner.queues.take(EXECUTION_STARTS) == []
    runner.create()
    runner.reconciliation.run()
    assert runner.queues.take(EXECUTION_STARTS) == [{}]
    (waiting,) = runner.active.oldest_waiting(1)
    runner.active.admit(waiting, at="2026-03-01T12:00:00.000000Z", limit=50)
    runner.reconciliation.run()
    assert runner.queues.take(EXECUTION_STARTS) == [{}]


def test_an_outage_delays_reconciliation(runner: Runner) -> None:
    runner.create()
    runner.start()
    runner.wait(minutes=6)
    runner.runs.fail_next = 1
    runner.reconciliation.run()
    assert runner.status_of() == "RUNNING"


@pytest.mark.parametrize("number", range(12))
def test_a_crash_at_any_write_of_an_end_is_repaired_by_a_repetition(
    runner: Runner, number: int
) -> None:
    runner.create()
    runner.create("e2", input_asset_file_key="statue/b.glb")
    runner.limit = 1
    left = [number]

    def crash(operation: str) -> None:
        left[0] -= 1
        if left[0] == -1:
            raise UnavailableError("the process died")

    runner.tables.before = crash
    runner.start()
    runner.report(status_event())
    runner.tables.before = lambda operation: None
    runner.wait(minutes=1)
    for _ in range(3):
        runner.start()
        runner.report(status_event())
    runner.start()
    assert runner.status_of("e1") == "SUCCEEDED"
    assert runner.status_of("e2") == "RUNNING"
    assert runner.counted == 1
