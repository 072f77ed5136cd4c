"""The operations of the budget table, counted on DynamoDB Local, timed beside MLflow's store."""

import itertools
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median
from typing import Any

from mlflow.entities import Metric, RunTag, ViewType

from benchmarks.metering import Usage, metered
from benchmarks.tracking.filling import Filler, add_run, log_much
from tests.integration.tracking.stores import Meter
from tests.integration.tracking.trace_histories import START, info_of, span_of

_TRACES = 150
_KEYS = 1_000
_names = itertools.count(1)


@dataclass(frozen=True)
class World:
    """A store, and what operations need in it."""

    store: Any
    many: str  # an experiment of many runs
    traced: str  # an experiment of traces
    large: str  # a run of 1,000 metrics


@dataclass(frozen=True)
class Operation:
    """An operation with its budget of requests and of write units by AWS's rules.

    `prepare` returns the argument of `call`; only `call` is counted.
    """

    name: str
    requests: int
    write_units: float | None
    call: Callable[[World, Any], Any]
    prepare: Callable[[World], Any] = lambda world: _new_run(world, "0")


@dataclass(frozen=True)
class Count:
    """The cost of an operation: the maximum of all rounds, and the median of times.

    `charged` are the units by AWS's rules, the others those that the engine reports.
    """

    operation: Operation
    requests: int
    write_units: float
    read_units: float
    charged: Usage
    milliseconds: float
    sql_milliseconds: float

    @property
    def within_budget(self) -> bool:
        most = self.operation.write_units
        return self.requests <= self.operation.requests and (
            most is None or self.charged.write_units <= most
        )

    @property
    def ratio(self) -> float:
        return self.milliseconds / self.sql_milliseconds


def _new_run(world: World, experiment_id: str) -> str:
    return world.store.create_run(experiment_id, "ann", 1, [], "run").info.run_id


def _new_experiment(world: World) -> str:
    return world.store.create_experiment(f"experiment {next(_names)}")


def _create_logged_run(world: World, *metrics: Metric) -> str:
    """A run in a new experiment that has these metrics."""
    run_id = _new_run(world, _new_experiment(world))
    for metric in metrics:
        world.store.log_metric(run_id, metric)
    return run_id


def _trace(world: World) -> tuple[str, Any, list[Any]]:
    # A server reads the experiment and the settings at most every five seconds. These reads are not
    # counted, because the count would depend on the speed of the machine.
    world.store.start_trace(info_of(f"tr-{next(_names):08d}", world.traced))
    trace_id = f"tr-{next(_names):08d}"
    tags = {"mlflow.traceName": "answer", "mlflow.user": "ann", "team": "a"}
    root = span_of(trace_id, 1)
    spans = [root, *(span_of(trace_id, number, 1, "child") for number in range(2, 6))]
    return world.traced, info_of(trace_id, world.traced, tags=tags), spans


def _spans_first(world: World, trace: tuple[str, Any, list[Any]]) -> None:
    world.store.log_spans(trace[0], trace[2])
    world.store.start_trace(trace[1])


def _trace_first(world: World, trace: tuple[str, Any, list[Any]]) -> None:
    world.store.start_trace(trace[1])
    world.store.log_spans(trace[0], trace[2])


def _do_nothing(_: World) -> None:
    return None


_FIRST, _SECOND = Metric("loss", 1.0, 1, 1), Metric("loss", 0.5, 2, 2)
_OTHER, _LATER = Metric("accuracy", 0.5, 1, 1), Metric("accuracy", 0.6, 2, 2)
_MANY = [Metric(f"key {number}", float(number), 1, 1) for number in range(_KEYS)]

