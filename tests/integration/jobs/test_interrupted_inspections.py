"""An interrupted inspection ends, and is queued again, in one transaction of the real tables."""

from typing import Any, cast

from backend.domains.executions.models import RunError
from backend.domains.executions.rules import (
    INTERRUPTED,
    MAX_REPEATS,
    reservation_key,
    target_of,
)
from tests.factories.executions import Runner
from tests.integration.tables import TableSet


def test_an_interrupted_inspection_waits_again_and_not_for_ever(table_set: TableSet) -> None:
    runner = Runner(tables=cast("Any", table_set.tables))
    reservation = reservation_key(target_of(runner.create(trigger="upload", shipped=True)))
    error = RunError(code=INTERRUPTED, message="unknown")
    for number in range(MAX_REPEATS + 1):
        (waiting,) = runner.active.list_waiting()
        found = runner.executions.find(waiting.execution_id)
        assert found is not None
        assert found.repeats == number
        runner.wait(seconds=1)
        runner.active.admit(waiting, at=found.created_at, limit=1)
        assert runner.progress.end(waiting.execution_id, "FAILED", error=error)
        assert runner.status_of(waiting.execution_id) == "FAILED"
        assert runner.counted == 0
    assert runner.active.list_waiting() == []
    assert runner.executions.active_run(reservation) is None
