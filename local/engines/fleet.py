"""All engines together: prepared and started in parallel, stopped together."""

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path

from local.engines.aws import MotoServer, StateMachines
from local.engines.base import Options, Progress
from local.engines.dynamodb import DynamoDbLocal
from local.engines.engine import Engine
from local.engines.errors import EngineError
from local.engines.opensearch import OpenSearchServer
from local.engines.ports import free_ports
from local.engines.process import HEALTHY_SECONDS, Running, stop_leftovers
from local.engines.queues import ElasticMq
from local.engines.s3 import VersityGateway

# Short beside a start of seconds; each poll is one request to an engine.
_POLL_SECONDS = 0.05

ENGINES: Mapping[str, Engine] = {
    engine.name: engine
    for engine in (
        OpenSearchServer(),  # the slowest first
        DynamoDbLocal(),
        ElasticMq(),
        MotoServer(),
        StateMachines(),
        VersityGateway(),
    )
}


def prepare_all(tools: Path, progress: Progress, *, names: Iterable[str] = ENGINES) -> None:
    """Prepare the named engines (by default all) in parallel.

    Raises:
        EngineError: one cannot be prepared; the others are completed first.
    """
    _each(names, lambda name: ENGINES[name].prepare(tools, progress))


def start_all(
    tools: Path,
    data: Path,
    logs: Path,
    progress: Progress,
    *,
    names: Iterable[str] = ENGINES,
    ports: Mapping[str, int] | None = None,
    options: Options | None = None,
    timeout: float = HEALTHY_SECONDS,
) -> dict[str, Running]:
    """Start the named engines on `data` in parallel and return when all are healthy.

    Processes that a killed runner left on `data` are stopped first. Logs are written to
    `logs/<name>.log`.

    Raises:
        EngineError: one did not start; the others are stopped again.
    """
    for name in stop_leftovers(data):
        progress(f"{name}: stopped a process of an earlier run")
    names = tuple(names)
    # All ports at once: a port that no engine listens on yet could be chosen twice.
    chosen = {**dict(zip(names, free_ports(len(names)), strict=True)), **(ports or {})}
    running: dict[str, Running] = {}
    try:
        for name in names:
            running[name] = ENGINES[name].start(
                tools,
                data,
                log=logs / f"{name}.log",
                port=chosen[name],
                options=options,
            )
        _wait_for_all(running, progress, timeout)
    except BaseException:
        stop_all(running)
        raise
    return running


def stop_all(running: Mapping[str, Running], timeout: float = 10.0) -> None:
    """Stop all of the engines at the same time."""
    _each(running, lambda name: running[name].stop(timeout))


def _wait_for_all(running: Mapping[str, Running], progress: Progress, timeout: float) -> None:
    began = time.monotonic()
    pending = dict(running)
    while pending:
        for name, engine in tuple(pending.items()):
            engine.check_alive()
            left = timeout - (time.monotonic() - began)
            if left <= 0:
                engine.wait_healthy(0)
            if engine.healthy():
                progress(
                    f"{name}: ready at {engine.endpoint.url} ({time.monotonic() - began:.1f} s)"
                )
                del pending[name]
        threading.Event().wait(_POLL_SECONDS if pending else 0)


def _each(names: Iterable[str], work: Callable[[str], None]) -> None:
    """Do the work for each name in parallel until all have ended; then raise all errors."""
    chosen = tuple(names)
    if not chosen:
        return
    with ThreadPoolExecutor(len(chosen)) as pool:
        tasks: list[Future[None]] = [pool.submit(work, name) for name in chosen]
        wait(tasks)
    failures = [error for task in tasks if (error := task.exception()) is not None]
    unexpected = next((error for error in failures if not isinstance(error, EngineError)), None)
    if unexpected is not None:
        raise unexpected
    if failures:
        raise EngineError("\n".join(str(error) for error in failures))
