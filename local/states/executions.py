"""Follows running executions, as the engine reports them, and fails those that it loses.

The engine keeps executions in memory. Running ones are recorded in the state folder; executions
that were lost with the engine, or with the runtime, are reported as failed when the runtime serves
again.
"""

import asyncio
import logging
import time
from typing import cast

from botocore.exceptions import BotoCoreError, ClientError

from local.plan import Object
from local.pumps.activity import Activity
from local.pumps.batches import pause_while_away
from local.pumps.bus import Bus, new_event
from local.state import StateFolder

FILE = "executions.json"
SOURCE = "aws.states"
DETAIL_TYPE = "Step Functions Execution Status Change"
INTERRUPTED = "Interrupted"
_CAUSE = "The local runtime, which keeps executions in memory, ended during this one"

_log = logging.getLogger(__name__)


class Executions:
    """Follows the executions of one runtime, for use in its event loop."""

    def __init__(self, state: StateFolder, bus: Bus, activity: Activity) -> None:
        """Start with the executions that were running when an earlier runtime ended."""
        self._state = state
        self._bus = bus
        self._activity = activity
        self._running: dict[str, Object] = {}
        self._waiting: set[str] = set()
        self._lost: dict[str, Object] = state.read(FILE, cast("dict[str, Object]", {}))
        self._to_report = asyncio.Event()
        self._writing = asyncio.Lock()

    @property
    def working(self) -> int:
        """Return the number of running executions, without those that wait for a callback."""
        return len(self._lost) + len(self._running.keys() - self._waiting)

    async def status_changed(self, detail: Object) -> None:
        """Publish a status; return when every target of a rule has received it.

        Raises:
            ClientError: the engine behind a target refuses.
            BotoCoreError: the engine behind a target does not respond.
        """
        with self._activity.working():
            execution = str(detail["executionArn"])
            ended = detail["status"] != "RUNNING"
            if not ended:
                self._running[execution] = detail
                await self._store()
            event = new_event(SOURCE, DETAIL_TYPE, [execution], detail)
            await self._bus.publish(event)
            if ended:
                self._running.pop(execution, None)
                self._waiting.discard(execution)
                await self._store()

    def waits(self, execution: str, *, waits: bool) -> None:
        """Record that an execution waits for the callback of a pipeline, or no longer does."""
        self._activity.epoch += 1
        if waits:
            self._waiting.add(execution)
        else:
            self._waiting.discard(execution)

    def mark_lost(self) -> None:
        """Mark running executions as lost: the engine has ended."""
        self._lost |= self._running
        self._running.clear()
        self._waiting.clear()
        self._to_report.set()

    async def report_lost(self) -> None:
        """Report lost executions as failed, without end."""
        failures = 0
        while True:
            try:
                for execution, detail in list(self._lost.items()):
                    failure: Object = {
                        **detail,
                        "status": "FAILED",
                        "stopDate": int(time.time() * 1000),
                        "error": INTERRUPTED,
                        "cause": _CAUSE,
                    }
                    await self.status_changed(failure)
                    del self._lost[execution]
                    await self._store()
            except (BotoCoreError, ClientError) as error:
                failures += 1
                _log.warning("lost executions are not reported: %s", error)
                await asyncio.sleep(pause_while_away(failures))
                continue
            failures = 0
            await self._to_report.wait()
            self._to_report.clear()

    async def _store(self) -> None:
        async with self._writing:
            noted = {**self._lost, **self._running}
            await asyncio.to_thread(self._state.write, FILE, noted)
