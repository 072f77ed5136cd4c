"""The functions of the deployment: which process serves a call, within which limits.

As on Lambda, a process serves one call at a time, of one function. It is started for the first
call, kept for further ones, and ended after it was idle for a while. `runtime_api.py` has the
protocol with the processes, `function_process.py` one process.
"""

import asyncio
import collections
import json
import logging
import os
import time
import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol, TypeVar

from pydantic import JsonValue

from local import arns
from local.errors import LocalError
from local.function_process import Call, FunctionSpec, InvocationResult, Worker, function_error

# More processes of a function use memory without being faster on two cores.
_DEFAULT_CONCURRENCY = 4
# A start is half a second of computing: more at once than there are cores only delay each other.
_STARTS_AT_ONCE = max(2, os.cpu_count() or 2)
_IDLE_SECONDS = 300.0  # Lambda keeps idle processes for some minutes, too.
# Of all but the one that was used last: after a thousand uploads they use 0.4 GiB.
_SPARE_SECONDS = 60.0
# Exact enough for idle times of minutes, and rare enough to cost nothing.
_REAP_EVERY = 10.0
THROTTLED = "TooManyRequestsException"
"""The error of a call that was not executed."""
# Source: Lambda Developer Guide, "Lambda quotas", synchronous invocation.
MAXIMUM_PAYLOAD = 6 * 1024 * 1024

_log = logging.getLogger(__name__)


class TenantError(LocalError):
    """A call without the tenant that its function requires, or with one that it does not accept."""

    def __init__(self, spec: FunctionSpec) -> None:
        needs = "needs the id of a tenant" if spec.per_tenant else "is in no tenant isolation"
        super().__init__(f"the function {spec.name} {needs}")


class Process(Protocol):
    """The properties that decide when an idle process ends."""

    @property
    def ready(self) -> bool: ...
    @property
    def idle_since(self) -> float: ...


_Idle = TypeVar("_Idle", bound=Process)


def idle_too_long(processes: Iterable[_Idle], now: float) -> list[_Idle]:
    """Return those of a function's processes that have been idle for too long.

    The process that was used last is kept longer than the others.
    """
    free = sorted(
        (process for process in processes if process.ready), key=lambda process: process.idle_since
    )
    return [process for process in free[:-1] if now - process.idle_since > _SPARE_SECONDS] + [
        process for process in free[-1:] if now - process.idle_since > _IDLE_SECONDS
    ]


@dataclass
class Counters:
    """Counters of a function since the start of the runtime."""

    invocations: int = 0
    errors: int = 0
    cold_starts: int = 0


@dataclass
class _Pool:
    """The processes of one function and the calls that wait for one."""

    spec: FunctionSpec
    workers: dict[str, Worker] = field(default_factory=dict[str, Worker])
    waiting: collections.deque[Call] = field(default_factory=collections.deque[Call])
    counters: Counters = field(default_factory=Counters)

    @property
    def limit(self) -> int:
        reserved = self.spec.concurrency
        return _DEFAULT_CONCURRENCY if reserved is None else reserved

    def next(self) -> tuple[Call, Worker] | None:
        """Return the first call that a free process may serve, and the last used free process.

        The others can then become idle for long enough to be ended. A process serves the calls of
        one tenant.
        """
        free = {
            worker.tenant: worker
            for worker in sorted(self.workers.values(), key=lambda worker: worker.idle_since)
            if worker.ready
        }
        calls = self.waiting if free else ()
        return next(((call, free[call.tenant]) for call in calls if call.tenant in free), None)

    def missing(self) -> list[str | None]:
        """Return the tenant of each waiting call for which no process will soon be free.

        A process will soon be free if it is starting, or has just returned a result.
        """
        coming = collections.Counter(
            worker.tenant for worker in self.workers.values() if worker.coming
        )
        wanted = collections.Counter(call.tenant for call in self.waiting)
        return list((wanted - coming).elements())


def _throttled(reason: str) -> InvocationResult:
    return replace(function_error(THROTTLED, reason), error=THROTTLED)


