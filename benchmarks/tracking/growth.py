"""Searches in a growing experiment: requests, units and times by the number of runs."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from mlflow.entities import ViewType

from benchmarks.tracking.filling import Filler, log_little
from tests.integration.tracking.stores import Meter

PAGE = 100
_STEP = 1_000
_ROUNDS = 5


@dataclass(frozen=True)
class Search:
    """A search, and whether an index serves it whatever the number of runs."""

    name: str
    filter_string: str
    order_by: tuple[str, ...]
    served: bool = True


SEARCHES = (
    Search("newest", "", ("attributes.start_time DESC",)),
    Search("best by the primary metric", "", ("metrics.loss ASC",)),
    Search("best by another metric", "metrics.accuracy > 0.1", ("metrics.accuracy DESC",)),
    Search("a param of 10 runs", "params.seed = 'rare'", ()),
    Search("one run by its name", "run_name = 'run 7'", ()),
    Search("a tag (no index)", "tags.team = 'none'", (), served=False),
)


@dataclass(frozen=True)
class Cost:
    """The cost of one page of a search."""

    requests: int
    read_units: float
    milliseconds: float


def grown(
    client: Any, store: Any, filler: Filler, sizes: list[int], until: float
) -> Iterator[tuple[int, dict[str, Cost]]]:
    """Fill one experiment to each size and measure; after a time limit, no larger one."""
    experiment_id = store.create_experiment("growing")
    count = 0
    for size in sizes:
        while count < size and (size == sizes[0] or time.monotonic() < until):
            more = min(size, count + _STEP)
            filler.fill(experiment_id, range(count, more), log_little)
            count = more
        if count < size:
            return
        yield (
            size,
            {search.name: _cost(client, store, experiment_id, search) for search in SEARCHES},
        )


def _cost(client: Any, store: Any, experiment_id: str, search: Search) -> Cost:
    times: list[float] = []
    meters: list[Meter] = []
    for _ in range(_ROUNDS if search.served else 1):
        start = time.perf_counter()
        with Meter(client) as meter:
            store.search_runs(
                [experiment_id],
                search.filter_string,
                ViewType.ACTIVE_ONLY,
                PAGE,
                list(search.order_by),
            )
        times.append(time.perf_counter() - start)
        meters.append(meter)
    # the first search of a process also reads the experiment
    return Cost(meters[-1].requests, meters[-1].read_units, 1000 * median(times))


def unlike(costs_by_size: Mapping[int, Mapping[str, Cost]]) -> list[str]:
    """Searches whose requests depend on the number of runs, although an index serves them."""
    return [
        search.name
        for search in SEARCHES
        if search.served
        and len({costs[search.name].requests for costs in costs_by_size.values()}) > 1
    ]


def draw(costs_by_size: Mapping[int, Mapping[str, Cost]], file: Path) -> None:
    """Draw requests and times by the number of runs."""
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    FigureCanvasAgg(figure)
    left, right = figure.add_subplot(1, 2, 1), figure.add_subplot(1, 2, 2)
    for search in SEARCHES:
        costs = [row[search.name] for row in costs_by_size.values()]
        line = "-" if search.served else "--"
        color = None if search.served else "#b5462f"
        sizes, name = list(costs_by_size), search.name
        for axes, values in (
            (left, [cost.requests for cost in costs]),
            (right, [cost.milliseconds for cost in costs]),
        ):
            axes.plot(sizes, values, line, color=color, marker=".", label=name)
    _finish(left, "requests")
    _finish(right, "ms on DynamoDB Local")
    left.legend(fontsize=7)
    figure.suptitle(f"one page of {PAGE} runs of an experiment", fontsize=9)
    figure.savefig(file, dpi=90)


def _finish(axes: Axes, label: str) -> None:
    axes.set(xscale="log", yscale="log", xlabel="runs in the experiment", ylabel=label)
    axes.grid(visible=True, alpha=0.3)
