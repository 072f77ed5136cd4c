"""The benchmark of the tracking table runs to its end on a small amount, within its budgets."""

import json
import subprocess
import sys
from pathlib import Path

from benchmarks.tracking.growth import SEARCHES
from benchmarks.tracking.operations import OPERATIONS
from tests.engines import ROOT

SECONDS = 200
RUNS = 120  # more than a page


def test_operations_are_within_their_budgets_and_the_growth_is_drawn(tmp_path: Path) -> None:
    output = tmp_path / "bench.json"
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.tracking", "--runs", str(RUNS), "--output", str(output)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(output.read_text(encoding="utf-8"))
    assert list(report["operations"]) == [operation.name for operation in OPERATIONS]
    assert all(operation["timesSqlite"] > 0 for operation in report["operations"].values())
    assert list(report["growth"]) == [str(RUNS)]
    assert list(report["growth"][str(RUNS)]) == [search.name for search in SEARCHES]
    assert output.with_suffix(".png").stat().st_size > 1_000
