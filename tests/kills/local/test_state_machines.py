"""The executions after a kill of the runtime, or of its engine of state machines."""

from __future__ import annotations

import json
import os
import signal
from typing import TYPE_CHECKING, Any

import boto3
import psutil
import pytest
from botocore.exceptions import ClientError

from tests.integration.local.small_deployment import attribute

if TYPE_CHECKING:
    from tests.integration.local.conftest import Small

_WAITING = {
    "StartAt": "Wait",
    "States": {"Wait": {"Type": "Wait", "Seconds": 3600, "End": True}},
}
_TRUTH_SECONDS = 60.0
"""Counted from the restart; the start itself takes as long as the machine needs."""


def _client(small: Small) -> Any:
    session: Any = boto3.Session("local", "local-secret", region_name="us-east-1")
    return session.client("stepfunctions", endpoint_url=small.endpoint["states"])


def _noted(small: Small) -> set[str]:
    """The executions whose end the runtime still has to report."""
    return set(json.loads((small.state / "executions.json").read_text(encoding="utf-8")))


def _engine(small: Small) -> dict[str, Any]:
    return small.admin("/health").json()["engines"]["states"]


@pytest.mark.parametrize("killed", ["runtime", "engine"])
def test_an_execution_that_a_kill_interrupts_is_reported_and_unknown(
    fresh: Small, killed: str
) -> None:
    properties = {"Definition": _WAITING, "RoleArn": attribute("Role", "Arn")}
    machine: dict[str, object] = {
        "Type": "AWS::StepFunctions::StateMachine",
        "Properties": properties,
    }
    fresh.add("Machine", machine)
    fresh.keep_only("Machine")
    fresh.up()
    arn = _client(fresh).list_state_machines()["stateMachines"][0]["stateMachineArn"]
    execution = _client(fresh).start_execution(stateMachineArn=arn)["executionArn"]
    assert _noted(fresh) == {execution}
    pid = int(_engine(fresh)["pid"])

    if killed == "runtime":
        os.kill(int(fresh.endpoint["pid"]), signal.SIGKILL)
        fresh.wait_for(lambda: not psutil.pid_exists(pid))
        fresh.up()
    else:
        os.kill(pid, signal.SIGKILL)
        fresh.wait_for(lambda: _engine(fresh)["pid"] != pid and _engine(fresh)["healthy"])

    fresh.wait_for(lambda: _noted(fresh) == set(), _TRUTH_SECONDS)
    with pytest.raises(ClientError, match="ExecutionDoesNotExist"):
        _client(fresh).describe_execution(executionArn=execution)
    again = _client(fresh).start_execution(stateMachineArn=arn)["executionArn"]
    assert _client(fresh).describe_execution(executionArn=again)["status"] == "RUNNING"
