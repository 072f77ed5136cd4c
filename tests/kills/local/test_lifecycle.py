"""A runtime that was killed continues on its folder; its engine of executions, too, was killed."""

from __future__ import annotations

import json
import os
import signal
import stat
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from botocore.exceptions import ClientError

from tests.integration.local.small_deployment import attribute
from tests.integration.local.test_lifecycle import alive, stored_request

if TYPE_CHECKING:
    from tests.integration.local.conftest import Small

_FILE_KEYS = [
    *("api", "adminApiKey", "opensearch", "dynamodb", "s3", "states", "aws", "admin"),
    *("adminToken", "accessKey", "secretKey", "pid"),
]
_WAITING = {
    "StartAt": "Wait",
    "States": {"Wait": {"Type": "Wait", "Seconds": 3600, "End": True}},
}
_MACHINE: dict[str, object] = {
    "Type": "AWS::StepFunctions::StateMachine",
    "Properties": {"Definition": _WAITING, "RoleArn": attribute("Role", "Arn")},
}
_TRUTH_SECONDS = 60.0
"""Counted from the restart; the start itself takes as long as the machine needs."""


def test_a_killed_runtime_continues_where_it_was(fresh: Small) -> None:
    fresh.add("Machine", _MACHINE)
    fresh.up()
    first = fresh.endpoint
    assert list(first) == _FILE_KEYS
    assert stat.S_IMODE((fresh.state / "endpoint.json").stat().st_mode) == 0o600
    assert len(first["adminApiKey"]) == 40

    lost = _start_execution(fresh)
    pid = int(_engines(fresh)["states"]["pid"])
    os.kill(pid, signal.SIGKILL)
    fresh.wait_for(lambda: _engines(fresh)["states"]["pid"] != pid)
    fresh.wait_for(lambda: _engines(fresh)["states"]["healthy"])
    _is_reported(fresh, lost)

    fresh.put("before the kill")
    fresh.wait_drained()
    body = json.dumps({"id": "in work", "seconds_at_first": 8})
    fresh.sqs().send_message(QueueUrl=fresh.queue("Patient"), MessageBody=body)
    fresh.wait_for(lambda: fresh.admin("/drained").json().get("running", 0) > 0)
    lost = _start_execution(fresh)
    started = {int(first["pid"]), *(int(engine["pid"]) for engine in _engines(fresh).values())}
    fresh.put("just before the kill")
    fresh.s3().put_object(Bucket="small-objects", Key="just before the kill", Body=b"1")
    for pid in started:
        os.kill(pid, signal.SIGKILL)
    fresh.wait_for(lambda: not alive(started - {int(first["pid"])}))

    fresh.up()
    _is_reported(fresh, lost)
    fresh.wait_drained()

    assert fresh.endpoint["adminApiKey"] == first["adminApiKey"]
    assert fresh.seen("before the kill") == 1
    assert fresh.seen("just before the kill") >= 1
    assert fresh.seen("Object Created:just before the kill") >= 1
    assert fresh.seen("in work") >= 1
    assert stored_request(fresh) == "Create 1"


def _engines(small: Small) -> dict[str, Any]:
    return small.admin("/health").json()["engines"]


def _states(small: Small) -> Any:
    session: Any = boto3.Session("local", "local-secret", region_name="us-east-1")
    return session.client("stepfunctions", endpoint_url=small.endpoint["states"])


def _start_execution(small: Small) -> str:
    """Start an execution, which the runtime notes, and which runs."""
    (machine,) = _states(small).list_state_machines()["stateMachines"]
    execution = _states(small).start_execution(stateMachineArn=machine["stateMachineArn"])
    arn: str = execution["executionArn"]
    assert _noted(small) == {arn}
    assert _states(small).describe_execution(executionArn=arn)["status"] == "RUNNING"
    return arn


def _noted(small: Small) -> set[str]:
    """The executions whose end the runtime still has to report."""
    return set(json.loads((small.state / "executions.json").read_text(encoding="utf-8")))


def _is_reported(small: Small, execution: str) -> None:
    """An execution that a kill interrupted is reported, and unknown to the engine."""
    small.wait_for(lambda: _noted(small) == set(), _TRUTH_SECONDS)
    with pytest.raises(ClientError, match="ExecutionDoesNotExist"):
        _states(small).describe_execution(executionArn=execution)
