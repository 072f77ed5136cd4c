"""`python -m benchmarks`: prints the figures, writes them as JSON, fails below the floors."""

import json
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from benchmarks.data import Size, batches, write
from benchmarks.engines import started
from benchmarks.figures import FLOORS, Figures, Spread, measure
from benchmarks.pipeline import phases

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
_screen = Console(highlight=False, soft_wrap=True)
_NOTE = (
    "DynamoDB Local keeps its tables in memory here; ratios count, rates belong to this machine. "
    "A document of the pipeline counts each time it is written: metadata, attributes and objects "
    "of a file come by different streams."
)


@app.command()
def main(
    *,
    output: Annotated[Path, typer.Option(help="Where to write the JSON.")] = Path(
        ".local/bench.json"
    ),
    assets: Annotated[int, typer.Option(min=1)] = 20,
    files: Annotated[int, typer.Option(min=1, help="Files of each asset.")] = 250,
    rounds: Annotated[int, typer.Option(min=1)] = 5,
) -> None:
    """Measure the indexing path on real engines."""
    say = _say()
    size = Size(assets, files)
    with started(say) as (site, memory):
        say(f"writing {size.assets} assets of {size.files} files")
        write(site, size)
        events = batches(site, size)
        figures = measure(site, phases(site, size, events), rounds=rounds, say=say)
    result: dict[str, Any] = {
        "size": asdict(size),
        "rounds": rounds,
        "documentsPerSecond": {name: asdict(each) for name, each in figures.rates().items()},
        "ratios": {name: asdict(each) for name, each in figures.ratios().items()},
        "floors": {name: asdict(each) for name, each in FLOORS.items()},
        "peakMemoryMebibytes": memory.in_mebibytes(),
        "dynamodb": "in memory",
    }
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    _show(figures, memory.in_mebibytes())
    _screen.print(f"written to {output}")
    below = figures.below()
    for name in below:
        _screen.print(f"below the floor of {FLOORS[name].demanded}: {name}")
    sys.exit(1 if below else 0)


def _say() -> Callable[[str], None]:
    began = time.monotonic()

    def say(text: str) -> None:
        _screen.print(f"[{time.monotonic() - began:5.1f} s] {text}", markup=False)

    return say


def _show(figures: Figures, memory: dict[str, int]) -> None:
    rates = _table("documents a second", "phase", "documents")
    for name, spread in figures.rates().items():
        _row(rates, name, spread, ".0f", str(figures.documents[name][-1]))
    ratios = _table("ratios", "part / whole", "demanded (wanted)")
    for name, spread in figures.ratios().items():
        floor = FLOORS.get(name)
        told = f"{floor.demanded} ({floor.wanted})" if floor else ""
        _row(ratios, name, spread, ".2f", told)
    peaks = Table(title="peak memory, MiB")
    for name in memory:
        peaks.add_column(name, justify="right")
    peaks.add_row(*map(str, memory.values()))
    for table in (rates, ratios, peaks):
        _screen.print(table)
    _screen.print(_NOTE)


def _table(title: str, first: str, last: str) -> Table:
    table = Table(title=title)
    table.add_column(first)
    for column in ("median", "range", last):
        table.add_column(column, justify="right")
    return table


def _row(table: Table, name: str, spread: Spread, form: str, last: str) -> None:
    low, high = format(spread.lowest, form), format(spread.highest, form)
    table.add_row(name, format(spread.median, form), f"{low} to {high}", last)


if __name__ == "__main__":
    app()
