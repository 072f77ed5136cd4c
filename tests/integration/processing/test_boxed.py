"""The jail where the kernel refuses system calls, as AWS Lambda is reported to do."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.integration.processing.attacks import SECRET

ROOT = Path(__file__).resolve().parents[3]
READ = {"refused": None, "triangles": 12, "glb": True}


def read_in(box: str, *, unconfined: bool = False) -> dict[str, Any]:
    module = "tests.integration.processing.boxed"
    done = subprocess.run(
        [sys.executable, "-m", module, box, "yes" if unconfined else ""],
        cwd=ROOT,
        capture_output=True,
        check=False,
        timeout=120,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_jail_uses_prctl_where_the_kernel_allows_it() -> None:
    read = read_in("")
    assert read["found"] == {"cube.obj": READ, "cube.step": READ}
    (line,) = read["log"]
    assert line.startswith("INFO Files are read in a confined process: ")
    assert "the filter by prctl" in line


def test_without_prctl_the_jail_confines_by_the_other_call() -> None:
    read = read_in("lambda")
    assert read["found"]["cube.obj"] == READ
    (line,) = read["log"]
    assert line.startswith("WARNING Files are read in a confined process: ")
    assert "the filter by seccomp" in line
    assert "hidden memory: Operation not permitted" in line


def test_a_reader_that_uses_a_folder_needs_landlock_or_a_hidden_parent() -> None:
    assert read_in("lambda")["found"]["cube.step"] == {
        "refused": (
            "this system cannot confine the process that reads the file: it could read other files "
            "and processes of its user"
        ),
        "triangles": None,
        "glb": False,
    }


def test_without_any_confinement_nothing_is_read_and_the_reason_is_a_fact() -> None:
    read = read_in("lambda-strict")
    reasons = {name: each["refused"] for name, each in read["found"].items()}
    assert set(reasons.values()) == {
        "this system cannot confine the process that reads the file: Operation not permitted"
    }
    (line,) = read["log"]
    assert line.startswith("WARNING Files cannot be read in a confined process: ")


@pytest.mark.parametrize("box", ["lambda", "lambda-strict"])
def test_a_jail_that_may_be_open_reads_nevertheless(box: str) -> None:
    assert read_in(box, unconfined=True)["found"] == {"cube.obj": READ, "cube.step": READ}


def test_no_attack_succeeds_in_the_box_from_a_confined_reader() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.integration.processing.attacks", "victim", "boxed"],
        cwd=ROOT,
        env={"VICTIM": SECRET},
        capture_output=True,
        check=True,
        timeout=60,
    )
    assert {name for name, succeeded in json.loads(done.stdout).items() if succeeded} == set()
