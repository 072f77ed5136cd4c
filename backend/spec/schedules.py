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
    # The first pause of a failed replay is as long (`replay.FIRST_PAUSE`).
    Schedule(REPLAY_FAILURES, 5),
    # Tombstones live for a day, so an hour more or less does not matter.
    Schedule(SWEEP_TOMBSTONES, 60),
    # A check reads everything once (decision 29).
    Schedule(CHECK_SEARCH, 24 * 60),
    # Executions are compared from `EXECUTION_SILENCE_SECONDS` (5 minutes) after their start.
    Schedule(RECONCILE_EXECUTIONS, 5),
)
