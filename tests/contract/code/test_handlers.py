"""Each declared handler exists and starts with only the environment that its function gets.

`python -m benchmarks.starts` counts the cost of a start in instructions; these tests check which
packages a function loads, which is most of that cost.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from backend.spec.functions import FUNCTIONS, Function
from backend.spec.functions.workers import LIFECYCLE_WORKER, PURGE_WORKER
from backend.spec.jobs import JOB_KINDS
from backend.spec.queues import LIFECYCLE, PURGES, Queue

ROOT = Path(__file__).resolve().parents[3]
_FORBIDDEN = frozenset(
    {"moto", "aws_cdk", "constructs", "jsii", "pytest", "local", "tests", "infra"}
)
_SEARCH = frozenset({"opensearchpy", "requests"})
STEPS = """
import json, sys
from importlib import import_module
from backend.entrypoints.wiring.context import Context
from backend.spec.functions import FUNCTIONS
module = import_module(sys.argv[1].rpartition(".")[0])
function = next(one for one in FUNCTIONS if one.handler == sys.argv[1])
print(json.dumps(sorted(module.steps(Context(function)))))
"""


def _environment(function: Function) -> dict[str, str]:
    """The function's variables, with addresses of AWS that do not respond."""
    variables = {f"TABLE_{table.name}": f"t-{table.name}" for table in function.tables}
    variables |= {f"BUCKET_{bucket.name}": f"b-{bucket.name}" for bucket in function.buckets}
    queue_url = "http://127.0.0.1:9/000000000000/"
    named = (*function.sends, *function.receives, *function.redrives)
    variables |= {f"QUEUE_{queue.name}": queue_url + queue.name for queue in named}
    variables |= {f"TOPIC_{topic.name}": f"t-{topic.name}" for topic in function.topics}
    variables |= {f"SECRET_{secret.name}": f"s-{secret.name}" for secret in function.secrets}
    variables |= {setting.variable: str(setting.default) for setting in function.settings}
    if function.runs:
        variables["EXECUTIONS_STATE_MACHINE_ARN"] = "arn:aws:states:::stateMachine:m"
        variables["EXECUTIONS_ALLOWED_ARNS"] = ""
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


@pytest.fixture(scope="module")
def starts() -> dict[str, dict[str, Any]]:
    """The modules that each function has loaded after its start, by its name."""
    wanted = [[function.handler, _environment(function)] for function in FUNCTIONS]
    # Without bytecode each start would compile the modules again.
    kept = {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment = kept | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "tests/contract/code/starting.py"],
        cwd=ROOT,
        env=environment,
        input="\n".join(map(json.dumps, wanted)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    result = map(json.loads, done.stdout.splitlines())
    return {function.name: start for function, start in zip(FUNCTIONS, result, strict=True)}


@pytest.mark.parametrize(
    ("worker", "queue"),
    [(LIFECYCLE_WORKER, LIFECYCLE), (PURGE_WORKER, PURGES)],
    ids=lambda one: one.name,
)
def test_a_worker_that_builds_its_steps_late_has_one_for_each_of_its_kinds(
    worker: Function, queue: Queue
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", STEPS, worker.handler],
        env=_environment(worker),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    kinds = {kind.name for kind in JOB_KINDS.values() if kind.queue == queue}
    assert set(json.loads(done.stdout)) == kinds


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.name)
def test_a_handler_starts_with_what_its_function_declares(
    function: Function, starts: dict[str, dict[str, Any]]
) -> None:
    start = starts[function.name]
    assert start["callable"]
    packages = {module.partition(".")[0] for module in start["modules"]}
    assert "backend" in packages
    assert not packages & _FORBIDDEN
    # A search client takes a quarter of a second at cold start: only functions that search load it.
    assert bool(packages & _SEARCH) <= (function.search != "none")
