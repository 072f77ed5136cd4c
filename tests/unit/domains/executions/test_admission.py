"""Executions wait for a place, start once, release it, and keep those of others not waiting."""

import json
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from backend.core.errors import RateLimitedError, UnavailableError
from backend.core.identity import SYSTEM
from backend.core.runs import RunInput
from backend.core.transactions import Delete
from backend.domains.executions.errors import ExecutionActiveError
from backend.domains.executions.models import ActiveExecution
from backend.domains.executions.repository.rows import row_key
from backend.domains.executions.rules import reservation_key, target_of
from backend.domains.executions.rules.places import executions_to_admit
from backend.spec.queues import EXECUTION_STARTS
from backend.spec.tables.operations import RESERVATIONS
from backend.spec.tables.workflows import ACTIVE_EXECUTIONS, WORKFLOW_EXECUTIONS
from tests.factories.audit import entries
from tests.factories.executions import Runner, status_event


@pytest.fixture
def runner() -> Runner:
    return Runner()


def test_an_end_of_an_execution_releases_its_place_workflow_and_file(runner: Runner) -> None:
    created = runner.create()
    assert runner.status_of() == "NEW"
    assert runner.start() == {"batchItemFailures": []}
    assert set(runner.runs.started) == {"e1"}
    execution = runner.execution("e1")
    assert (execution.execution_status, execution.start_date) == ("RUNNING", "03/01/2026, 12:00:00")
    assert execution.started_at == "2026-03-01T12:00:00.000000Z"
    assert runner.counted == 1
    with pytest.raises(ExecutionActiveError):
        runner.create("e2")
    runner.report(status_event("e1", "TIMED_OUT"))
    assert runner.executions.active_run(reservation_key(target_of(created))) is None
    runner.create("e2")


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


def test_an_end_that_is_reported_twice_or_late_releases_one_place(runner: Runner) -> None:
    first, second = runner.create_many(2)
    runner.start()
    runner.report(status_event(first), status_event(first), status_event(first, "FAILED"))
    assert runner.status_of(first) == "SUCCEEDED"
    assert runner.counted == 1
    runner.report(status_event(second, "ABORTED"))
    assert runner.counted == 0


def test_an_end_may_be_reported_before_the_start_is_noted(runner: Runner) -> None:
    """The process died after the start, before it noted it."""
    runner.create()
    runner.admit_waiting()
    runner.report(status_event())
    execution = runner.execution("e1")
    assert (execution.execution_status, execution.started_at) == ("SUCCEEDED", execution.stopped_at)
    assert runner.counted == 0


def test_events_of_unknown_executions_and_late_ones_change_nothing(runner: Runner) -> None:
    before = runner.tables.rows(RESERVATIONS)
    assert runner.report(status_event("unknown")) == {"batchItemFailures": []}
    assert runner.report(status_event("unknown", "RUNNING")) == {"batchItemFailures": []}
    assert runner.tables.rows(RESERVATIONS) == before
    assert runner.kept == []
    runner.create()
    runner.start()
    runner.report(status_event(status="SUCCEEDED"), status_event(status="RUNNING"))
    assert runner.status_of() == "SUCCEEDED"


@pytest.mark.parametrize(
    "body", [{}, {"detail": {"name": 7}}, [], "text", {"detail": {"name": ""}}]
)
def test_what_is_no_event_is_kept_with_the_failures(runner: Runner, body: object) -> None:
    assert runner.report(body) == {"batchItemFailures": []}
    assert len(runner.kept) == 1


@pytest.mark.parametrize(
    ("seconds", "received"), [(31, 1), (0, 2)], ids=["later", "at once if its message comes again"]
)
def test_an_admitted_execution_is_started(runner: Runner, seconds: int, received: int) -> None:
    """The process died between admission and start. A message comes again after a crash."""
    runner.create()
    runner.admit_waiting()
    runner.start()  # it may be under way in another process
    assert not runner.runs.started
    runner.wait(seconds=seconds)
    runner.start(received=received)
    assert runner.status_of() == "RUNNING"
    assert runner.counted == 1


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


