"""One process of one function: started isolated, given calls, ended at its time-out.

The process can import the code asset, the layers and the runtime's packages, but nothing of the
environment in which the runner is installed (`-S` excludes all site-packages). So a dependency that
is missing in the layer is missing here too.
"""

import asyncio
import json
import os
import sys
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import psutil
from pydantic import JsonValue

from local import arns
from local.engines import guard
from local.engines.ports import LOOPBACK
from local.iam import inside

_START_SECONDS = 60.0  # Lambda allows 10 s; a laptop that starts engines at the same time is slower
# A process between two calls ends at once; one that does not is killed.
_END_SECONDS = 2.0


@dataclass(frozen=True)
class FunctionSpec:
    """The declaration of a function in the template."""

    name: str
    arn: str
    role: str
    handler: str
    runtime: str
    code: Path
    layers: tuple[Path, ...]
    environment: Mapping[str, str]
    timeout: float
    memory: int
    concurrency: int | None
    per_tenant: bool = False


@dataclass(frozen=True)
class InvocationResult:
    """The result of a function: its payload, and the error's type if it failed."""

    payload: bytes
    error: str | None = None

    def value(self) -> JsonValue:
        """Return the payload as JSON.

        Raises:
            ValueError: it is not JSON.
        """
        return json.loads(self.payload or b"null")

    def message(self) -> str:
        """Return the error message, for logs and failure records."""
        try:
            value = self.value()
        except ValueError:
            return self.payload.decode(errors="replace")
        if isinstance(value, dict):
            return f"{value.get('errorType', self.error)}: {value.get('errorMessage', '')}"
        return str(value)


def function_error(kind: str, message: str) -> InvocationResult:
    """Return an error as Lambda describes those that the function could not report itself."""
    body = json.dumps({"errorType": kind, "errorMessage": message})
    return InvocationResult(body.encode(), error="Unhandled")


