"""Keeps the pumps running: a failure is logged, reported in the health, and leads to a restart."""

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from pydantic import JsonValue

# A pump that fails at once must not fill the log; one that ran for half a minute starts soon again.
_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 15.0
_HEALED_AFTER = 30.0

_log = logging.getLogger(__name__)


@dataclass
class _Pump:
    run: Callable[[], Awaitable[None]]
    restarts: int = 0
    failure: str | None = None
    failed_at: float = 0.0


class Supervisor:
    """Runs pumps until it is stopped."""

    def __init__(self) -> None:
        """Start without pumps."""
        self._pumps: dict[str, _Pump] = {}
        self._tasks: list[asyncio.Task[None]] = []

    def start(self, name: str, run: Callable[[], Awaitable[None]]) -> None:
        """Run a pump; `run` is called again after each failure or return."""
        pump = _Pump(run)
        self._pumps[name] = pump
        self._tasks.append(
            asyncio.create_task(self._run_with_restarts(name, pump), name=f"pump-{name}")
        )

    def report(self) -> dict[str, JsonValue]:
        """Return the state of every pump; `failure` covers the last minutes."""
        now = time.monotonic()
        return {
            name: {
                "restarts": pump.restarts,
                "failure": pump.failure if now - pump.failed_at < _HEALED_AFTER else None,
            }
            for name, pump in self._pumps.items()
        }

    async def stop(self) -> None:
        """Cancel all pumps and wait until they have ended."""
        for task in self._tasks:
            task.cancel()
        for task in self._tasks:
            with contextlib.suppress(asyncio.CancelledError):
                await task

    @staticmethod
    async def _run_with_restarts(name: str, pump: _Pump) -> None:
        pause = _FIRST_PAUSE
        while True:
            begun = time.monotonic()
            try:
                await pump.run()
                pump.failure = "ended"
            except Exception as error:  # noqa: BLE001 - a bug must not silence a pump for ever
                pump.failure = f"{type(error).__name__}: {error}"
                _log.exception("pump %s failed; it is started again", name)
            pump.failed_at = time.monotonic()
            pump.restarts += 1
            if pump.failed_at - begun > _HEALED_AFTER:
                pause = _FIRST_PAUSE
            await asyncio.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)
