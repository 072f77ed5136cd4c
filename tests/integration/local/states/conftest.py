"""One engine for all tests of state machines, and the runner's endpoint for its tasks."""

import asyncio
import json
import threading
import time
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import boto3
import pytest
from botocore.config import Config
from pydantic import JsonValue

from backend.spec.state_machine import definition
from local import arns
from local.admin import TASKS, Board, admin_app
from local.engines.aws import StateMachines
from local.engines.base import Options
from local.engines.process import Running
from local.errors import LocalError
from local.function_process import InvocationResult, function_error
from local.iam.roles import Enforcement, Role, Roles
from local.plan import Plan, Rule, Target
from local.pumps.activity import Activity
from local.pumps.bus import Bus
from local.servers import HttpServer, bind_any
from local.state import StateFolder
from local.states.executions import Executions
from local.states.tasks import Tasks

ROLE = f"arn:aws:iam::{arns.ACCOUNT}:role/executions"
_ALLOWED: list[dict[str, Any]] = [
    {
        "Effect": "Allow",
        "Action": "lambda:InvokeFunction",
        "Resource": "arn:aws:lambda:*:*:function:*",
    },
    {"Effect": "Allow", "Action": "sqs:SendMessage", "Resource": "arn:aws:sqs:*:*:jobs"},
    {"Effect": "Allow", "Action": "s3:ListBucket", "Resource": "arn:aws:s3:::auxiliary"},
    {
        "Effect": "Allow",
        "Action": "events:PutEvents",
        "Resource": "arn:aws:events:*:*:event-bus/default",
    },
]
Handler = Callable[[Any], object]


class FunctionError(Exception):
    """The error of a function in a test: its type and its message."""


@dataclass
class Functions:
    """Functions that are implemented in Python; they run outside the event loop."""

    handlers: dict[str, Handler] = field(default_factory=dict[str, Handler])
    calls: list[tuple[str, Any]] = field(default_factory=list[tuple[str, Any]])

    async def invoke(self, reference: str, event: Mapping[str, JsonValue]) -> InvocationResult:
        name = arns.last_part(reference)
        if name not in self.handlers:
            raise LocalError(f"no function {name}")
        self.calls.append((name, event))
        try:
            answer = await asyncio.to_thread(self.handlers[name], event)
        except FunctionError as failure:
            return function_error(*failure.args)
        return InvocationResult(json.dumps(answer).encode())

    def of(self, name: str) -> list[Any]:
        """The events with which a function was called."""
        return [event for called, event in self.calls if called == name]


@dataclass
class Queues:
    """A client of SQS that records messages."""

    messages: list[dict[str, Any]]

    def get_queue_url(self, **named: str) -> dict[str, str]:
        return {"QueueUrl": named["QueueName"]}

    def send_message(self, **sent: Any) -> dict[str, str]:
        self.messages.append(sent)
        return {"MessageId": "m", "MD5OfMessageBody": "0" * 32}


@dataclass
class Buckets:
    """A client of S3 that finds an object below each of some prefixes."""

    written: set[str] = field(default_factory=set[str])
    looked: list[str] = field(default_factory=list[str])

    def list_objects_v2(self, **named: Any) -> dict[str, int]:
        assert (named["Bucket"], named["MaxKeys"]) == ("auxiliary", 1)
        self.looked.append(named["Prefix"])
        return {"KeyCount": int(named["Prefix"] in self.written)}


