"""moto still has the faults that `corrections.py` corrects; a needless correction is removed."""

import json
import subprocess
import sys
from pathlib import Path

import moto
import pytest

from tests.integration.local.states import faults

FAULTS = (
    "unnamed",
    "unstopped",
    "without_cause",
    "names_refused",
    "early_answers_lost",
    "definitions_unchecked",
    "refusals_without_code",
    "pauses_outlast_stops",
    "without_jsonata",
    "programs_parsed_again",
    "clients_made_again",
    "without_status_events",
)


@pytest.fixture(scope="module")
def found() -> dict[str, bool]:
    """The faults of moto in a process of its own, without corrections."""
    done = subprocess.run(
        [sys.executable, "-P", str(Path(faults.__file__))],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_mends_are_of_this_release() -> None:
    assert moto.__version__ == "5.2.5"


@pytest.mark.parametrize("fault", FAULTS)
def test_moto_still_has_the_fault(found: dict[str, bool], fault: str) -> None:
    assert found[fault]
    assert set(found) == set(FAULTS)
