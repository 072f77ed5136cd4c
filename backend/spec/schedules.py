"""Scheduled functions: EventBridge invokes each after a number of minutes."""

from backend.spec.functions import Function
from backend.spec.functions.executions import RECONCILE_EXECUTIONS
from backend.spec.functions.operations import CHECK_SEARCH, REPLAY_FAILURES, SWEEP_TOMBSTONES
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
