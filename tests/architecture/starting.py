"""How much work the start of a function is, and that of the libraries that all of them need."""

import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from backend.spec.buckets import BUCKETS
from backend.spec.functions import Function
from backend.spec.queues import QUEUES
from backend.spec.secrets import SECRETS
from backend.spec.settings import SETTINGS
from backend.spec.tables import TABLES
from backend.spec.topics import TOPICS

_NO_BYTECODE = "PYTHONDONTWRITEBYTECODE"
_LIBRARIES = """
import boto3
from pydantic import (
    AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, field_validator, model_validator
)
from aws_lambda_powertools.event_handler import APIGatewayHttpResolver
"""
_SEARCHING = "import opensearchpy\n"
_TELL = """
import sys, time
print(time.process_time(), *{name.partition(".")[0] for name in sys.modules})
"""
_COUNTED = re.compile(r"I\s+refs:\s+([\d,]+)")


@dataclass
class Start:
    """The runs of one program."""

    program: str
    seconds: list[float] = field(default_factory=list[float])
    packages: set[str] = field(default_factory=set[str])

    def run(self) -> float:
        """Run it once more; answers with the least time so far."""
        seconds, *packages = self._python(self.program + _TELL).stdout.split()
        self.seconds.append(float(seconds))
        self.packages |= set(packages)
        return min(self.seconds)

    def instructions(self) -> int:
        """How many it takes, which a busy machine does not change; the bytecode must be there.

        Raises:
            FileNotFoundError: valgrind is not installed.
        """
        counter = ("valgrind", "--tool=cachegrind", "--cache-sim=no")
        done = self._python(self.program, *counter, "--cachegrind-out-file=/dev/null")
        found = _COUNTED.search(done.stderr)
        assert found, done.stderr
        return int(found[1].replace(",", ""))

    @staticmethod
    def _python(program: str, *below: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [*below, sys.executable, "-c", program],
            env=_environment(),
            cwd=Path(__file__).parents[2],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done


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
        "AWS_REGION": "us-east-1",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "nobody",
        "AWS_SECRET_ACCESS_KEY": "nothing",
    }
    # Where bytecode may not be kept, ours is compiled at each start and the libraries' is not.
    inherited = {name: value for name, value in os.environ.items() if name != _NO_BYTECODE}
    return {**inherited, **environment, **runtime}


def start_of(function: Function) -> Start:
    """The function's own."""
    return Start(f"import {function.handler.rpartition('.')[0]}")


def libraries(*, searching: bool) -> Start:
    """What all functions need, or those that search."""
    return Start(_LIBRARIES + _SEARCHING if searching else _LIBRARIES)
