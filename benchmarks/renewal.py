"""Whether a reindex and a check take time in proportion to the documents, and always the same room.

`python -m benchmarks.renewal` does both on real engines at sizes that grow, and prints what each
document costs beside what it costs at the smallest size.
"""

import time
import tracemalloc
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from backend.core.clock import iso, utc_now
from backend.domains.jobs.models import Job, Step
from backend.entrypoints.search_jobs import RenewalWiring
from backend.search.checks import Check, CheckState
from backend.search.indexes import ensure_indexes
from backend.search.reindex import ReindexState
from backend.search.state import FIRST_POINTER
from backend.spec.functions import SEARCH_WORKER
from backend.spec.jobs import REINDEX_SEARCH
from benchmarks.data import Size, write
from benchmarks.engines import started

FILES = 49
"""Of each asset, so that with the asset they are fifty documents."""
MOST_TIMES = 1.5
"""What a document may cost at the largest size, of what it costs at the smallest."""
_MEBIBYTE = 1024 * 1024
app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
_screen = Console(highlight=False, soft_wrap=True)


@dataclass(frozen=True)
class Measured:
    """Of one size: seconds, and the most memory that Python held for it, in MiB."""

    documents: int
    reindex_seconds: float
    check_seconds: float
    reindex_room: float
    check_room: float


@app.command()
def main(
    sizes: Annotated[list[int] | None, typer.Argument(help="Documents, growing.")] = None,
) -> None:
    """Measure at each size; fail where a document costs more the more there are."""
    # Each in a process of its own: clients of engines are made once a process, and memory is its.
    own = ProcessPoolExecutor(1, get_context("spawn"), max_tasks_per_child=1)
    with own as processes:
        measured = list(processes.map(measure, sizes or [1000, 10_000]))
    _screen.print(_table(measured))
    first, last = measured[0], measured[-1]
    if max(_times(first, last)) > MOST_TIMES:
        raise typer.Exit(1)


def measure(documents: int) -> Measured:
    """Reindex and check so many documents on engines of their own."""
    size = Size(documents // (FILES + 1), FILES)
    with started(_say) as (site, _):
        _say(f"writing the sources of {size.documents} documents")
        write(site, size)
        return _measured(size.documents)


def _measured(documents: int) -> Measured:
    wiring = RenewalWiring(SEARCH_WORKER)
    _say("reindexing")
    reindex_seconds = _timed(lambda: _reindex(wiring, documents, number=2))
    _refresh(wiring, number=2)
    _say("checking")
    check_seconds = _timed(lambda: _check(wiring, documents, number=2))
    _say("both once more, for the memory")
    tracemalloc.start()
    _reindex(wiring, documents, number=3)
    reindex_room = tracemalloc.get_traced_memory()[1]
    _refresh(wiring, number=3)
    tracemalloc.reset_peak()
    _check(wiring, documents, number=3)
    check_room = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    ensure_indexes(wiring.engine, wiring.search_state)
    return Measured(
        documents,
        reindex_seconds,
        check_seconds,
        reindex_room / _MEBIBYTE,
        check_room / _MEBIBYTE,
    )


def _reindex(wiring: RenewalWiring, documents: int, *, number: int) -> None:
    """Make and fill a pair of indexes as the job does, and give it up again."""
    step = wiring.reindex_step
    job = _job(step, _job_of(f"reindex-{number}"))
    while ReindexState.model_validate(job.cursor).phase != "verify":
        job = _job(step, job)
    if job.items_done != documents:
        raise RuntimeError(f"{job.items_done} documents were built of {documents}")
    wiring.search_state.leave_pointer(job.job_id, FIRST_POINTER)


def _check(wiring: RenewalWiring, documents: int, *, number: int) -> None:
    names = {alias: f"{alias}-{number}" for alias in ("assets", "files")}
    state = CheckState()
    while not state.finished:
        state = wiring.checker.step(Check(names=names), state).state
    if (state.counts.documents, state.counts.drift) != (documents, 0):
        raise RuntimeError(f"the check found {state.counts}")


def _job_of(job_id: str) -> Job:
    now = iso(utc_now())
    return Job(
        job_id=job_id,
        kind=REINDEX_SEARCH.name,
        created_by="benchmark",
        created_at=now,
        updated_at=now,
        expires_at=0,
    )


def _job(step: Step, job: Job) -> Job:
    """The job after its next step."""
    progress = step(job)
    changes = {"cursor": progress.cursor, "items_done": job.items_done + progress.items}
    return job.model_copy(update=changes)


def _refresh(wiring: RenewalWiring, *, number: int) -> None:
    wiring.engine.refresh([f"assets-{number}", f"files-{number}"])


def _timed(act: Callable[[], None]) -> float:
    started_at = time.perf_counter()
    act()
    return time.perf_counter() - started_at


def _times(first: Measured, last: Measured) -> tuple[float, float]:
    """How many times as much a document costs as at the first size: reindex, check."""
    more = last.documents / first.documents
    return (
        last.reindex_seconds / first.reindex_seconds / more,
        last.check_seconds / first.check_seconds / more,
    )


def _table(measured: list[Measured]) -> Table:
    heads = ("documents", "", "seconds", "documents/s", "times each", "MiB at the most")
    table = Table(*heads, box=None)
    for one in measured:
        reindex_times, check_times = _times(measured[0], one)
        rows = (
            ("reindex", one.reindex_seconds, reindex_times, one.reindex_room),
            ("check", one.check_seconds, check_times, one.check_room),
        )
        for name, seconds, times, room in rows:
            rate = f"{one.documents / seconds:.0f}"
            cells = (f"{seconds:.1f}", rate, f"{times:.2f}", f"{room:.1f}")
            table.add_row(str(one.documents), name, *cells)
    return table


def _say(text: str) -> None:
    _screen.print(text)


if __name__ == "__main__":
    app()
