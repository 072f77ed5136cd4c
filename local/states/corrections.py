"""Corrects differences between moto 5.2.5 and Step Functions, in the engine's process.

This is the only module that replaces parts of a library (reports:
docs/upstream/moto-step-functions.md). A test finds each fault in unchanged moto, so it fails when a
release no longer needs the correction.
"""

import copy
import json
import logging
import threading
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from importlib import import_module
from types import SimpleNamespace
from typing import Any, cast

import boto3
from botocore.config import Config

_PARSER = "moto.stepfunctions.parser."
# moto keeps each execution with its history for ever. The reconciliation, from five minutes after a
# start, still finds what ended in the last ten.
_KEPT_EXECUTIONS = 500
_KEPT_SECONDS = 600.0
_LONGEST_TASK = 1_000  # seconds: a Lambda function runs for at most 900
# The runner may be busy or starting: a report may be late, but none is lost.
_LONGEST_PAUSE = 10.0
_FORMS = (AttributeError, LookupError, TypeError, ValueError)  # of a malformed definition
ROLE_HEADER = "X-Vitrine-Role"
STATUS_PATH, WAITING_PATH = "/status", "/waiting"

_log = logging.getLogger(__name__)


def apply(tasks: str) -> None:
    """Correct moto in this process; `tasks` is the address at which the runner handles tasks."""
    name_executions()
    stop_waiting_executions()
    preserve_causes()
    allow_error_names()
    accept_early_callbacks()
    check_definitions()
    end_pauses()
    evaluate_jsonata()
    reuse_programs()
    reuse_clients(tasks)
    report_status(lambda path, body: _send(tasks + path, body))


def name_executions() -> None:
    """Name executions without a name, and start an execution of a name once."""
    models = _part("models").StepFunctionsParserBackend
    start = models.start_execution
    threads: list[object] = _part("utils").TMP_THREADS
    lock = threading.Lock()

    def start_execution(self: Any, arn: str, name: str | None = None, *more: Any) -> Any:
        with lock:
            # moto keeps all executions that ended, with their threads.
            threads.clear()
            executions = self.describe_state_machine(arn).executions
            ended = [execution for execution in executions if execution.stop_date is not None]
            for execution in ended[:-_KEPT_EXECUTIONS]:
                if time.time() - execution.stop_date.timestamp() > _KEPT_SECONDS:
                    executions.remove(execution)
            # moto names the first execution without a name "None", and refuses the second.
            started = start(self, arn, name or str(uuid.uuid4()), *more)
        # Until its environment exists it cannot be stopped, and callbacks of its tasks fail.
        pause = threading.Event()
        for _ in range(500):
            if started.exec_worker is None or started.exec_worker.env is not None:
                break
            pause.wait(0.01)
        return started

    models.start_execution = start_execution


def stop_waiting_executions() -> None:
    """End a stopped execution that waits for a callback, with error and cause."""
    execution = _part("backend.execution")
    statuses = execution.ExecutionStatus
    communication = execution.BaseExecutionWorkerCommunication
    reflect = communication._reflect_execution_status
    responses = import_module("moto.stepfunctions.responses").StepFunctionResponse
    results: Any = import_module("moto.core.responses")
    reason = threading.local()

    def stop_execution(self: Any) -> Any:
        reason.given = self._get_param("error"), self._get_param("cause")
        stopped = self.stepfunction_backend.stop_execution(self._get_param("executionArn"))
        return results.ActionResult({"stopDate": stopped.stop_date or datetime.now().astimezone()})

    def stop(self: Any, stop_date: datetime, error: Any = None, cause: Any = None) -> None:
        worker = self.exec_worker
        if worker and worker.env and worker.env.is_running():
            # moto loses error and cause, which are set when the execution ends.
            self.stopped = getattr(reason, "given", (error, cause))
            worker.stop(stop_date=stop_date, cause=cause, error=error)
            # moto lets a task wait for its callback until its time-out.
            for endpoint in list(worker.env.callback_pool_manager._pool.values()):
                endpoint.interrupt_all()

    def reflected(self: Any) -> None:
        reflect(self)
        stopped = getattr(self.execution, "stopped", None)
        if stopped:
            self.execution.exec_status, self.execution.output = statuses.ABORTED, None
            self.execution.error, self.execution.cause = stopped

    responses.stop_execution = stop_execution
    execution.Execution.stop = stop
    communication._reflect_execution_status = reflected


def preserve_causes() -> None:
    """Keep the cause of SendTaskFailure, which moto drops."""
    responses = import_module("moto.stepfunctions.responses").StepFunctionResponse
    results: Any = import_module("moto.core.responses")

    def send_task_failure(self: Any) -> Any:
        self.stepfunction_backend.send_task_failure(
            self._get_param("taskToken"),
            error=self._get_param("error"),
            cause=self._get_param("cause"),
        )
        return results.EmptyResult()

    responses.send_task_failure = send_task_failure


