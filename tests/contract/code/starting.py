"""Starts handlers, each in a process of its own, and reports the modules that they load.

`test_handlers` runs it as a script, so that no module of the tests is loaded. Each line of standard
input is a handler and its environment. All processes are forks of one process, which has loaded the
libraries that every function needs, because loading them again takes most of the time of a start.
"""

import json
import os
import sys
from importlib import import_module

import boto3
import pydantic
from aws_lambda_powertools import event_handler

SHARED = (boto3, event_handler, pydantic)
"""Loaded before the forks."""


def start(handler: str, environment: dict[str, str]) -> None:
    """Load the handler as Lambda does, in this process."""
    os.environ.clear()
    os.environ.update(environment)
    module, _, name = handler.rpartition(".")
    result = getattr(import_module(module), name)
    _report(is_callable=callable(result), modules=sorted(sys.modules))


def _report(*, is_callable: bool, modules: list[str]) -> None:
    sys.stdout.write(json.dumps({"callable": is_callable, "modules": modules}) + "\n")
    sys.stdout.flush()


def main() -> int:
    """Start each handler; one that fails leaves its traceback on standard error."""
    for line in sys.stdin:
        handler, environment = json.loads(line)
        if os.fork() == 0:
            start(handler, environment)
            return 0
        _, status = os.wait()
        if status:
            _report(is_callable=False, modules=[])
    return 0


if __name__ == "__main__":
    sys.exit(main())
