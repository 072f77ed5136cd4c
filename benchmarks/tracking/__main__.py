"""`python -m benchmarks.tracking`: the cost of MLflow's store on DynamoDB, and growth of searches.

Requests of the operations with a budget are counted on DynamoDB Local. Units are computed by AWS's
rules from the items and index entries (`benchmarks.metering`); those that the engine reports are
printed too. Times are ratios to MLflow's own store on SQLite in the same run. Then one experiment
grows. It fails if a count exceeds its budget, or if the requests of a search that an index serves
depend on the number of runs.
"""

import json
import os
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import boto3
import typer
from mlflow.store.tracking.sqlalchemy_store import SqlAlchemyStore
from rich.console import Console
from vitrine_mlflow.context import Context
from vitrine_mlflow.database import Database
from vitrine_mlflow.store import DynamoTrackingStore
from vitrine_mlflow.table import create_request

from benchmarks.tracking.filling import Filler
from benchmarks.tracking.growth import Cost, draw, grown, unlike
from benchmarks.tracking.operations import Count, measure_operations, world_of
from local.engines import Options, prepare_all, start_all, stop_all
from local.state import tools_folder

SIZES = (1_000, 10_000, 50_000)
_ENGINE, _TABLE = "dynamodb", "tracking"
_ROUNDS = 5
# SQLite takes a quarter of a second for each page.
_SEARCHED = 1_000
"""Runs in the experiment whose pages are read."""
_screen = Console(highlight=False, soft_wrap=True)
app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def main(
    *,
    runs: Annotated[int, typer.Option(min=10, help="Runs in the experiment at last.")] = 10_000,
    minutes: Annotated[float, typer.Option(help="Grow that long.")] = 10,
    output: Annotated[Path, typer.Option(help="Where to write JSON, and the chart.")] = Path(
        ".local/bench-tracking.json"
    ),
) -> None:
    """Count and time operations, then measure a growing experiment."""
    os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"
    sizes = [size for size in SIZES if size < runs] + [runs]
    with TemporaryDirectory(prefix="vitrine-bench-") as name, _dynamodb(Path(name)) as client:
        client.create_table(**create_request(_TABLE))
        store = DynamoTrackingStore.of_context(Context(Database(client, _TABLE), "s3://artifacts"))
        filler = Filler(client, _TABLE)
        counts = _operations(client, store, filler, Path(name), min(runs, _SEARCHED))
        costs_by_size: dict[int, dict[str, Cost]] = {}
        until = time.monotonic() + minutes * 60
        for size, costs in grown(client, store, filler, sizes, until):
            costs_by_size[size] = costs
            for search, cost in costs.items():
                _screen.print(
                    f"{size:>6} runs: {search:<28} {cost.requests:>4} requests, "
                    f"{cost.read_units:>7.1f} read units, {cost.milliseconds:>8.1f} ms"
                )
    output.parent.mkdir(parents=True, exist_ok=True)
    draw(costs_by_size, output.with_suffix(".png"))
    growth = {
        size: {name: asdict(cost) for name, cost in at.items()}
        for size, at in costs_by_size.items()
    }
    operations = {count.operation.name: _figures(count) for count in counts}
    report = {"operations": operations, "growth": growth}
    output.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    missed = [
        f"over its budget: {count.operation.name}" for count in counts if not count.within_budget
    ]
    missed += [f"depends on the number of runs: {name}" for name in unlike(costs_by_size)]
    for line in missed:
        _screen.print(line)
    raise typer.Exit(1 if missed else 0)


@contextmanager
def _dynamodb(folder: Path) -> Generator[Any]:
    """A client of a new engine."""
    options = Options(durable=False)
    # the meter of units has separate clients
    os.environ["AWS_ACCESS_KEY_ID"] = options.access_key
    os.environ["AWS_SECRET_ACCESS_KEY"] = options.secret_key
    prepare_all(tools_folder(), _screen.print, names=[_ENGINE])
    running = start_all(
        tools_folder(), folder / "data", folder, lambda _: None, names=[_ENGINE], options=options
    )
    try:
        yield boto3.client(
            _ENGINE,
            endpoint_url=running[_ENGINE].endpoint.url,
            region_name=options.region,
        )
    finally:
        stop_all(running)


def _operations(
    client: Any, store: DynamoTrackingStore, filler: Filler, folder: Path, runs: int
) -> list[Count]:
    start = time.monotonic()
    sql: Any = SqlAlchemyStore
    theirs = world_of(sql(f"sqlite:///{folder / 'mlflow.db'}", "s3://artifacts"), runs)
    ours = world_of(store, runs, filler)
    _screen.print(f"{runs} runs in both stores after {time.monotonic() - start:.0f} s")
    counts: list[Count] = []
    for count in measure_operations(client, ours, theirs, _ROUNDS):
        counts.append(count)
        _screen.print(_line(count))
    return counts


def _line(count: Count) -> str:
    operation = count.operation
    units = f"{count.charged.write_units:>6g} write units"
    if operation.write_units is not None:
        units += f" (budget {operation.write_units:g})"
    return (
        f"{operation.name:<40} {count.requests:>3} requests (budget {operation.requests}), "
        f"{units}, {count.charged.read_units:>6g} read units; the engine reports "
        f"{count.write_units:g} and {count.read_units:g}; {count.ratio:.2f} times SQLite's time"
    )


def _figures(count: Count) -> dict[str, float]:
    return {
        "requests": count.requests,
        "writeUnits": count.charged.write_units,
        "readUnits": count.charged.read_units,
        "engineWriteUnits": count.write_units,
        "engineReadUnits": count.read_units,
        "timesSqlite": count.ratio,
    }


if __name__ == "__main__":
    app()
