"""The report of the probe, with and without a box that refuses system calls."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from backend.aws.clients import sdk_version
from backend.entrypoints.probe import handler

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = """
import json, sys
from local import box
if sys.argv[1]:
    box.enter(sys.argv[1])
from backend.processing.jail.survey import survey
print(json.dumps(survey()))
"""


def surveyed(name: str) -> dict[str, Any]:
    command = [sys.executable, "-c", PROGRAM, name]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, timeout=60)
    return json.loads(done.stdout)


def test_without_a_box_this_system_confines_readers() -> None:
    found = surveyed("")
    assert found["calls"]["prctl PR_SET_NO_NEW_PRIVS"] == "ok"
    assert found["calls"]["seccomp SECCOMP_GET_ACTION_AVAIL"] == "ok"
    assert found["confinement"]["alone"]["filtered"] is True
    assert found["hiddenMemory"] == "ok"
    assert found["diskMiB"]["free"] > 0
    assert {"kernel", "libc", "python", "memory", "cpus", "machine"} <= set(found)


def test_the_errors_of_refused_calls_are_reported() -> None:
    found = surveyed("lambda-strict")
    refused = {name.split()[0] for name, result in found["calls"].items() if result == "EPERM"}
    assert refused == {
        *("prctl", "seccomp", "capset", "ptrace", "unshare", "landlock_create_ruleset"),
    }
    assert (found["status"]["NoNewPrivs"], found["status"]["Seccomp"]) == ("1", "2")
    assert found["confinement"]["alone"]["filtered"] is False
    assert found["hiddenMemory"] == "Operation not permitted"


def test_a_survey_changes_nothing_of_its_own_process() -> None:
    first = handler({})
    assert first["status"] == handler({})["status"]
    assert first["boto3"] == sdk_version()
    assert Path("/proc/self/environ").read_bytes() is not None
