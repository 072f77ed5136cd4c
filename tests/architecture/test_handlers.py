"""Each declared handler is there and starts with just the environment that its function gets."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from backend.spec.functions import FUNCTIONS, LIFECYCLE_WORKER, Function
from backend.spec.jobs import JOB_KINDS
from backend.spec.queues import LIFECYCLE

ROOT = Path(__file__).resolve().parents[2]
START = """
import importlib, json, sys
module, _, name = sys.argv[1].rpartition(".")
handler = getattr(importlib.import_module(module), name)
print(json.dumps({"callable": callable(handler), "modules": sorted(sys.modules)}))
"""
STEPS = """
import json
from backend.entrypoints.jobs.lifecycle import steps
print(json.dumps(sorted(steps())))
"""


def _environment(function: Function) -> dict[str, str]:
    """The function's variables, with an AWS that nobody answers for."""
    variables = {f"TABLE_{table.name}": f"t-{table.name}" for table in function.tables}
    variables |= {f"BUCKET_{bucket.name}": f"b-{bucket.name}" for bucket in function.buckets}
    queue_url = "http://127.0.0.1:9/000000000000/"
    named = (*function.sends, *function.receives, *function.redrives)
    variables |= {f"QUEUE_{queue.name}": queue_url + queue.name for queue in named}
    dead_letters = [f"{queue.name}DeadLetters" for queue in function.redrives]
    variables |= {f"QUEUE_{name}": queue_url + name for name in dead_letters}
    variables |= {f"TOPIC_{topic.name}": f"t-{topic.name}" for topic in function.topics}
    variables |= {f"SECRET_{secret.name}": f"s-{secret.name}" for secret in function.secrets}
    variables |= {setting.variable: str(setting.default) for setting in function.settings}
    if function.search != "none":
        variables["SEARCH_ENDPOINT"] = "search.invalid"
    return variables | {
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "AWS_REGION": "eu-central-1",
        "AWS_DEFAULT_REGION": "eu-central-1",
        "AWS_ENDPOINT_URL": "http://127.0.0.1:9",
        "AWS_LAMBDA_FUNCTION_NAME": function.name,
        "PYTHONPATH": str(ROOT),
    }


def _said(function: Function, program: str) -> Any:
    done = subprocess.run(
        [sys.executable, "-c", program, function.handler],
        env=_environment(function),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_worker_of_the_lifecycle_has_a_step_for_each_of_its_kinds() -> None:
    kinds = {kind.name for kind in JOB_KINDS.values() if kind.queue == LIFECYCLE}
    assert set(_said(LIFECYCLE_WORKER, STEPS)) == kinds


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.name)
def test_a_handler_starts_with_what_its_function_declares(function: Function) -> None:
    found = _said(function, START)
    assert found["callable"]
    # A search client costs a quarter of a second at cold start: only who searches pays it.
    assert ("opensearchpy" in found["modules"]) <= (function.search != "none")