OPERATIONS = (
    Operation(
        "create a run with 2 tags", 3, 20,
        lambda world, _: world.store.create_run(
            "0", "ann", 1, [RunTag("a", "b"), RunTag("c", "d")], "run"
        ),
        _do_nothing,
    ),
    Operation(
        "log 1,000 metrics of 1,000 keys", 45, 6_400,
        lambda world, run_id: world.store.log_batch(run_id, _MANY, [], []),
    ),
    Operation(
        "log the first metric of an experiment", 3, 12,
        lambda world, run_id: world.store.log_metric(run_id, _FIRST), _create_logged_run,
    ),
    Operation(
        "log a metric for the first time", 3, 8,
        lambda world, run_id: world.store.log_metric(run_id, _OTHER),
        lambda world: _create_logged_run(world, _FIRST),
    ),
    Operation(
        "log a metric again", 3, 10,
        lambda world, run_id: world.store.log_metric(run_id, _LATER),
        lambda world: _create_logged_run(world, _FIRST, _OTHER),
    ),
    Operation(
        "log the primary metric again", 3, 10,
        lambda world, run_id: world.store.log_metric(run_id, _SECOND),
        lambda world: _create_logged_run(world, _FIRST),
    ),
    Operation(
        "log a metric again, of 1,000", 3, 12,
        lambda world, number: world.store.log_metric(
            world.large, Metric("key 500", float(number), number, number)
        ),
        lambda _: 1_000 + next(_names),
    ),
    Operation(
        "get a run of 1,000 metrics", 3, None,
        lambda world, _: world.store.get_run(world.large), _do_nothing,
    ),
    Operation(
        "search a page of 100 runs by a metric", 5, None,
        lambda world, _: world.store.search_runs(
            [world.many], "metrics.`metric 3` > 0.1", ViewType.ACTIVE_ONLY, 100,
            ["metrics.`metric 3` DESC"],
        ),
        _do_nothing,
    ),
    Operation("a trace of 5 spans, spans first", 3, 12, _spans_first, _trace),
    Operation("a trace of 5 spans, the trace first", 3, 12, _trace_first, _trace),
    Operation(
        "search a page of 100 traces", 2, None,
        lambda world, _: world.store.search_traces([world.traced], None, 100), _do_nothing,
    ),
    Operation(
        "delete a run", 3, 8, lambda world, run_id: world.store.delete_run(run_id),
        lambda world: _create_logged_run(world, _FIRST, _OTHER),
    ),
    Operation(
        "delete a run of an experiment of many", 3, 8,
        lambda world, run_id: world.store.delete_run(run_id),
        lambda world: _new_run(world, world.many),
    ),
)  # fmt: skip


def world_of(store: Any, runs: int, filler: Filler | None = None) -> World:
    """Fill a store; a filler is faster."""
    many = store.create_experiment("many runs")
    if filler is None:
        for number in range(runs):
            add_run(store, many, number, log_much)
    else:
        filler.fill(many, range(runs), log_much)
    traced = store.create_experiment("traces")
    for number in range(_TRACES):
        store.start_trace(info_of(f"tr-{number}", traced, request_time=START + number))
    large = store.create_run("0", "ann", 1, [], "large").info.run_id
    store.log_batch(large, _MANY, [], [])
    return World(store, many, traced, large)


def measure_operations(client: Any, ours: World, theirs: World, rounds: int) -> Iterator[Count]:
    """Run each operation, alternately on both stores."""
    for operation in OPERATIONS:
        meters: list[Meter] = []
        times: dict[str, list[float]] = {"ours": [], "theirs": []}
        for number in range(rounds + 1):
            argument = operation.prepare(ours)
            with Meter(client) as meter:
                seconds = _seconds(operation.call, ours, argument)
            other = _seconds(operation.call, theirs, operation.prepare(theirs))
            if number:  # the first round warms both
                meters.append(meter)
                times["ours"].append(seconds)
                times["theirs"].append(other)
        argument = operation.prepare(ours)
        with metered(client) as charged:  # reads each item before and after: not timed
            operation.call(ours, argument)
        yield Count(
            operation,
            max(meter.requests for meter in meters),
            max(meter.write_units for meter in meters),
            max(meter.read_units for meter in meters),
            charged,
            1000 * median(times["ours"]),
            1000 * median(times["theirs"]),
        )


def _seconds(call: Callable[[World, Any], Any], world: World, argument: Any) -> float:
    start = time.perf_counter()
    call(world, argument)
    return time.perf_counter() - start