@dataclass
class Site:
    """The engine, its client, and the calls of its tasks."""

    running: Running
    client: Any
    functions: Functions
    executions: Executions
    messages: list[dict[str, Any]]
    buckets: Buckets
    machine: str

    def create(self, name: str, content: dict[str, Any]) -> str:
        """Create a state machine in JSONata and return its ARN."""
        text = json.dumps({"QueryLanguage": "JSONata", **content})
        made = self.client.create_state_machine(name=name, definition=text, roleArn=ROLE)
        return made["stateMachineArn"]

    def start(self, *pipelines: dict[str, Any], shared: dict[str, Any] | None = None) -> str:
        """Start an execution of the product's state machine."""
        run = {"bucketAssetAuxiliary": "auxiliary", "executionId": "e", **(shared or {})}
        value = {"pipelines": pipelines, "run": run}
        started = self.client.start_execution(stateMachineArn=self.machine, input=json.dumps(value))
        return started["executionArn"]

    def ended(self, execution: str, seconds: float = 30) -> dict[str, Any]:
        """Wait for the end of an execution and return its description."""
        result: dict[str, Any] = {}

        def has_ended() -> bool:
            result.update(self.client.describe_execution(executionArn=execution))
            return result["status"] != "RUNNING"

        self.wait_for(has_ended, seconds)
        return result

    def events(self, execution: str) -> list[dict[str, Any]]:
        """The details of the status events of an execution that a rule delivered."""
        details = [event["detail"] for event in self.functions.of("on-status")]
        return [detail for detail in details if detail["executionArn"] == execution]

    @staticmethod
    def wait_for(fact: Callable[[], object], seconds: float = 30) -> None:
        """Wait until a condition is true."""
        deadline = time.monotonic() + seconds
        while not fact():
            assert time.monotonic() < deadline, "did not come true in time"
            threading.Event().wait(0.02)


def pipeline(kind: str, resource: str, **more: object) -> dict[str, Any]:
    """One pipeline of an execution's input."""
    return {
        "kind": kind,
        "resource": resource,
        "timeout": 30,
        "heartbeat": 0,
        "source": "tests",
        "detailType": "job",
        "message": {"outputType": ".glb"},
        **more,
    }


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Generator[Site]:
    """The engine with the product's state machine; tests set functions and start executions."""
    folder = tmp_path_factory.mktemp("states")
    functions, messages = Functions(), list[dict[str, Any]]()
    functions.handlers |= {
        "on-status": lambda _: None,
        "process-output": lambda _: {"state": "stored"},
    }
    queues, buckets = Queues(messages), Buckets()
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    server = HttpServer(bind_any())
    tasks = asyncio.run_coroutine_threadsafe(
        _serve(server, folder, functions, SimpleNamespace(sqs=queues, s3=buckets)), loop
    ).result(30)
    running = StateMachines().start(
        folder,
        folder,
        log=folder / "states.log",
        options=Options(tasks=f"{server.url}/token{TASKS}"),
    )
    try:
        running.wait_healthy()
        client = _client(running.endpoint.url)
        output = arns.arn("lambda", "function:process-output")
        made = client.create_state_machine(
            name="executions", definition=json.dumps(definition(output)), roleArn=ROLE
        )
        machine = made["stateMachineArn"]
        yield Site(running, client, functions, tasks.executions, messages, buckets, machine)
    finally:
        running.kill()
        asyncio.run_coroutine_threadsafe(server.stop(), loop).result(30)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()


async def _serve(server: HttpServer, folder: Path, functions: Functions, clients: Any) -> Tasks:
    plan, activity = Plan(), Activity()
    target = Target("status", arns.arn("lambda", "function:on-status"), None, None)
    pattern = json.dumps({"source": ["aws.states"]})
    plan.rules.append(Rule("status", "status", pattern, None, (target,)))
    job = Target("job", arns.arn("lambda", "function:on-job"), None, None)
    plan.rules.append(Rule("job", "job", json.dumps({"source": ["tests"]}), None, (job,)))
    bus = Bus(plan, clients, cast("Any", functions))
    roles = Roles(folder / "iam", Enforcement(enforced=True, record=None))
    roles.by_arn[ROLE] = Role("executions", list(cast("Any", _ALLOWED)))
    tasks = Tasks(
        functions=cast("Any", functions),
        clients=clients,
        bus=bus,
        roles=roles,
        activity=activity,
        executions=Executions(StateFolder(folder), bus, activity),
    )
    nothing: Any = None
    board = Board(cast("Any", functions), nothing, nothing, "token", tasks=tasks)
    await server.start(admin_app(board))
    return tasks


def _client(url: str) -> Any:
    session: Any = boto3.Session("local", "local-secret", region_name=arns.REGION)
    config = Config(retries={"total_max_attempts": 1}, max_pool_connections=30)
    return session.client("stepfunctions", endpoint_url=url, config=config)
