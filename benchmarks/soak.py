"""Memory over an hour of use, run in less time: the same calls in shorter intervals."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from benchmarks.pacing import at_rate
from tests.journeys.runtime import Api, Runtime, noise

CALLS = 7200
"""Calls of an hour: a write, and a read or a search, in each second."""
_LOOK_EVERY = 2.0
_MEBIBYTE = 1024 * 1024


@dataclass
class Memory:
    """Resident memory in MiB, sampled: minutes since the start, and by process."""

    minutes: list[float] = field(default_factory=list[float])
    processes: dict[str, list[int]] = field(default_factory=dict[str, list[int]])

    def growth(self) -> dict[str, float]:
        """The median of the last fifth relative to that of the second fifth, by process.

        The first fifth is left out, because caches and Java's heap still grow.
        """
        fifth = max(1, len(self.minutes) // 5)
        return {
            name: median(values[-fifth:]) / max(1, median(values[fifth : 2 * fifth]))
            for name, values in self.processes.items()
        }

    def look(self, health: Mapping[str, Any], minute: float) -> None:
        memory = {name: process["memoryBytes"] for name, process in health["engines"].items()}
        memory["functions"] = sum(
            process["memoryBytes"] for process in health["functions"].values()
        )
        memory["runner"] = health["runner"]["memoryBytes"]
        self.minutes.append(minute)
        for name, size in memory.items():
            self.processes.setdefault(name, []).append(size // _MEBIBYTE)


def measure(runtime: Runtime, *, minutes: float, database: str, assets: list[str]) -> Memory:
    """Make the calls of an hour in this number of minutes, and sample the memory."""
    api = runtime.client()
    memory, ended = Memory(), threading.Event()

    def watch() -> None:
        elapsed = 0.0
        while not ended.wait(_LOOK_EVERY):
            elapsed += _LOOK_EVERY
            memory.look(runtime.admin("GET", "/health"), elapsed / 60)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        at_rate(CALLS / (minutes * 60), minutes * 60, lambda n: _call(api, database, assets, n))
    finally:
        ended.set()
        watcher.join()
    runtime.drain()
    return memory


def _call(api: Api, database: str, assets: list[str], number: int) -> None:
    """The usual calls of people, in turn; every second call writes."""
    asset = assets[number % len(assets)]
    path = f"/database/{database}/assets/{asset}"
    match number % 20:
        case 0:
            api.upload(database, asset, {f"/soak/{number % 500}.bin": [noise(4096, str(number))]})
        case 1 | 11:
            api.search(query=f"edit {number % 100}")
        case number if number % 4 == 2:
            value = {"metadataValue": str(number), "metadataValueType": "string"}
            record = {"metadataKey": f"key-{number % 10}", **value}
            api.ok("PUT", f"{path}/metadata", {"metadata": [record], "updateType": "update"})
        case number if number % 2 == 0:
            api.ok("PUT", path, {"description": f"edit {number}"})
        case _:
            api.ok("GET", path)
