"""Scheduled functions: EventBridge invokes each after a number of minutes."""

from backend.spec.functions import (
    CHECK_SEARCH,
    RECONCILE_EXECUTIONS,
    REPLAY_FAILURES,
    SWEEP_TOMBSTONES,
    Function,
)
from backend.values import frozen


@frozen
class Schedule:
    """A function that is invoked every `minutes`, even while its previous run has not ended."""

    function: Function
    minutes: int

    @property
    def name(self) -> str:
        return f"{self.function.name}Schedule"


SCHEDULES = (
    Schedule(REPLAY_FAILURES, 5),
    Schedule(SWEEP_TOMBSTONES, 60),
    Schedule(CHECK_SEARCH, 24 * 60),
    Schedule(RECONCILE_EXECUTIONS, 5),
)
