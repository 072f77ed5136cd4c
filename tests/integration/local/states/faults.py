"""`python faults.py`: which faults unchanged moto's Step Functions has, as a JSON object."""

import io
import json
import sys
import threading
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from botocore.exceptions import ClientError
from moto.core.config import default_user_config
from moto.moto_server.werkzeug_app import create_backend_app

PARSER = "moto.stepfunctions.parser."
ROLE = "arn:aws:iam::123456789012:role/r"
_TOKEN = {"TaskToken.$": "$$.Task.Token"}
_WAITING: dict[str, Any] = {
    "Type": "Task",
    "Resource": "arn:aws:states:::lambda:invoke.waitForTaskToken",
    "Parameters": {"FunctionName": "f", "Payload": _TOKEN},
    "TimeoutSeconds": 4,
    "HeartbeatSeconds": 3,
    "End": True,
}


class Service:
    """moto's Step Functions in this process; `called` is the only function of its tasks."""

    def __init__(self) -> None:
        default_user_config["stepfunctions"] = {"execute_state_machine": True}
        self._app: Any = create_backend_app("stepfunctions")
        self.made = 0
        self.tokens: list[str] = []
        self.called: Callable[[dict[str, Any]], None] = self.store_token
        utils: Any = import_module(f"{PARSER}asl.component.state.exec.state_task.lambda_eval_utils")
        self.client_for = utils.boto_client_for
        utils.boto_client_for = self._client

    def store_token(self, event: dict[str, Any]) -> None:
        self.tokens.append(event["TaskToken"])

    def _client(self, **_: Any) -> SimpleNamespace:
        return SimpleNamespace(invoke=self._invoke)

    def _invoke(self, **parameters: Any) -> dict[str, Any]:
        self.called(json.loads(parameters["Payload"]))
        return {"StatusCode": 200, "Payload": io.BytesIO(b"null")}

    def call(self, operation: str, **parameters: Any) -> tuple[int, dict[str, Any]]:
        scope = "Credential=a/20260101/us-east-1/states/aws4_request"
        headers = {
            "X-Amz-Target": f"AWSStepFunctions.{operation}",
            "Authorization": f"AWS4-HMAC-SHA256 {scope}, SignedHeaders=host, Signature=0",
            "Content-Type": "application/x-amz-json-1.0",
        }
        answer = self._app.test_client().post("/", headers=headers, data=json.dumps(parameters))
        return answer.status_code, json.loads(answer.data or b"{}")

    def create(self, content: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        self.made += 1
        return self.call(
            "CreateStateMachine",
            name=f"m{self.made}",
            definition=json.dumps(content),
            roleArn=ROLE,
        )

    def start(self, content: dict[str, Any], name: str = "e") -> str:
        machine = self.create(content)[1]["stateMachineArn"]
        started = self.call("StartExecution", stateMachineArn=machine, name=name)[1]
        return started["executionArn"]

    def waiting(self) -> str:
        """Start an execution and return when it waits for its token."""
        self.tokens.clear()
        self.called = self.store_token
        execution = self.start(_one(_WAITING))
        while not self.tokens:
            threading.Event().wait(0.02)
        threading.Event().wait(0.3)
        return execution

    def ended(self, execution: str, seconds: float) -> dict[str, Any]:
        deadline = time.monotonic() + seconds
        result: dict[str, Any] = {"status": "RUNNING"}
        while result["status"] == "RUNNING" and time.monotonic() < deadline:
            threading.Event().wait(0.02)
            result = self.call("DescribeExecution", executionArn=execution)[1]
        return result


def _one(state: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"StartAt": "A", "States": {"A": state}, **more}


def unnamed(service: Service) -> bool:
    machine = service.create(_one({"Type": "Succeed"}))[1]["stateMachineArn"]
    started = service.call("StartExecution", stateMachineArn=machine)[1]
    return str(started.get("executionArn")).endswith(":None")


def unstopped(service: Service) -> bool:
    execution = service.waiting()
    service.call("StopExecution", executionArn=execution, error="E", cause="C")
    ended = service.ended(execution, 1)
    return (ended["status"], ended.get("error"), ended.get("cause")) != ("ABORTED", "E", "C")


def without_cause(service: Service) -> bool:
    execution = service.waiting()
    service.call("SendTaskFailure", taskToken=service.tokens[-1], error="E", cause="C")
    return service.ended(execution, 3).get("cause") != "C"


def names_refused(service: Service) -> bool:
    execution = service.start(_one({"Type": "Fail", "Error": "States.TaskFailed", "Cause": "c"}))
    return service.ended(execution, 3).get("error") != "States.TaskFailed"


def early_answers_lost(service: Service) -> bool:
    beats: list[int] = []

    def answer(event: dict[str, Any]) -> None:
        token = event["TaskToken"]
        beats.append(service.call("SendTaskHeartbeat", taskToken=token)[0])
        service.call("SendTaskSuccess", taskToken=token, output="{}")

    service.called = answer
    execution = service.start(_one(_WAITING))
    return service.ended(execution, 1)["status"] != "SUCCEEDED" or beats != [200]


def definitions_unchecked(service: Service) -> bool:
    return service.create({"StartAt": "B", "States": {"A": {"Type": "Succeed"}}})[0] == 200


def refusals_without_code(service: Service) -> bool:
    status, body = service.create({"States": {}})
    return status != 400 or "InvalidDefinition" not in str(body.get("__type"))


def pauses_outlast_stops(service: Service) -> bool:
    retry = {"ErrorEquals": ["States.ALL"], "IntervalSeconds": 4}
    state = {**_WAITING, "Resource": "arn:aws:states:::lambda:invoke"}
    state |= {"Retry": [retry], "Parameters": {"FunctionName": "f", "Payload": {}}}

    def fail(_: dict[str, Any]) -> None:
        facts: Any = {"RequestId": "r", "HTTPStatusCode": 429}
        raise ClientError(
            {"Error": {"Code": "Busy", "Message": "later"}, "ResponseMetadata": facts}, "Invoke"
        )

    service.called = fail
    execution = service.start(_one(state))
    threading.Event().wait(0.5)
    service.call("StopExecution", executionArn=execution, error="E", cause="C")
    return service.ended(execution, 2)["status"] == "RUNNING"


def without_jsonata(service: Service) -> bool:
    state = {"Type": "Pass", "Output": "{% 1 + 1 %}", "End": True}
    execution = service.start(_one(state, QueryLanguage="JSONata"))
    return service.ended(execution, 3).get("output") != "2"


def programs_parsed_again(_: Service) -> bool:
    parser: Any = import_module(f"{PARSER}asl.parse.asl_parser").AmazonStateLanguageParser
    text = json.dumps(_one({"Type": "Succeed"}))
    return parser.parse(text)[1] is not parser.parse(text)[1]


def clients_made_again(service: Service) -> bool:
    first, second = (service.client_for(region="us-east-1", service="sqs") for _ in range(2))
    return first is not second


def without_status_events(_: Service) -> bool:
    package = Path(str(import_module("moto.stepfunctions").__file__)).parent
    return not any("Execution Status Change" in f.read_text() for f in package.rglob("*.py"))


def main() -> None:
    service = Service()
    faults = (
        *(unnamed, unstopped, without_cause, names_refused, early_answers_lost),
        *(definitions_unchecked, refusals_without_code, pauses_outlast_stops),
        *(without_jsonata, programs_parsed_again, clients_made_again),
        without_status_events,
    )
    sys.stdout.write(json.dumps({fault.__name__: fault(service) for fault in faults}))


if __name__ == "__main__":
    main()
