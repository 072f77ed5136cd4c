"""`make demo-tracking` trains, registers and finds models on a table of its own."""

import re
import subprocess

from tests.journeys.runtime import ROOT


def test_the_demo_trains_registers_and_searches() -> None:
    done = subprocess.run(
        ["make", "demo-tracking"],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=240,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    accuracies = [float(one) for one in re.findall(r"C = \S+: accuracy (\S+)", done.stdout)]
    assert len(accuracies) == 3
    assert accuracies == sorted(accuracies, reverse=True)
    best = re.search(r"iris-classifier version [123] is the best: (\S+)", done.stdout)
    assert best is not None, done.stdout
    assert float(best[1]) > 0.9