def test_an_outage_delays_starts_and_reconciliation(runner: Runner) -> None:
    runner.create()
    runner.runs.fail_next = 1
    assert runner.start() == {"batchItemFailures": [{"itemIdentifier": "m"}]}
    assert (runner.status_of(), len(runner.alarms)) == ("NEW", 1)
    runner.wait(seconds=10)
    assert runner.start(received=2) == {"batchItemFailures": []}
    assert runner.status_of() == "RUNNING"
    assert runner.counted == 1
    runner.start()
    runner.wait(minutes=6)
    runner.runs.fail_next = 1
    runner.reconciliation.run()
    assert runner.status_of() == "RUNNING"


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
    assert runner.outcome() == ("FAILED", "NotStarted")
    assert runner.counted == 0


def test_an_execution_of_an_archived_asset_fails_with_the_reason(runner: Runner) -> None:
    runner.create(asset_id="unknown", input_asset_file_key="unknown/a.glb")
    runner.create("e2")
    runner.start()
    assert runner.outcome() == ("FAILED", "AssetNotFound")
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
    assert [runner.status_of(item) for item in ids] == ["FAILED", "FAILED", "RUNNING"]
    assert runner.outcome(ids[0]) == ("FAILED", "Interrupted")
    ended = runner.execution(ids[1])
    assert ended.error is not None
    assert ended.error.message == "not manifold"
    assert ended.stopped_at == "2026-01-02T03:04:05.678000Z"
    statuses = {
        item["entity"]: item["changes"]["executionStatus"]["after"]
        for item in entries(runner.tables)
        if item["operation"] == "complete_execution"
    }
    assert statuses == {f"execution:{item}": "FAILED" for item in ids[:2]}
    assert runner.counted == 1


def test_reconciliation_requests_starts_that_were_lost(runner: Runner) -> None:
    runner.reconciliation.run()
    assert runner.queues.take(EXECUTION_STARTS) == []
    runner.create()
    runner.reconciliation.run()
    assert runner.queues.take(EXECUTION_STARTS) == [{}]
    runner.admit_waiting()
    runner.reconciliation.run()
    assert runner.queues.take(EXECUTION_STARTS) == [{}]


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


ROOT = Path(__file__).resolve().parents[4]


def active(*users: str, since: int = 0, state: str = "waiting") -> list[ActiveExecution]:
    """Executions of these users, in this order of age."""
    return [
        ActiveExecution.model_validate(
            {
                "state": state,
                "executionId": f"e{since + number:05}",
                "databaseId": "museum",
                "assetId": "statue",
                "reservation": "Run#1",
                "since": "2026-03-01T12:00:00.000000Z",
                "user": user,
            }
        )
        for number, user in enumerate(users)
    ]


def taken(waiting: list[ActiveExecution], limit: int, *running: str) -> dict[str, int]:
    executions = executions_to_admit(
        waiting, active(*running, since=90_000, state="admitted"), limit, {}
    )
    return dict(Counter(item.user for item in executions))


