"""`python -m benchmarks.uploads`: what processing adds to the time of an upload.

One runtime has a database that processes uploads and one that does not. Uploads of the same model
go to them alternately, and each begins when the one before is worked off, which takes up to eight
seconds: what follows an upload takes processors of this machine, which on AWS are others. Timed
are the requests of a client: to begin, to put the file, to complete.
"""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Annotated

import typer
from rich.console import Console

from tests.journeys.runtime import Api, Runtime

_MODEL = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n" * 1000
_PERCENTILE = 0.95
_WARMING = 4
"""Uploads that start functions, and are not counted."""
_DATABASES = {"processing": "processed", "without": "plain"}
_screen = Console(highlight=False, soft_wrap=True)
app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def main(
    *,
    uploads: Annotated[int, typer.Option(min=2, help="Timed uploads to each database.")] = 8,
    output: Annotated[Path, typer.Option(help="Where to write the JSON.")] = Path(
        ".local/bench-uploads.json"
    ),
) -> None:
    """Time uploads with processing and without."""
    with TemporaryDirectory(prefix="vitrine-bench-") as folder:
        runtime = Runtime(Path(folder) / "state")
        try:
            runtime.up("--in-memory")
            times = _timed(runtime, uploads)
            inspected = _inspected(runtime.client())
        finally:
            runtime.down()
    if inspected != uploads + _WARMING:
        sys.exit(f"{inspected} of {uploads + _WARMING} uploads were inspected")
    result = {name: _figures(taken) for name, taken in times.items()}
    for name, figures in result.items():
        _screen.print(f"{name}: median {figures['median']:.0f} ms, p95 {figures['p95']:.0f} ms")
    ratios = {
        key: round(result["processing"][key] / result["without"][key], 2)
        for key in ("median", "p95")
    }
    _screen.print(f"with processing: {ratios['median']} of the median, {ratios['p95']} of the p95")
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(json.dumps({"milliseconds": result, "ratios": ratios}, indent=2) + "\n")


def _timed(runtime: Runtime, uploads: int) -> dict[str, list[float]]:
    """Milliseconds of each upload, by kind of database."""
    api = runtime.client()
    targets: dict[str, Callable[[int], object]] = {}
    for kind, database in _DATABASES.items():
        api.new_database(database, processing=kind == "processing")
        targets[kind] = _uploads(api, database, api.new_asset(database, "Models"))
    taken: dict[str, list[float]] = {kind: [] for kind in targets}
    for number in range(uploads + _WARMING):
        for kind in sorted(targets, reverse=number % 2 == 1):
            runtime.drain()
            begun = time.perf_counter()
            targets[kind](number)
            taken[kind].append(1000 * (time.perf_counter() - begun))
    runtime.drain()
    return {kind: each[_WARMING:] for kind, each in taken.items()}


def _uploads(api: Api, database: str, asset: str) -> Callable[[int], object]:
    return lambda number: api.upload(database, asset, {f"/{number}.obj": [_MODEL]})


def _inspected(api: Api) -> int:
    """How many files of both databases have facts."""
    known = [{"key": "fact_format", "op": "eq", "value": "OBJ"}]
    body = {"metadataFilters": known, "entityTypes": ["file"], "aggregations": False, "size": 0}
    return int(api.ok("POST", "/search", body)["hits"]["total"]["value"])


def _figures(taken: list[float]) -> dict[str, float]:
    ordered = sorted(taken)
    p95 = ordered[min(len(ordered) - 1, int(_PERCENTILE * len(ordered)))]
    return {"median": median(ordered), "p95": p95}


if __name__ == "__main__":
    app()
