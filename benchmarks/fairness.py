"""`python -m benchmarks.fairness`: the wait of a file for inspection beside those of other users.

Measured is the time of a small model from the beginning of its upload until its inspection has
succeeded: alone; beside 30 files of another user, each of which uses the whole time limit of a
small file; beside 10 such files of each of three users; and beside 1,000 small models of another
user. With other files, the time may be three times the time alone plus one limit of a small file.
"""

import json
import random
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Annotated

import typer
from rich.console import Console

from backend.processing.limits import cpu_seconds_for
from tests.journeys.attacks.actors import ANY_ROUTE, connect, new_role, new_user
from tests.journeys.runtime import Api, Runtime, wait_until

_ALONE = 5
_CORNERS = 10_000
_DATABASE = "fairness"
_MODEL = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"
_FILES_OF_AN_UPLOAD = 50
_screen = Console(highlight=False, soft_wrap=True)
app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)

Files = Mapping[str, bytes]


@app.command()
def main(
    *,
    output: Annotated[Path, typer.Option(help="Where to write the JSON.")] = Path(
        ".local/bench-fairness.json"
    ),
) -> None:
    """Time the inspection of a small file alone and beside other users' files."""
    slow, small = _slow_model(), _MODEL
    crowds: dict[str, list[Files]] = {
        "30 slow files of a user": [_named(slow, 30)],
        "10 slow files of each of 3 users": [_named(slow, 10)] * 3,
        "1,000 files of a user": [_named(small, 1000)],
    }
    limit = cpu_seconds_for(len(_MODEL))
    taken: dict[str, float] = {}
    alone = 0.0
    for name, crowd in crowds.items():
        # One runtime each, because remaining files of one case would affect the next.
        with TemporaryDirectory(prefix="vitrine-bench-") as folder:
            runtime = Runtime(Path(folder) / "state")
            try:
                runtime.up("--in-memory")
                alone, taken[name] = _beside(runtime, crowd)
            finally:
                runtime.down()
        allowed = 3 * alone + limit
        _screen.print(
            f"{name}: {taken[name]:.1f} s, alone {alone:.1f} s; "
            f"{taken[name] / allowed:.2f} of the {allowed:.1f} s allowed"
        )
        taken[f"{name}, alone"] = alone
        taken[f"{name}, of the time allowed"] = round(taken[name] / allowed, 2)
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(json.dumps(taken, indent=2) + "\n")
    if missed := [name for name in crowds if taken[f"{name}, of the time allowed"] > 1]:
        sys.exit(f"missed: {', '.join(missed)}")


def _beside(runtime: Runtime, crowd: list[Files]) -> tuple[float, float]:
    """Seconds of the measured file, alone (median) and while other users' files wait."""
    admin = runtime.client()
    admin.new_database(_DATABASE, processing=True)
    role = new_role(
        admin,
        ANY_ROUTE,
        ("database", "databaseId", "equals", _DATABASE),
        ("asset", "databaseId", "equals", _DATABASE),
    )
    honest = _inspections(admin, connect(runtime, new_user(admin, role)))
    honest()  # the first one starts functions
    alone = median(honest() for _ in range(_ALONE))
    for files in crowd:
        other = connect(runtime, new_user(admin, role))
        asset = other.new_asset(_DATABASE, "Crowd")
        names = list(files)
        for first in range(0, len(names), _FILES_OF_AN_UPLOAD):
            part = names[first : first + _FILES_OF_AN_UPLOAD]
            other.upload(_DATABASE, asset, {name: [files[name]] for name in part})
    return alone, honest()


def _inspections(admin: Api, user: Api) -> Callable[[], float]:
    """A function that uploads the small model and returns the seconds until it is inspected."""

    def inspect() -> float:
        asset = user.new_asset(_DATABASE, "Honest")
        path = f"/database/{_DATABASE}/assets/{asset}/workflows/executions"
        begun = time.perf_counter()
        user.upload(_DATABASE, asset, {"/honest.obj": [_MODEL]})

        def has_succeeded() -> bool:
            executions = admin.ok("GET", path)["message"]["Items"]
            return [execution["executionStatus"] for execution in executions] == ["SUCCEEDED"]

        wait_until(has_succeeded, seconds=900)
        return time.perf_counter() - begun

    return inspect


def _named(data: bytes, count: int) -> Files:
    return {f"/{number}.obj": data for number in range(count)}


def _slow_model() -> bytes:
    """One polygon of random corners, whose triangulation takes longer than a small file may."""
    drawn = random.Random(1)
    corners = "".join(f"v {drawn.random():.3f} {drawn.random():.3f} 0\n" for _ in range(_CORNERS))
    return f"{corners}f {' '.join(str(number + 1) for number in range(_CORNERS))}\n".encode()


if __name__ == "__main__":
    app()
