"""The numbers of events: a counter for each asset, and the number of each event."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from backend.core.attempts import attempts
from backend.core.clock import epoch_seconds
from backend.core.errors import UnavailableError
from backend.core.references import AssetRef
from backend.core.tables import Tables
from backend.core.transactions import Update, absent, equals, put_new
from backend.domains.outgoing_events.errors import EventNumbersDrawnError
from backend.domains.outgoing_events.models import OutgoingEvent
from backend.spec import keys
from backend.spec.tables.operations import RESERVATIONS

_ATTEMPTS = 8  # of a draw that conflicts with those of other publishers
_AT_ONCE = 50  # events numbered by a transaction, which may have 100 writes
# An abandoned batch may be replayed as long as its entries are in the log, 400 days by default.
_LIFE = timedelta(days=400)
_KEY, _NUMBER = RESERVATIONS.partition_key.name, "number"


def _busy(*_: object) -> UnavailableError:
    return UnavailableError("Other publishers draw numbers of the same asset")


@dataclass(eq=False, repr=False)
class EventNumbers:
    tables: Tables

    def draw(self, asset: AssetRef, events: Sequence[OutgoingEvent]) -> dict[str, int]:
        """Return the number of each event of an asset by its id; repeated events keep theirs.

        Raises:
            UnavailableError: DynamoDB does not respond, or is busy with the same counter.
        """
        ids = list(dict.fromkeys(event.id for event in events))
        numbers: dict[str, int] = {}
        for start in range(0, len(ids), _AT_ONCE):
            at = datetime.fromisoformat(events[0].at)
            numbers |= self._draw(asset, ids[start : start + _AT_ONCE], at)
        return numbers

    @attempts(_ATTEMPTS, EventNumbersDrawnError, refusal=_busy)
    def _draw(self, asset: AssetRef, ids: Sequence[str], at: datetime) -> dict[str, int]:
        counter = {_KEY: keys.event_numbers(*asset.ids)}
        by_key = {keys.event(event_id): event_id for event_id in ids}
        wanted = [counter, *({_KEY: key} for key in by_key)]
        rows = self.tables.get_many([(RESERVATIONS, key) for key in wanted])
        known = {str(row[_KEY]): int(row[_NUMBER]) for _, row in rows}
        last = known.pop(counter[_KEY], None)
        new = [key for key in by_key if key not in known]
        known |= {key: (last or 0) + place for place, key in enumerate(new, 1)}
        if new:
            drawn = EventNumbersDrawnError()
            unchanged = absent(_NUMBER) if last is None else equals(_NUMBER, last)
            expires = epoch_seconds(at + _LIFE)
            # Counter and numbers in one transaction: a crash leaves no gap.
            self.tables.transact(
                [
                    Update(
                        table=RESERVATIONS,
                        key=counter,
                        set={_NUMBER: (last or 0) + len(new)},
                        conditions=(unchanged,),
                        refused=drawn,
                    ),
                    *(
                        put_new(
                            RESERVATIONS,
                            {_KEY: key, _NUMBER: known[key], "expiresAt": expires},
                            drawn,
                        )
                        for key in new
                    ),
                ]
            )
        return {by_key[key]: number for key, number in known.items()}
