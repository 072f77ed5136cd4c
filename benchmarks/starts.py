"""`python -m benchmarks.starts [NAME…]`: the work of starts of functions, relative to libraries.

It counts instructions, which do not depend on the load of the machine; this needs `valgrind`. It
takes six to twenty seconds per function.
"""

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from backend.spec.buckets import BUCKETS
from backend.spec.functions import FUNCTIONS, Function
from backend.spec.queues import QUEUES
from backend.spec.secrets import SECRETS
from backend.spec.settings import SETTINGS
from backend.spec.tables import TABLES
from backend.spec.topics import TOPICS

MOST = 1.25
"""The target, relative to the time of the libraries alone."""
_NO_BYTECODE = "PYTHONDONTWRITEBYTECODE"
_LIBRARIES = """
import boto3
from pydantic import (
    AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, field_validator, model_validator
)
from aws_lambda_powertools.event_handler import APIGatewayHttpResolver
"""
_SEARCHING = "import opensearchpy\n"
_COUNTER = ("valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null")
_COUNTED = re.compile(r"I\s+refs:\s+([\d,]+)")


def main(names: Sequence[str]) -> int:
    """Print the ratio of each function, or of the named ones.

    Returns 1 if a ratio exceeds the target, and 2 if a name is not that of a function.
    """
    unknown = set(names) - {function.name for function in FUNCTIONS}
    if unknown:
        sys.stderr.write(f"no such functions: {', '.join(sorted(unknown))}\n")
        return 2
    wanted = [function for function in FUNCTIONS if not names or function.name in names]
    needed: dict[bool, int] = {}
    worst = 0.0
    for function in wanted:
        searching = function.search != "none"
        if searching not in needed:
            needed[searching] = _instructions(_LIBRARIES + _SEARCHING * searching)
        ratio = _instructions(_start_of(function)) / needed[searching]
        worst = max(worst, ratio)
        sys.stdout.write(f"{ratio:.3f} {function.name}\n")
        sys.stdout.flush()
    return int(worst > MOST)


def _start_of(function: Function) -> str:
    return f"import {function.handler.rpartition('.')[0]}"


def _instructions(program: str) -> int:
    """Count the instructions of a program.

    Raises:
        FileNotFoundError: valgrind is not installed.
    """
    _run(program)  # compiles the modules that have no bytecode yet
    report = _run(program, *_COUNTER)
    match = _COUNTED.search(report)
    assert match, report
    return int(match[1].replace(",", ""))


def _run(program: str, *below: str) -> str:
    """Run a program; return its standard error."""
    done = subprocess.run(
        [*below, sys.executable, "-c", program],
        env=_environment(),
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stderr


def _environment() -> dict[str, str]:
    environment = {f"TABLE_{table.name}": table.name for table in TABLES}
    environment |= {f"BUCKET_{bucket.name}": bucket.name for bucket in BUCKETS}
    environment |= {f"QUEUE_{queue.name}": queue.name for queue in QUEUES}
    environment |= {f"QUEUE_{queue.name}DeadLetters": queue.name for queue in QUEUES}
    environment |= {f"TOPIC_{topic.name}": topic.name for topic in TOPICS}
    environment |= {f"SECRET_{secret.name}": secret.name for secret in SECRETS}
    environment |= {setting.variable: str(setting.default) for setting in SETTINGS}
    runtime = {
        "AWS_LAMBDA_FUNCTION_NAME": "Starting",
        "SEARCH_ENDPOINT": "search.example",
        "EXECUTIONS_STATE_MACHINE_ARN": "arn:aws:states:us-east-1:000000000000:stateMachine:Runs",
        "EXECUTIONS_ALLOWED_ARNS": "",
        "AWS_REGION": "us-east-1",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "nobody",
        "AWS_SECRET_ACCESS_KEY": "nothing",
    }
    # If bytecode cannot be stored, ours is compiled at each start, and that of libraries is not.
    inherited = {name: value for name, value in os.environ.items() if name != _NO_BYTECODE}
    return {**inherited, **environment, **runtime}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