def test_places_are_given_by_turns_and_one_stays_free_while_others_wait() -> None:
    waiting = active(*["ann"] * 60)
    assert executions_to_admit(waiting, [], 50, {}) == waiting[:50]
    waiting = active(*(["ann"] * 10 + ["bob"] * 10 + ["eve"] * 10))
    assert [execution.user for execution in executions_to_admit(waiting, [], 4, {})] == [
        "ann",
        "bob",
        "eve",
    ]
    waiting = active(*["ann"] * 10, *["bob"] * 10, *["eve"] * 10, "zoe")
    running = active("bob", "eve", since=90_000, state="admitted")
    ended = {"ann": "2026-03-01T12:00:09.000000Z", "zoe": "2026-03-01T11:00:00.000000Z"}
    assert [execution.user for execution in executions_to_admit(waiting, running, 3, ended)] == [
        "zoe"
    ]
    old = [item.model_copy(update={"user": ""}) for item in active(*["x"] * 5)]
    system = active(*[SYSTEM.user_id] * 5, since=100)
    assert taken([*old, *system, *active("ann", since=200)], 4) == {
        "": 1,
        SYSTEM.user_id: 1,
        "ann": 1,
    }
    ann, bob = ["ann"] * 100, ["bob"] * 100
    assert taken(active(*ann, *bob), 50) == {"ann": 25, "bob": 24}
    assert taken(active(*ann, *bob), 50, *["ann"] * 25, *["bob"] * 24) == {}
    assert taken(active(*ann, *bob, "eve"), 50, *["ann"] * 25, *["bob"] * 24) == {"eve": 1}
    assert taken(active(*ann, *bob), 4) == {"ann": 2, "bob": 1}
    assert taken(active(*ann, *bob), 1) == {"ann": 1}
    assert taken(active(*ann), 50, *["bob"] * 49) == {"ann": 1}


@pytest.mark.parametrize("limit", [2, 4, 50])
def test_one_file_beside_a_thousand_of_another_user_comes_first(limit: int) -> None:
    waiting = active(*["ann"] * 1000, "bob")
    executions = executions_to_admit(
        waiting, active(*["ann"] * (limit - 1), since=90_000), limit, {}
    )
    assert [item.user for item in executions] == ["bob"]


def test_a_file_waits_for_one_turn_of_each_of_three_users_who_hold_all_places() -> None:
    runner = Runner()
    runner.limit = 3
    for user in ("ann", "bob", "eve"):
        for number in range(10):
            key = f"statue/{user}{number}.las"
            runner.create(f"e{user}{number}", input_asset_file_key=key, started_by=user)
    runner.start()
    assert {item[1:4] for item in runner.runs.started} == {"ann", "bob", "eve"}
    runner.now += timedelta(seconds=1)
    runner.create("late", started_by="zoe")
    runner.now += timedelta(seconds=1)
    runner.report(status_event("eann0"))
    runner.start()
    assert [*runner.runs.started][3:] == ["late"]


def test_a_waiting_execution_carries_its_user_also_in_its_place() -> None:
    runner = Runner()
    runner.limit = 4
    for number in range(30):
        key = f"statue/bomb{number}.las"
        runner.create(f"e{number:03}", input_asset_file_key=key, started_by="eve")
    runner.start()
    assert len(runner.runs.started) == 4
    runner.create("e900", started_by="ann")
    runner.start()
    assert "e900" not in runner.runs.started  # all places are taken
    runner.report(status_event("e000"))
    runner.start()
    assert [*runner.runs.started][4:] == ["e900"]
    users = Counter(str(row.get("user")) for row in runner.tables.rows(ACTIVE_EXECUTIONS))
    assert users == {"eve": 29, "ann": 1}
    (row,) = (row for row in runner.tables.rows(ACTIVE_EXECUTIONS) if row["user"] == "ann")
    assert row["state"] == "admitted"


def test_an_item_without_a_user_is_admitted() -> None:
    runner = Runner()
    runner.create()
    (row,) = runner.tables.rows(ACTIVE_EXECUTIONS)
    runner.tables.put_many(ACTIVE_EXECUTIONS, [{k: v for k, v in row.items() if k != "user"}])
    runner.start()
    assert set(runner.runs.started) == {"e1"}


def test_the_local_stage_admits_no_more_executions_than_two_processors_run() -> None:
    """Two are read, and the results of one are stored."""
    stages = json.loads((ROOT / "cdk.json").read_text(encoding="utf-8"))["context"]["stages"]
    assert stages["local"]["executionsAtOnce"] == 3
