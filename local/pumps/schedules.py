"""Rules with a schedule: `rate(…)` only; the time of the last run survives a restart."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError

from local.errors import LocalError
from local.pumps.batches import pause_while_away
from local.pumps.bus import new_event

if TYPE_CHECKING:
    from local.plan import Rule
    from local.pumps.activity import Activity
    from local.pumps.bus import Bus
    from local.pumps.journal import Journal

_RATE = re.compile(r"rate\((\d+) (minute|hour|day)s?\)")
_SECONDS = {"minute": 60, "hour": 3600, "day": 86400}

_log = logging.getLogger(__name__)


def interval(rule: Rule) -> float:
    """Return the seconds between two runs.

    Raises:
        LocalError: the schedule is not a rate.
    """
    rate = _RATE.fullmatch(rule.schedule or "")
    if rate is None:
        raise LocalError(
            f"{rule.arn}: the schedule {rule.schedule} is not supported locally, only rate(…) is"
        )
    return int(rate.group(1)) * _SECONDS[rate.group(2)]


class SchedulePump:
    """Triggers one rule."""

    def __init__(self, rule: Rule, *, bus: Bus, journal: Journal, activity: Activity) -> None:
        """Store the rule and the pump's dependencies.

        Raises:
            LocalError: the schedule is not a rate.
        """
        self._rule = rule
        self._interval = interval(rule)
        self._bus = bus
        self._journal = journal
        self._activity = activity

    async def run(self) -> None:
        """Trigger without end; the first run is one interval after the first start."""
        last = self._journal.last_run(self._rule.id)
        if last is None:
            last = time.time()
            self._journal.ran(self._rule.id, last)
        failures = 0
        while True:
            await asyncio.sleep(max(0.0, last + self._interval - time.time()))
            event = new_event("aws.events", "Scheduled Event", [self._rule.arn], {})
            try:
                with self._activity.working():
                    await self._bus.trigger(self._rule, event)
            except (BotoCoreError, ClientError) as error:
                failures += 1
                _log.warning("%s cannot be sent: %s", self._rule.arn, error)
                await asyncio.sleep(pause_while_away(failures))
                continue
            failures = 0
            last = time.time()
            self._journal.ran(self._rule.id, last)
