"""Measurements in rounds, and their results: medians, and ratios within a round.

A round runs all phases one after the other, so a ratio compares neighbours in time. On a machine
with other load this is more meaningful than the quotient of two medians.
"""

import gc
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median

from benchmarks.engines import Site
from benchmarks.pipeline import (
    FLOOR,
    FLOOR_OBJECTS,
    FLOOR_STREAMS,
    MEMORY,
    OBJECTS,
    RAW_HTTP,
    RAW_PORT,
    STREAMS,
    Phase,
)

WHOLE = "pipeline of both"
FLOOR_WHOLE = "bare floor of both"
_SUMS = {WHOLE: (STREAMS, OBJECTS), FLOOR_WHOLE: (FLOOR_STREAMS, FLOOR_OBJECTS)}
_RATIOS = (
    (MEMORY, RAW_HTTP),
    (MEMORY, RAW_PORT),
    (STREAMS, FLOOR_STREAMS),
    (OBJECTS, FLOOR_OBJECTS),
    (WHOLE, FLOOR_WHOLE),
    (OBJECTS, FLOOR),
    (WHOLE, FLOOR),
)


@dataclass(frozen=True)
class Floor:
    """A ratio's required value (`demanded`; below it the benchmark fails), and its target."""

    demanded: float
    wanted: float


FLOORS = {
    f"{MEMORY} / {RAW_HTTP}": Floor(0.5, 0.7),
    f"{WHOLE} / {FLOOR_WHOLE}": Floor(0.5, 0.7),
    # stricter: batches split assets, which this floor does not read twice
    f"{WHOLE} / {FLOOR}": Floor(0.5, 0.7),
}


@dataclass(frozen=True)
class Spread:
    """A median with its extremes."""

    median: float
    lowest: float
    highest: float

    @classmethod
    def of(cls, values: Sequence[float]) -> "Spread":
        return cls(median(values), min(values), max(values))


@dataclass
class Figures:
    """Documents and seconds of each phase, by round."""

    documents: dict[str, list[int]] = field(default_factory=dict[str, list[int]])
    seconds: dict[str, list[float]] = field(default_factory=dict[str, list[float]])

    def rates(self) -> dict[str, Spread]:
        """Documents per second of each phase."""
        return {name: Spread.of(self._rates(name)) for name in self.seconds}

    def ratios(self) -> dict[str, Spread]:
        """Part divided by whole, of documents per second."""
        return {
            f"{part} / {whole}": Spread.of(
                [a / b for a, b in zip(self._rates(part), self._rates(whole), strict=True)]
            )
            for part, whole in _RATIOS
        }

    def below(self) -> list[str]:
        """The ratios whose medians are below the required values."""
        ratios = self.ratios()
        return [name for name, floor in FLOORS.items() if ratios[name].median < floor.demanded]

    def add(self, name: str, documents: int, seconds: float) -> None:
        self.documents.setdefault(name, []).append(documents)
        self.seconds.setdefault(name, []).append(seconds)

    def _rates(self, name: str) -> list[float]:
        both = zip(self.documents[name], self.seconds[name], strict=True)
        return [documents / seconds for documents, seconds in both]


def measure(
    site: Site, phases: Sequence[Phase], *, rounds: int, say: Callable[[str], None]
) -> Figures:
    """Run all phases once to warm up, then `rounds` times.

    Raises:
        RuntimeError: a phase wrote fewer documents than required.
    """
    figures = Figures()
    gc.collect()
    gc.freeze()  # the events and documents prepared here are not part of a function's heap
    for number in range(rounds + 1):
        say(f"round {number} of {rounds}" if number else "warming up")
        taken = {phase.name: _run(site, phase) for phase in phases}
        if number == 0:
            continue
        for name, parts in _SUMS.items():
            documents, seconds = zip(*(taken[part] for part in parts), strict=True)
            taken[name] = (sum(documents), sum(seconds))
        for name, (documents, seconds) in taken.items():
            figures.add(name, documents, seconds)
    return figures


def _run(site: Site, phase: Phase) -> tuple[int, float]:
    site.empty_indexes()
    began = time.perf_counter()
    phase.run()
    seconds = time.perf_counter() - began
    documents = site.written()
    if documents < phase.documents:
        raise RuntimeError(f"{phase.name} wrote {documents} of {phase.documents} documents")
    return documents, seconds
