"""The engines of one runtime while it serves.

An engine that ends unexpectedly is started again on its port, so functions notice only the outage.
Tests can stop and kill engines.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection
from pathlib import Path

import psutil
from pydantic import JsonValue

from local.engines.base import Options
from local.engines.errors import EngineError
from local.engines.fleet import ENGINES, prepare_all, start_all, stop_all
from local.engines.process import Running
from local.errors import LocalError
from local.state import StateFolder

# A check of a process costs nothing, and functions fail while an engine is down.
_LOOK_EVERY = 1.0

_log = logging.getLogger(__name__)


class EngineRoom:
    """All engines of one state folder."""

    def __init__(self, *, tools: Path, state: StateFolder, options: Options) -> None:
        """Store the options with which the engines are started."""
        self._tools = tools
        self._state = state
        self._options = options
        self._running: dict[str, Running] = {}
        self._ports: dict[str, int] = {}
        self._stopped: set[str] = set()
        self._anew: set[str] = set()
        self._busy = asyncio.Lock()
        self.restarted: Callable[[str], Awaitable[None]] | None = None

    def start_all(self, names: Collection[str], progress: Callable[[str], None]) -> None:
        """Prepare and start the named engines, and return when all are healthy. Blocks.

        Raises:
            EngineError: an engine does not start.
        """
        prepare_all(self._tools, progress, names=names)
        self._running = start_all(
            self._tools,
            self._state.data,
            self._state.logs,
            progress,
            names=names,
            options=self._options,
        )
        self._ports = {name: engine.endpoint.port for name, engine in self._running.items()}

    def url(self, name: str) -> str:
        """Return the address of a service, which is constant while the runtime serves."""
        # moto serves every service without an engine. It has no such resources, so no request
        # leaves the machine, and undeclared resources are not found.
        return self._running.get(name, self._running["aws"]).endpoint.url

    def own_url(self, name: str) -> str:
        """Return the address of an engine; an empty string if it is not started."""
        return self.url(name) if name in self._running else ""

    def stop_all(self) -> None:
        """Stop all engines at the same time. Blocks."""
        stop_all(self._running)

    async def start(self, name: str) -> None:
        """Start an engine that is not running, on its previous port.

        Raises:
            LocalError: there is no such engine.
            EngineError: it does not start, or cannot be restored.
        """
        async with self._busy:
            self._known(name)
            # First, so that `supervise` repeats a start that fails.
            self._stopped.discard(name)
            await self._restart(name)

    async def stop(self, name: str) -> None:
        """Stop an engine until it is started again.

        Raises:
            LocalError: there is no such engine.
        """
        async with self._busy:
            engine = self._known(name)
            self._stopped.add(name)
            await asyncio.to_thread(engine.stop)

    async def kill(self, name: str) -> None:
        """Kill an engine, as a crash would; it stays down until it is started again.

        Raises:
            LocalError: there is no such engine.
        """
        async with self._busy:
            engine = self._known(name)
            self._stopped.add(name)
            await asyncio.to_thread(engine.kill)

    async def supervise(self) -> None:
        """Restart engines that ended unexpectedly, and retry failed starts, without end."""
        while True:
            await asyncio.sleep(_LOOK_EVERY)
            for name in list(self._running):
                try:
                    async with self._busy:
                        if name not in self._stopped:
                            await self._restart(name)
                except EngineError:
                    _log.exception("%s does not start", name)

    async def _restart(self, name: str) -> None:
        """Start an engine that has ended, and restore the data that it does not persist."""
        engine = self._running[name]
        if engine.exit_code is not None:
            _log.warning("%s ended with code %s and is started again", name, engine.exit_code)
            self._anew.add(name)
            engine = await asyncio.to_thread(self._start, name)
            # Also if the start took too long: the engine may become healthy later.
            self._running[name] = engine
        if name not in self._anew:
            return
        await asyncio.to_thread(engine.wait_healthy)
        if self.restarted is not None:
            await self.restarted(name)
        self._anew.discard(name)

    async def report(self) -> dict[str, JsonValue]:
        """Return the health and memory of every engine."""
        names = list(self._running)
        facts = await asyncio.gather(*(asyncio.to_thread(self._facts, name) for name in names))
        return dict(zip(names, facts, strict=True))

    def _facts(self, name: str) -> JsonValue:
        engine = self._running[name]
        try:
            memory = int(psutil.Process(engine.endpoint.pid).memory_info().rss)
        except psutil.NoSuchProcess:
            memory = 0
        return {
            "healthy": engine.healthy(),
            "url": engine.endpoint.url,
            "pid": engine.endpoint.pid,
            "memoryBytes": memory,
        }

    def _start(self, name: str) -> Running:
        return ENGINES[name].start(
            self._tools,
            self._state.data,
            log=self._state.logs / f"{name}.log",
            port=self._ports[name],
            options=self._options,
        )

    def _known(self, name: str) -> Running:
        if name not in self._running:
            raise LocalError(f"no engine {name}; there are {', '.join(sorted(self._running))}")
        return self._running[name]
