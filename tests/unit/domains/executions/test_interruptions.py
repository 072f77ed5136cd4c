"""Inspections that the system started are started again when they were interrupted, twice."""

import pytest

from backend.core.errors import UnavailableError
from backend.domains.executions.rules import MAX_REPEATS
from backend.spec import keys
from backend.spec.queues import EXECUTION_STARTS, UPLOAD_TRIGGERS
from backend.spec.shipped import INSPECT
from backend.spec.tables.operations import RESERVATIONS
from backend.spec.tables.workflows import ACTIVE_EXECUTIONS
from tests.factories.execution_api import Api
from tests.factories.executions import Runner, status_event
from tests.factories.outages import unavailable

KEY = "statue/a.glb"


@pytest.fixture
def runner() -> Runner:
    runner = Runner()
    runner.define_inspection()
    return runner


def inspecting(runner: Runner) -> str:
    """Start the inspection of an upload; return the execution."""
    runner.upload()
    runner.trigger(KEY)
    runner.start()
    runner.queues.messages.clear()
    return runner.list_executions()[-1].execution_id


def interrupt(runner: Runner, execution_id: str) -> None:
    """Have the schedule find that Step Functions has no record of an execution."""
    del runner.runs.started[execution_id]
    runner.wait(minutes=6)
    runner.reconciliation.run()


def outcomes(runner: Runner) -> list[tuple[str, str | None]]:
    return [
        (run.execution_status, None if run.error is None else run.error.code)
        for run in runner.list_executions()
    ]


def test_an_interrupted_inspection_waits_for_a_place_again(runner: Runner) -> None:
    first = inspecting(runner)
    interrupt(runner, first)
    assert outcomes(runner) == [("FAILED", "Interrupted"), ("NEW", None)]
    before, repeated = runner.list_executions()
    same = {"input_asset_file_key", "input_version_id", "trigger", "started_by", "chain"}
    assert before.model_dump(include=same) == repeated.model_dump(include=same)
    assert (repeated.repeats, repeated.started_at, repeated.stopped_at) == (1, "", "")
    (waiting,) = runner.active.list_waiting()
    assert (waiting.execution_id, waiting.user) == (repeated.execution_id, "SYSTEM")
    assert runner.counted == 0
    assert runner.tables.get(RESERVATIONS, {"reservationKey": keys.last_place("SYSTEM")})
    assert {} in runner.queues.take(EXECUTION_STARTS)
    runner.start()
    runner.report(status_event(repeated.execution_id))
    assert outcomes(runner) == [("FAILED", "Interrupted"), ("SUCCEEDED", None)]
    assert not runner.tables.rows(ACTIVE_EXECUTIONS)
    assert runner.executions.active_run(waiting.reservation) is None


def test_an_inspection_that_the_runtime_reports_as_interrupted_is_repeated(runner: Runner) -> None:
    first = inspecting(runner)
    event = status_event(first, "FAILED", error="Interrupted", cause="The runtime ended")
    runner.report(event, event)  # a report that is delivered twice
    assert outcomes(runner) == [("FAILED", "Interrupted"), ("NEW", None)]


def test_interruptions_end_though_each_inspection_is_interrupted(runner: Runner) -> None:
    inspecting(runner)
    for _ in range(MAX_REPEATS + 2):
        runner.start()
        active = [run for run in runner.list_executions() if run.is_active]
        for one in active:
            interrupt(runner, one.execution_id)
    assert outcomes(runner) == [("FAILED", "Interrupted")] * (MAX_REPEATS + 1)
    assert runner.counted == 0
    assert not runner.tables.rows(ACTIVE_EXECUTIONS)


def test_one_that_no_place_started_in_time_is_repeated_as_well(
    runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(runner.runs, "start", unavailable)
        runner.upload()
        runner.trigger(KEY)
        runner.start()
        runner.wait(minutes=16)  # the runtime is stopped
        runner.start()
    assert outcomes(runner) == [("FAILED", "NotStarted"), ("NEW", None)]


@pytest.mark.parametrize(("status", "code"), [("FAILED", "MeshBroken"), ("ABORTED", "Stopped")])
def test_other_ends_of_inspections_are_not_repeated(runner: Runner, status: str, code: str) -> None:
    runner.report(status_event(inspecting(runner), status, error=code))
    assert outcomes(runner) == [(status, code)]


def test_interrupted_executions_of_users_and_of_their_pipelines_are_not_repeated(
    runner: Runner,
) -> None:
    """A pipeline of a user may have written already; a user sees the failure and repeats it."""
    runner.define("publish", triggers=".obj")
    runner.upload("statue/b.obj")
    runner.upload()
    started = Api(runner).started(workflowDatabaseId="GLOBAL", workflow_id=INSPECT.id)
    runner.trigger("statue/b.obj")
    runner.start()
    own = [
        run
        for run in runner.list_executions()
        if run.workflow_id == "publish" or run.execution_id == started
    ]
    assert len(own) == 2
    for one in own:
        runner.report(status_event(one.execution_id, "FAILED", error="Interrupted"))
    assert [run.repeats for run in runner.list_executions()] == [0] * len(runner.list_executions())


def test_a_newer_version_is_inspected_instead_of_the_interrupted_one(runner: Runner) -> None:
    first = inspecting(runner)
    newer = runner.upload()
    runner.trigger(KEY)
    interrupt(runner, first)
    for body in runner.queues.take(UPLOAD_TRIGGERS):
        if "detail" in body:  # the other message is the reason of the failure
            runner.trigger(body["detail"]["object"]["key"])
    found = {
        run.execution_id: (run.execution_status, run.repeats) for run in runner.list_executions()
    }
    assert found.pop(first) == ("FAILED", 0)
    assert list(found.values()) == [("NEW", 0)]
    assert newer in {run.input_version_id for run in runner.list_executions()}


def test_a_process_that_dies_as_it_ends_one_leaves_it_to_the_next(runner: Runner) -> None:
    first = inspecting(runner)
    writes = runner.tables.before

    def crash(operation: str) -> None:
        if operation == "write":
            raise UnavailableError("the process died")

    runner.tables.before = crash
    interrupt(runner, first)
    runner.tables.before = writes
    assert outcomes(runner) == [("RUNNING", None)]
    runner.reconciliation.run()
    assert outcomes(runner) == [("FAILED", "Interrupted"), ("NEW", None)]
