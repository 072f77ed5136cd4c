"""Step Functions behind the port `core.runs.Runs`."""

import json
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from backend.aws.errors import code_of, translated
from backend.aws.settings import Settings
from backend.core.errors import RateLimitedError, TooLargeError
from backend.core.queue_urls import queue_place
from backend.core.runs import (
    PipelineTask,
    RunInput,
    RunState,
    StepState,
    StepStatus,
    TaskKind,
)
from backend.spec.functions import FUNCTIONS
from backend.spec.state_machine import CAUSE_CHARS, ERROR_CHARS, INPUT_BYTES, NAME

if TYPE_CHECKING:
    from mypy_boto3_stepfunctions import SFNClient

_EXISTS = "ExecutionAlreadyExists"
_UNKNOWN = "ExecutionDoesNotExist"
_FULL = "ExecutionLimitExceeded"
# An account may have a million open executions (Step Functions' quota): some have to end first.
_RETRY_SECONDS = 60
_STEPS: Mapping[str, StepStatus] = {
    "Started": "RUNNING",
    "Succeeded": "SUCCEEDED",
    "Failed": "FAILED",
    "Aborted": "ABORTED",
}
"""The step status by the suffix of a Map iteration's event type."""
_SHIPPED = frozenset(spec.name for spec in FUNCTIONS if spec.kind == "pipeline")


@dataclass(eq=False, repr=False)
class StepFunctionsRuns:
    """The executions of a deployment (see the port for what each method promises)."""

    client: "SFNClient"
    settings: Settings

    def start(self, execution_id: str, run_input: RunInput) -> None:
        """See the port.

        Raises:
            TooLargeError: the input exceeds the limit of Step Functions.
        """
        machine = self.settings.state_machine
        content = {
            "pipelines": [_task(task, machine) for task in run_input.pipelines],
            "run": run_input.shared,
        }
        text = json.dumps(content, separators=(",", ":"), ensure_ascii=False)
        if len(text.encode()) > INPUT_BYTES:
            raise TooLargeError(f"the input of an execution is over {INPUT_BYTES} bytes")
        with _translate_errors(but=_EXISTS):
            self.client.start_execution(stateMachineArn=machine, name=execution_id, input=text)

    def stop(self, execution_id: str, *, error: str, cause: str) -> None:
        with _translate_errors(but=_UNKNOWN):
            self.client.stop_execution(
                executionArn=self._arn(execution_id),
                error=error[:ERROR_CHARS],
                cause=cause[:CAUSE_CHARS],
            )

    def may_call(self, kind: TaskKind, resource: str) -> bool:
        if kind.startswith("Lambda") and resource in _SHIPPED:
            return True
        arn = _arn_of(kind, resource, self.settings.state_machine)
        return arn in self.settings.allowed_pipelines

    def describe(self, execution_id: str) -> RunState | None:
        execution: Any = None
        with _translate_errors(but=_UNKNOWN):
            execution = self.client.describe_execution(executionArn=self._arn(execution_id))
        if execution is None:
            return None
        stopped = execution.get("stopDate") if execution["status"] != "RUNNING" else None
        return RunState(
            status="RUNNING" if execution["status"] == "PENDING_REDRIVE" else execution["status"],
            started_at=_iso(execution["startDate"]),
            stopped_at=_iso(stopped) if stopped else None,
            error=execution.get("error"),
            cause=execution.get("cause"),
        )

    def steps(self, execution_id: str) -> Mapping[int, StepState]:
        history: Any = {"events": ()}
        with _translate_errors(but=_UNKNOWN):
            # Without execution data: it holds task tokens. Pipelines are in the first page, because
            # each has about ten events; later events may fill many pages.
            history = self.client.get_execution_history(
                executionArn=self._arn(execution_id), maxResults=1000, includeExecutionData=False
            )
        steps: dict[int, StepState] = {}
        for event in history["events"]:
            name = event["type"].removeprefix("MapIteration")
            status = _STEPS.get(name)
            if status is None:
                continue
            number = event[f"mapIteration{name}EventDetails"]["index"] + 1
            at = _iso(event["timestamp"])
            if status == "RUNNING":
                steps[number] = StepState(status, at)
            else:
                steps[number] = steps[number]._replace(status=status, stopped_at=at)
        return steps

    def _arn(self, execution_id: str) -> str:
        machine = self.settings.state_machine
        return f"{machine.replace(':stateMachine:', ':execution:')}:{execution_id}"


def function_arn(name: str, state_machine: str) -> str:
    """Return the ARN of a function of kind "pipeline", named like the state machine."""
    # Templates cannot pass the ARN: stacks that start executions are created before the one that
    # declares the function.
    head = state_machine.replace(":states:", ":lambda:").replace(":stateMachine:", ":function:")
    return head.removesuffix(NAME) + name


def _arn_of(kind: TaskKind, resource: str, state_machine: str) -> str:
    """Return the ARN of a pipeline's resource; names refer to this account and region."""
    if resource.startswith("arn:"):
        # Queues are identified by their URL.
        return "" if kind.startswith("SQS") else resource
    partition, _, region, account = state_machine.split(":")[1:5]
    if kind.startswith("Lambda"):
        return f"arn:{partition}:lambda:{region}:{account}:function:{resource}"
    if kind.startswith("EventBridge"):
        return f"arn:{partition}:events:{region}:{account}:event-bus/{resource}"
    queue = queue_place(resource)
    if queue is None:
        return ""  # Step Functions would send the message, signed, to that host
    return f"arn:{partition}:sqs:{queue.region or region}:{queue.account}:{queue.name}"


def _task(task: PipelineTask, state_machine: str) -> dict[str, Any]:
    shipped = task.kind.startswith("Lambda") and task.resource in _SHIPPED
    return {
        "kind": task.kind,
        "resource": function_arn(task.resource, state_machine) if shipped else task.resource,
        "timeout": task.timeout,
        "heartbeat": task.heartbeat,
        "source": task.source,
        "detailType": task.detail_type,
        "message": task.message,
    }


def _iso(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@contextmanager
def _translate_errors(*, but: str) -> Generator[None]:
    """Raise our errors; `but` is the code of an error that means that the call has no effect."""
    try:
        with translated("Step Functions"):
            yield
    except ClientError as error:
        code = code_of(error)
        if code == _FULL:
            raise RateLimitedError(
                "The account's limit of running executions is reached",
                retry_after=_RETRY_SECONDS,
            ) from error
        if code != but:
            raise