def allow_error_names() -> None:
    """Allow names that begin with "States." in Fail states and callbacks, as AWS does."""
    names = _part("asl.component.common.error_name.custom_error_name")
    names.ILLEGAL_CUSTOM_ERROR_PREFIX = "\0"


def accept_early_callbacks() -> None:
    """Accept callbacks and heartbeats that arrive before the call of the pipeline has returned."""
    endpoint = _part("asl.eval.callback.callback").CallbackEndpoint
    set_up, beat = endpoint.setup_heartbeat_endpoint, endpoint.notify_heartbeat

    def setup_heartbeat_endpoint(self: Any, heartbeat_seconds: int) -> Any:
        made = set_up(self, heartbeat_seconds)
        # Otherwise moto waits for the next heartbeat until the time-out.
        if self._notify_event.is_set():
            made.notify()
        return made

    def notify_heartbeat(self: Any) -> bool:
        beat(self)
        # moto returns False for an early heartbeat, and refuses it.
        return True

    endpoint.setup_heartbeat_endpoint = setup_heartbeat_endpoint
    endpoint.notify_heartbeat = notify_heartbeat


def check_definitions() -> None:
    """Refuse a definition in which `StartAt`, `Next` or `Default` names no state."""
    backend = _part("models").StepFunctionsParserBackend
    validate = backend._validate_definition
    known_errors: Any = import_module("moto.core.exceptions")
    invalid: Any = type(
        "InvalidDefinition", (known_errors.AWSError,), {"TYPE": "InvalidDefinition", "STATUS": 400}
    )

    def checked(definition: str) -> None:
        try:
            validate(definition)
            # moto accepts a transition to a state that does not exist.
            transitions = list(_named_states(json.loads(definition)))
        except (_part("api").InvalidDefinition, *_FORMS) as error:
            # moto's own errors have no error code in the reply.
            raise invalid(f"Invalid State Machine Definition: {error}") from error
        for name, known in transitions:
            if name not in known:
                raise invalid(f"Invalid State Machine Definition: there is no state {name}")

    backend._validate_definition = staticmethod(checked)


