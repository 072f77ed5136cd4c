"""Who collects garbage: all but functions that start."""

import subprocess
import sys

import pytest

PROGRAM = """
import gc
from backend.entrypoints import ready
started = gc.isenabled()
ready(print)
print(started, gc.isenabled())
"""


@pytest.mark.parametrize(
    ("environment", "output"),
    [({}, "True True"), ({"AWS_LAMBDA_FUNCTION_NAME": "Assets"}, "False True")],
)
def test_only_a_function_that_starts_keeps_its_garbage(
    environment: dict[str, str], output: str
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == output
