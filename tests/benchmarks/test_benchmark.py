"""The benchmark runs to its end, with a small amount and without the whole product.

`tests/costs/test_costs.py` counts costs, as their page requires.
"""

import json
import subprocess
import sys
from pathlib import Path

from benchmarks.figures import FLOORS
from tests.engines import ROOT

SECONDS = 300
BELOW = "below the demanded "


def test_every_ratio_is_measured(tmp_path: Path) -> None:
    output = tmp_path / "bench.json"
    size = ["--assets", "2", "--files", "60", "--rounds", "1"]
    more = ["--no-operations", "--no-product", "--output", str(output)]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", *size, *more],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    # This amount is too small to measure speed: a ratio below its floor ends with 1.
    assert done.returncode == (1 if BELOW in done.stdout else 0), done.stdout + done.stderr
    reply = json.loads(output.read_text(encoding="utf-8"))
    assert reply["ratios"].keys() >= FLOORS.keys()
    assert all(ratio["median"] > 0 for ratio in reply["ratios"].values())
