"""What a function loads when it starts, measured against the libraries that all of them need."""

import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from backend.spec.buckets import BUCKETS
from backend.spec.functions import FUNCTIONS, Function
from backend.spec.queues import QUEUES
from backend.spec.secrets import SECRETS
from backend.spec.settings import SETTINGS
from backend.spec.tables import TABLES
from backend.spec.topics import TOPICS

MOST = 1.5
"""Times what the libraries alone take, in processor time; the aim is 1.25.

A machine that does other things disturbs the larger program more.
"""
_ROUNDS = 12
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
_FORBIDDEN = frozenset(
    {"moto", "aws_cdk", "constructs", "jsii", "pytest", "local", "tests", "infra"}
)
_SEARCH = frozenset({"opensearchpy", "requests"})


@dataclass
class Start:
    """The runs of one program."""

    program: str
    seconds: list[float] = field(default_factory=list[float])
    packages: set[str] = field(default_factory=set[str])

    def run(self) -> float:
        """Run it once more; answers with the least time so far."""
        done = subprocess.run(
            [sys.executable, "-c", self.program + _TELL],
            env=_environment(),
            cwd=Path(__file__).parents[2],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        seconds, *packages = done.stdout.split()
        self.seconds.append(float(seconds))
        self.packages |= set(packages)
        return min(self.seconds)


def _environment() -> dict[str, str]:
    environment = {f"TABLE_{table.name}": table.name for table in TABLES}
    environment |= {f"BUCKET_{bucket.name}": bucket.name for bucket in BUCKETS}
    environment |= {f"QUEUE_{queue.name}": queue.name for queue in QUEUES}
    environment |= {f"QUEUE_{queue.name}DeadLetters": queue.name for queue in QUEUES}
    environment |= {f"TOPIC_{topic.name}": topic.name for topic in TOPICS}
    environment |= {f"SECRET_{secret.name}": secret.name for secret in SECRETS}
    environment |= {setting.variable: str(setting.default) for setting in SETTINGS}
    runtime = {
        "SEARCH_ENDPOINT": "search.example",
        "AWS_REGION": "us-east-1",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "nobody",
        "AWS_SECRET_ACCESS_KEY": "nothing",
    }
    # Where bytecode may not be kept, ours is compiled at each start and the libraries' is not.
    inherited = {name: value for name, value in os.environ.items() if name != _NO_BYTECODE}
    return {**inherited, **environment, **runtime}


def _start_of(function: Function) -> Start:
    return Start(f"import {function.handler.rpartition('.')[0]}")


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.name)
def test_a_function_loads_nothing_that_it_does_not_need(function: Function) -> None:
    start = _start_of(function)
    start.run()
    assert not start.packages & _FORBIDDEN
    if function.search == "none":
        assert not start.packages & _SEARCH


@pytest.mark.alone
def test_a_function_starts_in_little_more_than_its_libraries_take() -> None:
    alone, searching = Start(_LIBRARIES), Start(_LIBRARIES + _SEARCHING)
    waiting = {function.name: (function, _start_of(function)) for function in FUNCTIONS}
    ratios: dict[str, float] = {}
    for _ in range(_ROUNDS):  # a run that was disturbed only takes longer: the least counts
        least, least_searching = alone.run(), searching.run()
        for name, (function, start) in list(waiting.items()):
            libraries = least if function.search == "none" else least_searching
            ratios[name] = start.run() / libraries
        if len(alone.seconds) >= 3:
            waiting = {name: each for name, each in waiting.items() if ratios[name] > MOST}
        if not waiting:
            return
    assert not {name: ratios[name] for name in waiting}
