"""The progress of storing the outputs of each execution: one item in the table of reservations."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from backend.core.clock import Clock, epoch_seconds
from backend.core.errors import UnavailableError
from backend.core.tables import Tables
from backend.core.transactions import Key, Update, Write, equals
from backend.domains.outputs.models import Progress
from backend.spec import keys
from backend.spec.key_layouts import RUNS_DAYS
from backend.spec.tables.operations import RESERVATIONS

_KEY = RESERVATIONS.partition_key.name
_ATTEMPTS = "attempts"


@dataclass(eq=False, repr=False)
class ProgressRepository:
    tables: Tables
    clock: Clock

    def begin(self, execution_id: str) -> Progress:
        """Count a call, and return the progress of earlier ones."""
        item = self.tables.increment(RESERVATIONS, _key(execution_id), _ATTEMPTS, initial=0)
        return Progress.model_validate(item)

    def save(self, execution_id: str, progress: Progress, others: Iterable[Write] = ()) -> None:
        """Store the progress of a call, with other writes.

        Raises:
            UnavailableError: a later call is storing the same outputs; this one has to end.
        """
        values = progress.model_dump(by_alias=True, exclude_none=True, exclude={_ATTEMPTS})
        expires = epoch_seconds(self.clock() + timedelta(days=RUNS_DAYS))
        update = Update(
            table=RESERVATIONS,
            key=_key(execution_id),
            set={**values, "expiresAt": expires},
            conditions=(equals(_ATTEMPTS, progress.attempts),),
            refused=UnavailableError(f"Another request is storing the outputs of {execution_id}"),
        )
        self.tables.transact([update, *others])


def _key(execution_id: str) -> Key:
    return {_KEY: keys.run_outputs(execution_id)}
