"""The port to the service that runs executions. `backend/aws/runs.py` implements it.

One state machine runs every workflow: the pipelines of an execution are data of its input
(`spec/state_machine.py`). The execution's id is its name, so starting it twice starts it once.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol

RunStatus = Literal["RUNNING", "SUCCEEDED", "FAILED", "TIMED_OUT", "ABORTED"]
"""The states of an execution, as Step Functions names them."""

TaskKind = Literal[
    "Lambda", "LambdaCallback", "SQS", "SQSCallback", "EventBridge", "EventBridgeCallback"
]


class PipelineTask(NamedTuple):
    """One pipeline of a run, in the form that the state machine expects.

    `resource` is the ARN of a function (or the name of a declared one of kind "pipeline"), the URL
    of a queue or the ARN of an event bus. `message` is the pipeline's own part of the body; the
    fields that all pipelines of a run share are in `RunInput.shared`. `timeout` and `heartbeat` are
    seconds, count for callbacks only, and a heartbeat of 0 means that none is expected.
    """

    kind: TaskKind
    resource: str
    message: dict[str, Any]
    timeout: int
    heartbeat: int
    source: str = ""
    detail_type: str = ""


class RunInput(NamedTuple):
    """The input of an execution: its pipelines in order, and the body that they share."""

    pipelines: Sequence[PipelineTask]
    shared: dict[str, Any]


class RunState(NamedTuple):
    """The state of an execution as the service reports it. Times are ISO 8601."""

    status: RunStatus
    started_at: str
    stopped_at: str | None = None
    error: str | None = None
    cause: str | None = None


StepStatus = Literal["RUNNING", "SUCCEEDED", "FAILED", "ABORTED"]


class StepState(NamedTuple):
    """The state of one pipeline of an execution as the service reports it. Times are ISO 8601."""

    status: StepStatus
    started_at: str
    stopped_at: str | None = None


class Runs(Protocol):
    """Starts, stops and describes executions; may raise UnavailableError and RateLimitedError."""

    def start(self, execution_id: str, run_input: RunInput) -> None:
        """Start an execution. Starting the same id with the same input again has no effect."""
        ...

    def stop(self, execution_id: str, *, error: str, cause: str) -> None:
        """Stop an execution; no effect if it has ended or does not exist."""
        ...

    def may_call(self, kind: TaskKind, resource: str) -> bool:
        """Return whether the deployment allows executions to call the resource of a pipeline.

        It allows its own functions that are declared as pipelines, by their names in `FUNCTIONS`,
        and what its settings `allowedPipelineFunctions`, `…Queues` and `…Buses` name.
        """
        ...

    def describe(self, execution_id: str) -> RunState | None:
        """Return the state of an execution, or None if the service does not know it."""
        ...

    def steps(self, execution_id: str) -> Mapping[int, StepState]:
        """Return the states of the pipelines that were started, by their numbers from 1.

        None for an execution that the service does not know, or no longer knows.
        """
        ...