async def _result(pool: _Pool, call: Call, seconds: float | None) -> InvocationResult:
    if seconds is None:
        return await call.result
    try:
        async with asyncio.timeout(seconds):
            await call.taken.wait()
    except TimeoutError:
        if call in pool.waiting:
            # Not taken: it has not run, so the caller may repeat it.
            return _throttled(f"no process was free for {seconds:.0f} seconds")
    async with asyncio.timeout(seconds):
        return await call.result


class Functions:
    """All functions of one runtime, for use in the event loop that created it."""

    def __init__(self, *, logs: Path) -> None:
        """Create it without functions; each function writes a log in the folder `logs`."""
        self._logs = logs
        self._environment: Mapping[str, str] = {}
        self._runtime = Path()
        self._policies: Callable[[FunctionSpec], Path | None] = lambda _: None
        self._box: str | None = None
        self._ports: list[int] = []
        self._ending: set[asyncio.Task[None]] = set()
        self._pools: dict[str, _Pool] = {}
        self._by_arn: dict[str, str] = {}
        self._workers: dict[int, Worker] = {}
        self._reaper: asyncio.Task[None] | None = None
        self._running = 0
        self._last_ended = time.monotonic()

    def begin(
        self,
        *,
        ports: Iterable[int],
        environment: Mapping[str, str],
        runtime: Path,
        policies: Callable[[FunctionSpec], Path | None],
        box: str | None = None,
    ) -> None:
        """Set the environment of the processes; calls are possible afterwards.

        The environment contains the engines' variables; `runtime` is the folder of the packages
        that Lambda itself provides. `policies` writes the file with the policies of a function's
        role; None allows everything. The processes run in the `box` of that name, if any.
        """
        # On each port the Runtime API serves one process, so their number limits the processes.
        self._ports = list(ports)
        self._environment = environment
        self._runtime = runtime
        self._policies = policies
        self._box = box
        self._reaper = asyncio.create_task(self._reap(), name="function-reaper")

    def register(self, spec: FunctionSpec) -> None:
        """Make a function callable; no process is started yet."""
        self._pools[spec.name] = _Pool(spec)
        self._by_arn[spec.arn] = spec.name

    def spec(self, reference: str) -> FunctionSpec:
        """Return the function of a name, an ARN or an invocation URI.

        Raises:
            LocalError: there is no such function.
        """
        return self._pool(reference).spec

    async def invoke(
        self,
        reference: str,
        event: Mapping[str, JsonValue],
        tenant: str | None = None,
        *,
        seconds: float | None = None,
    ) -> InvocationResult:
        """Call a function and return its result, which may be an error of the function.

        A call waits for a free process if the function has its maximum number of processes. With
        `seconds` it waits at most so long and is then throttled, and the caller waits as long again
        for the result; a call that fails earlier has not run.

        Raises:
            LocalError: there is no such function.
            TenantError: a function in tenant isolation requires a tenant, and others accept
                none.
            TimeoutError: the function has run for `seconds`, and is still running.
        """
        pool = self._pool(reference)
        if pool.spec.per_tenant != bool(tenant):
            raise TenantError(pool.spec)
        payload = json.dumps(event, ensure_ascii=False).encode("utf-8", "surrogatepass")
        if len(payload) > MAXIMUM_PAYLOAD:
            text = f"{len(payload)} bytes in the event"
            return function_error("RequestEntityTooLarge", text)
        if pool.limit == 0:
            return _throttled("reserved concurrency is 0")
        call = Call(str(uuid.uuid4()), payload, asyncio.get_running_loop().create_future(), tenant)
        pool.counters.invocations += 1
        pool.waiting.append(call)
        self._running += 1
        self._dispatch(pool)
        try:
            result = await _result(pool, call, seconds)
        finally:
            self._running -= 1
            self._last_ended = time.monotonic()
            # the caller stopped waiting before a process received the call
            if call in pool.waiting:
                pool.waiting.remove(call)
        pool.counters.errors += result.error is not None
        return result

    def have_been_idle_since(self, when: float) -> bool:
        """Return whether no function has run since `when` (of the monotonic clock)."""
        return self._running == 0 and self._last_ended < when

    def worker(self, port: int) -> Worker | None:
        """Return the process that the Runtime API serves on `port`."""
        return self._workers.get(port)

    def report(self) -> dict[str, JsonValue]:
        """Return the counters and the memory of every function."""
        return {
            name: {
                "invocations": pool.counters.invocations,
                "errors": pool.counters.errors,
                "coldStarts": pool.counters.cold_starts,
                "waiting": len(pool.waiting),
                "processes": [worker.pid for worker in pool.workers.values()],
                "memoryBytes": sum(worker.memory() for worker in pool.workers.values()),
            }
            for name, pool in sorted(self._pools.items())
        }

    async def stop(self) -> None:
        """End all processes; running calls fail."""
        if self._reaper is not None:
            self._reaper.cancel()
        for pool in self._pools.values():
            while pool.waiting:
                pool.waiting.popleft().finish(function_error("Runtime.Stopped", "shutting down"))
        await self._end(list(self._workers.values()))

    def _pool(self, reference: str) -> _Pool:
        name = reference
        if reference.startswith("arn:"):
            # An integration's URI holds the function's ARN between `functions/` and `/invocations`.
            plain = reference.split("/functions/", 1)[-1].removesuffix("/invocations")
            name = self._by_arn.get(plain, arns.last_part(plain))
        if name not in self._pools:
            raise LocalError(f"no function {reference} in the deployment")
        return self._pools[name]

    def _dispatch(self, pool: _Pool) -> None:
        while served := pool.next():
            call, worker = served
            pool.waiting.remove(call)
            worker.take(call)
        for tenant in pool.missing():
            if len(pool.workers) >= pool.limit:
                if tenant is not None:  # it replaces an idle process of another tenant
                    self._make_room(pool.workers.values())
                return
            starting = sum(worker.never_ready for worker in self._workers.values())
            if starting >= _STARTS_AT_ONCE:
                return  # wait until one of them is ready; another may be free by then
            if not self._ports:
                self._make_room(self._workers.values())
                return
            self._start(pool, tenant)

    def _dispatch_all(self) -> None:
        for pool in self._pools.values():
            if pool.waiting:
                self._dispatch(pool)

    def _make_room(self, workers: Iterable[Worker]) -> None:
        """End the process among these that has been idle for longest; then assign waiting calls."""
        if self._ending:
            return
        idle = [worker for worker in workers if worker.ready]
        oldest = min(idle, key=lambda worker: worker.idle_since, default=None)
        if oldest is not None:
            oldest.retire()
            ending = asyncio.create_task(oldest.end(), name=f"end-{oldest.id}")
            self._ending.add(ending)
            ending.add_done_callback(self._ending.discard)

    def _start(self, pool: _Pool, tenant: str | None) -> None:
        port = self._ports.pop()
        worker = Worker(
            pool.spec,
            port=port,
            environment=self._environment,
            runtime=self._runtime,
            log=self._logs / f"{pool.spec.name}.log",
            policies=self._policies(pool.spec),
            box=self._box,
            on_ready=self._dispatch_all,
        )
        worker.tenant = tenant
        pool.workers[worker.id] = worker
        self._workers[port] = worker
        pool.counters.cold_starts += 1
        worker.watch(asyncio.create_task(self._live(pool, worker), name=f"function-{worker.id}"))

    async def _live(self, pool: _Pool, worker: Worker) -> None:
        """Monitor one process until its end, and report the end to its call."""
        failure = await worker.run()
        del pool.workers[worker.id]
        del self._workers[worker.port]
        self._ports.append(worker.port)
        if failure is not None and worker.never_ready and pool.waiting:
            # The start itself failed: its call gets the reason, so that a function that cannot
            # start is not started again and again.
            pool.waiting.popleft().finish(failure)
        self._dispatch_all()

    async def _reap(self) -> None:
        while True:
            await asyncio.sleep(_REAP_EVERY)
            now = time.monotonic()
            pools = list(self._pools.values())
            idle = [
                worker for pool in pools for worker in idle_too_long(pool.workers.values(), now)
            ]
            for worker in idle:
                worker.retire()
            await self._end(idle)

    @staticmethod
    async def _end(workers: Iterable[Worker]) -> None:
        await asyncio.gather(*(worker.end() for worker in workers))