@dataclass(eq=False)
class Call:
    """One call: it waits, is assigned to a process, and gets its result."""

    request_id: str
    payload: bytes
    result: asyncio.Future[InvocationResult]
    tenant: str | None = None
    deadline_ms: int = 0
    taken: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a process has received the call, or no process will."""

    def finish(self, result: InvocationResult) -> None:
        """Return the result to the caller, if it still waits."""
        self.taken.set()
        if not self.result.done():
            self.result.set_result(result)


class Worker:
    """One process. It is `ready` from its request for a call until it receives one."""

    tenant: str | None = None
    """The tenant whose calls the process serves. None: calls without a tenant."""

    def __init__(
        self,
        spec: FunctionSpec,
        *,
        port: int,
        environment: Mapping[str, str],
        runtime: Path,
        log: Path,
        policies: Path | None,
        box: str | None = None,
        on_ready: Callable[[], None],
    ) -> None:
        """Prepare a process of `spec`; `run` starts it.

        The file `policies` contains the policies of its role; None allows everything. It runs in
        the `box` of that name, if any.
        """
        self.port = port
        self.id = f"{spec.name}.{uuid.uuid4().hex[:8]}"
        self.idle_since = time.monotonic()
        self.never_ready = True
        self._retired = False
        self._ended = False
        self._spec = spec
        self._log = log
        self._policies = policies
        self._box = box
        self._on_ready = on_ready
        self._process: asyncio.subprocess.Process | None = None
        self._call: Call | None = None
        self._next_call: asyncio.Future[Call] | None = None
        self._failure: InvocationResult | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None
        self._environment = {
            **_lambda_environment(spec, runtime, box),
            **environment,
            "AWS_LAMBDA_RUNTIME_API": f"{LOOPBACK}:{port}",
            "AWS_LAMBDA_LOG_STREAM_NAME": self.id,
        }

    @property
    def function_arn(self) -> str:
        """Return the ARN of its function."""
        return self._spec.arn

    @property
    def ready(self) -> bool:
        """Return whether the process waits for a call and may get one."""
        return self._next_call is not None and not self._next_call.done() and not self._retired

    @property
    def coming(self) -> bool:
        """Return whether it soon requests a call: it is starting, or has just returned a result."""
        waits = self._next_call is not None and not self._next_call.done()
        return not (self._retired or waits) and self._call is None and self._failure is None

    @property
    def pid(self) -> int | None:
        """Return the process id, once it runs."""
        return self._process.pid if self._process else None

    def watch(self, task: asyncio.Task[None]) -> None:
        """Store the task that monitors the process."""
        self._task = task

    async def run(self) -> InvocationResult | None:
        """Start the process and wait for its end; return the reason if it failed."""
        try:
            process = await self._start()
        except OSError as error:
            return function_error("Runtime.InvalidEntrypoint", f"cannot be started: {error}")
        self._process = process
        guard.watch(process.pid)
        if self._ended:  # it was ended while the process was created
            self._kill()
        self._arm(_START_SECONDS, f"did not start within {_START_SECONDS:.0f} seconds")
        code = await process.wait()
        guard.remove(process.pid)
        self._disarm()
        if self._next_call is not None and not self._next_call.done():
            self._next_call.cancel()
        if self._failure is None and (self._call is not None or self.never_ready):
            how = f"signal: {-code}" if code < 0 else f"exit status {code}"
            self._failure = function_error(
                "Runtime.ExitError", f"Error: Runtime exited with error: {how}"
            )
        # The caller must not wait for a process that has ended.
        if self._call is not None and self._failure is not None:
            self._call.finish(self._failure)
        return self._failure

    async def _start(self) -> asyncio.subprocess.Process:
        program: tuple[str, ...] = ("-m", "awslambdaric")
        if self._policies is not None or self._box is not None:
            policies = () if self._policies is None else ("--policies", str(self._policies))
            box = () if self._box is None else ("--box", self._box)
            # -P: the script's folder, which belongs to the runner, is not on the function's path.
            program = ("-P", inside.__file__, *policies, *box)
        with self._log.open("ab") as output:
            return await asyncio.create_subprocess_exec(
                # -S: no site-packages, so a dependency that the layer lacks fails here, too.
                *(sys.executable, "-S", *program, self._spec.handler),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=self._environment,
                cwd=self._spec.code,
                # a signal to the runner's process group is meant for the runner only
                start_new_session=True,
            )

    async def next_call(self) -> Call | None:
        """Return the next call for the process; None if the process is ended."""
        self._disarm()
        self._call = None
        self.never_ready = False
        self.idle_since = time.monotonic()
        self._next_call = asyncio.get_running_loop().create_future()
        self._on_ready()
        try:
            return await self._next_call
        except asyncio.CancelledError:
            if self._next_call.cancelled():
                return None
            raise

    def take(self, call: Call) -> None:
        """Assign a call to the waiting process; its time limit starts now."""
        if self._next_call is None:
            raise RuntimeError(f"{self.id} is not waiting for a call")
        call.deadline_ms = int((time.time() + self._spec.timeout) * 1000)
        self._call = call
        call.taken.set()
        self._next_call.set_result(call)
        self._arm(self._spec.timeout, f"Task timed out after {self._spec.timeout:.2f} seconds")

    def answer(self, request_id: str, result: InvocationResult) -> bool:
        """Pass the result to the running call; return False if it belongs to another call."""
        call = self._call
        # After a time-out the process may still send the result of a call that has failed.
        if call is None or call.request_id != request_id:
            return False
        self._disarm()
        self._call = None
        call.finish(result)
        return True

    def record_start_error(self, result: InvocationResult) -> None:
        """Record the error with which the process failed to start."""
        self._failure = result

    def retire(self) -> None:
        """Accept no further calls."""
        # A process that is being ended would lose further calls.
        self._retired = True

    async def end(self) -> None:
        """End the process and wait for its end."""
        self._ended = True
        if self._process is not None and self._process.returncode is None:
            self._process.terminate()
            try:
                await asyncio.wait_for(self._process.wait(), _END_SECONDS)
            except TimeoutError:
                self._kill()
        if self._task is not None:
            await asyncio.wait([self._task])

    def memory(self) -> int:
        """Return the memory of the process in bytes."""
        if self.pid is None:
            return 0
        try:
            return int(psutil.Process(self.pid).memory_info().rss)
        except psutil.NoSuchProcess:
            return 0

    def _arm(self, seconds: float, message: str) -> None:
        def end() -> None:
            self._failure = function_error("Sandbox.Timedout", f"Error: {message}")
            self._kill()

        self._timer = asyncio.get_running_loop().call_later(seconds, end)

    def _disarm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _kill(self) -> None:
        if self._process is not None and self._process.returncode is None:
            self._process.kill()


def _lambda_environment(spec: FunctionSpec, runtime: Path, box: str | None) -> dict[str, str]:
    """Return the variables of Lambda and of the template, without those of the runner."""
    scratch = spec.code.parent
    return {
        "PATH": os.defpath,
        "LANG": "en_US.UTF-8",
        "TZ": ":UTC",
        "HOME": str(scratch / "no-home"),  # ~/.aws/config must not change the behaviour of the SDK
        **spec.environment,
        "PYTHONPATH": os.pathsep.join(str(path) for path in (spec.code, *spec.layers, runtime)),
        "AWS_REGION": arns.REGION,
        "AWS_DEFAULT_REGION": arns.REGION,
        "AWS_EXECUTION_ENV": f"AWS_Lambda_{spec.runtime}",
        "AWS_LAMBDA_FUNCTION_NAME": spec.name,
        "AWS_SDK_UA_APP_ID": spec.name,  # an addition: requests then name their function (proxy.py)
        "AWS_LAMBDA_FUNCTION_VERSION": "$LATEST",
        "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(spec.memory),
        "AWS_LAMBDA_INITIALIZATION_TYPE": "on-demand",
        "AWS_LAMBDA_LOG_GROUP_NAME": f"/aws/lambda/{spec.name}",
        "LAMBDA_TASK_ROOT": str(spec.code),
        "LAMBDA_RUNTIME_DIR": str(runtime),
        "_HANDLER": spec.handler,
        **({} if box is None else {"VITRINE_BOX": box}),
    }
