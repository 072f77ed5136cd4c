"""`python -m benchmarks`: prints the figures, writes them as JSON, and fails below the floors."""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from benchmarks.chart import draw
from benchmarks.data import Size, batches, write
from benchmarks.engines import started
from benchmarks.figures import FLOORS, Figures, measure
from benchmarks.operations import count_requests
from benchmarks.pipeline import phases
from benchmarks.report import (
    OPERATIONS_NOTE,
    RATES_NOTE,
    show_figures,
    show_operations,
    show_service,
)
from benchmarks.service import measure as measure_service
from docs.costs import measured as measured_costs

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
_screen = Console(highlight=False, soft_wrap=True)


@app.command()
def main(
    *,
    output: Annotated[Path, typer.Option(help="Where to write the JSON.")] = Path(
        ".local/bench.json"
    ),
    assets: Annotated[int, typer.Option(min=1)] = 20,
    files: Annotated[int, typer.Option(min=1, help="Files of each asset.")] = 250,
    rounds: Annotated[int, typer.Option(min=1)] = 4,
    operations: Annotated[bool, typer.Option(help="Count what the API requests.")] = True,
    product: Annotated[bool, typer.Option(help="Measure the whole product, and draw all.")] = True,
    minutes: Annotated[
        float, typer.Option(min=0.5, help="How long the calls of an hour take, for the memory.")
    ] = 10,
) -> None:
    """Measure the indexing path and the whole product on real engines; count their requests."""
    say = _say()
    size = Size(assets, files)
    with started(say) as (site, memory):
        say(f"writing {size.assets} assets of {size.files} files")
        write(site, size)
        figures = measure(site, phases(site, size, batches(site, size)), rounds=rounds, say=say)
    counted = count_requests(say) if operations else {}
    result = {"size": asdict(size), "rounds": rounds, **_result(figures, memory.in_mebibytes())}
    result["operations"] = {"note": OPERATIONS_NOTE, "counts": counted}
    result["costs"] = measured_costs() if operations else None
    service = measure_service(say, minutes=minutes) if product else None
    result["service"] = service.as_json() if service else None
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    show_figures(_screen, figures, memory.in_mebibytes())
    if service:
        draw(figures, service, output.with_suffix(".png"))
        show_service(_screen, service)
    if counted:
        show_operations(_screen, counted)
    _screen.print(f"written to {output}, drawn beside it if the whole product was measured")
    missed = [*_below(figures), *(service.misses() if service else ())]
    for line in missed:
        _screen.print(line)
    raise typer.Exit(1 if missed else 0)


def _below(figures: Figures) -> list[str]:
    return [f"below the demanded {FLOORS[name].demanded}: {name}" for name in figures.below()]


def _result(figures: Figures, memory: Mapping[str, int]) -> dict[str, Any]:
    return {
        "note": RATES_NOTE,
        "documentsPerSecond": {name: asdict(rate) for name, rate in figures.rates().items()},
        "ratios": {name: asdict(ratio) for name, ratio in figures.ratios().items()},
        "floors": {name: asdict(floor) for name, floor in FLOORS.items()},
        "peakMemoryMebibytes": dict(memory),
    }


def _say() -> Callable[[str], None]:
    began = time.monotonic()

    def say(text: str) -> None:
        _screen.print(f"[{time.monotonic() - began:5.1f} s] {text}", markup=False)

    return say


if __name__ == "__main__":
    app()