def _named_states(machine: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    states: Mapping[str, Any] = machine["States"]
    yield machine["StartAt"], states
    for state in states.values():
        transitions = [state, *state.get("Catch", ()), *state.get("Choices", ())]
        for transition in transitions:
            for key in ("Next", "Default"):
                if key in transition:
                    yield transition[key], states
        inner = [state[key] for key in ("ItemProcessor", "Iterator") if key in state]
        for substate in (*inner, *state.get("Branches", ())):
            yield from _named_states(substate)


def end_pauses() -> None:
    """End the pause before another attempt when the execution is stopped."""
    module = _part("asl.component.common.retry.retrier_decl")
    evaluate, current = module.RetrierDecl._eval_body, threading.local()

    def evaluated(self: Any, env: Any) -> None:
        current.env = env
        evaluate(self, env)

    def sleep(seconds: float) -> None:
        end = time.monotonic() + seconds
        while current.env.is_running() and (left := end - time.monotonic()) > 0:
            time.sleep(min(left, 0.5))

    module.RetrierDecl._eval_body = evaluated
    module.time = SimpleNamespace(sleep=sleep)


def evaluate_jsonata() -> None:
    """Evaluate JSONata, for which moto requires a package for a Java virtual machine.

    A failed expression is `States.QueryEvaluationError`.
    """
    from jsonata import JException, Jsonata  # noqa: PLC0415 - the engine's process only

    evaluator = _part("asl.jsonata.jsonata")
    states, store = _part("asl.eval.states"), _part("asl.eval.variable_store")
    bound = threading.local()

    def encode(bindings: Mapping[str, Any]) -> str:
        texts = [
            f"{name}:={json.dumps(value)};" for name, value in bindings.items() if name != "$states"
        ]
        # Bound as a value: moto writes it into the text of each expression, where a quotation mark
        # ends it.
        if "$states" in bindings:
            bound.states = bindings["$states"]
        return "".join(texts)

    def evaluate(expression: str) -> Any:
        try:
            parsed: Any = Jsonata(expression)
            parsed.assign("states", getattr(bound, "states", None))
            return parsed.evaluate(None)
        except (JException, ArithmeticError, RecursionError, *_FORMS) as error:
            raise evaluator.JSONataException("States.QueryEvaluationError", str(error)) from error

    evaluator._eval_jsonata = evaluate
    states.encode_jsonata_variable_declarations = encode
    store.encode_jsonata_variable_declarations = encode
    _name_failed_queries(evaluator.JSONataException)


def _name_failed_queries(failure: type[Exception]) -> None:
    strings = _part("asl.component.common.string.string_expression")
    validations = _part("asl.jsonata.validations")
    evaluate = strings.StringJSONata._eval_body

    def evaluated(self: Any, env: Any) -> None:
        try:
            evaluate(self, env)
        except failure as error:
            kind = validations.StatesErrorNameType.StatesQueryEvaluationError
            name = validations.StatesErrorName(typ=kind)
            details = validations.EvaluationFailedEventDetails(
                cause=f"The JSONata expression '{self.expression}' failed: {error.__cause__}",
                error=name.error_name,
            )
            event = validations.FailureEvent(
                env=env,
                error_name=name,
                event_type=validations.HistoryEventType.EvaluationFailed,
                event_details=validations.EventDetails(evaluationFailedEventDetails=details),
            )
            raise validations.FailureEventException(failure_event=event) from error

    strings.StringJSONata._eval_body = evaluated


def reuse_programs() -> None:
    """Parse a definition once."""
    parser = _part("asl.parse.asl_parser").AmazonStateLanguageParser
    parse = parser.parse
    known: dict[str, tuple[Any, Any]] = {}

    def parsed(definition: str) -> tuple[Any, Any]:
        # moto parses a definition at each start, in 50 ms of processor time.
        if definition not in known:
            known[definition] = parse(definition)
        program, tree = known[definition]
        return copy.deepcopy(program), tree

    parser.parse = staticmethod(parsed)


def reuse_clients(tasks: str) -> None:
    """Send tasks to the runner, with the role of the state machine, by clients that are reused."""
    clients: dict[tuple[str, str, str], Any] = {}
    lock = threading.Lock()
    config = Config(
        parameter_validation=False,
        retries={"total_max_attempts": 1},
        read_timeout=_LONGEST_TASK,
        max_pool_connections=200,
    )

    def client_for(region: str, service: str, state_credentials: Any = None) -> Any:
        role = str(getattr(state_credentials, "role_arn", "") or "")
        with lock:
            # moto creates a client for each task, which takes longer than the task.
            if (region, service, role) not in clients:
                make = cast("Any", boto3.client)
                made = make(
                    service,
                    region_name=region,
                    endpoint_url=tasks,
                    aws_access_key_id="states",
                    aws_secret_access_key="states",
                    config=config,
                )

                def add_role(request: Any, **_: object) -> None:
                    request.headers[ROLE_HEADER] = role

                made.meta.events.register("before-sign.*", add_role)
                clients[region, service, role] = made
            return clients[region, service, role]

    services = (f"service.state_task_service_{name}" for name in ("sqs", "events", "aws_sdk"))
    for module in ("lambda_eval_utils", *services):
        _part(f"asl.component.state.exec.state_task.{module}").boto_client_for = client_for


def report_status(send: Callable[[str, object], None]) -> None:
    """Send a status event when an execution starts and ends; moto sends none.

    The beginning and end of a task's wait for a callback are reported too.
    """
    execution = _part("backend.execution")
    communication = execution.BaseExecutionWorkerCommunication
    callbacks = _part(
        "asl.component.state.exec.state_task.service.state_task_service_callback"
    ).StateTaskServiceCallback
    reflect, start = communication._reflect_execution_status, execution.Execution.start
    wait = callbacks._eval_wait_for_task_token

    def reflected(self: Any) -> None:
        reflect(self)
        send(STATUS_PATH, _detail(self.execution, self.execution.status))

    def started(self: Any) -> None:
        send(STATUS_PATH, _detail(self, "RUNNING"))
        # After the report, so that the start precedes the end.
        start(self)

    def waited(self: Any, env: Any, *more: Any, **named: Any) -> Any:
        arn = env.states.context_object.context_object_data["Execution"]["Id"]
        send(WAITING_PATH, {"executionArn": arn, "waits": True})
        try:
            return wait(self, env, *more, **named)
        finally:
            send(WAITING_PATH, {"executionArn": arn, "waits": False})

    communication._reflect_execution_status = reflected
    execution.Execution.start = started
    callbacks._eval_wait_for_task_token = waited


def _detail(execution: Any, status: str) -> dict[str, Any]:
    """The detail of the event "Step Functions Execution Status Change", as AWS documents it."""
    ended = status != "RUNNING"
    succeeded = status == "SUCCEEDED"
    return {
        "executionArn": execution.exec_arn,
        "stateMachineArn": execution.state_machine.arn,
        "name": execution.name,
        "status": status,
        "startDate": int(execution.start_date.timestamp() * 1000),
        "stopDate": int(execution.stop_date.timestamp() * 1000) if ended else None,
        "input": json.dumps(execution.input_data),
        "inputDetails": {"included": True},
        "output": json.dumps(execution.output) if succeeded else None,
        "outputDetails": {"included": True} if succeeded else None,
        "error": execution.error,
        "cause": execution.cause,
    }


def _send(address: str, body: object) -> None:
    """Send a report to the runner until it accepts it; this process ends with the runner."""
    data = json.dumps(body).encode()
    pause = 0.1
    while True:
        request = urllib.request.Request(address, data, {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=60):
                return
        except (OSError, urllib.error.URLError) as error:
            _log.warning("%s is not reported: %s", address, error)
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)


def _part(name: str) -> Any:
    return import_module(_PARSER + name)
