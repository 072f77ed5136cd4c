"""A runtime in the foreground: lock, ports, log, signals, and the endpoint file while it serves."""

import asyncio
import logging
import logging.handlers
import os
import shutil
import signal
import time
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

import psutil
from pydantic import JsonValue

from local.endpoint_file import EndpointFile
from local.engines.base import Options
from local.engines.errors import EngineError
from local.engines.process import stop_leftovers
from local.errors import LocalError
from local.first_look import import_samples
from local.iam.roles import Enforcement
from local.links import new_link
from local.runner import Choices, Runtime, refuse_kept_data
from local.servers import HttpServer, bind, bind_any
from local.state import StateFolder
from local.steps import Steps

# With one older file, so that a runtime of weeks uses a bounded part of the disk.
_LOG_BYTES = 20_000_000
# a process group receives its signal twice: `timeout` and `make` pass it on
_SAME_STOP_SECONDS = 1.0

_log = logging.getLogger(__name__)


def serve(  # noqa: PLR0913 - what the command may choose
    state: StateFolder,
    *,
    port: int | None,
    assembly: Path | None,
    settings: Mapping[str, JsonValue],
    in_memory: bool,
    record: bool,
    iam: Enforcement,
    first_look: Path | None,
    page: bool,
    say: Callable[[str], None],
) -> None:
    """Serve until SIGINT or SIGTERM.

    Raises:
        LocalError: another runtime uses the folder, the port is in use, or the deployment
            fails.
        EngineError: an engine cannot be prepared or does not start.
    """
    state.create()
    lock = state.lock()
    try:
        gateway = HttpServer(bind(port))
        _begin(state, in_memory=in_memory)
        _log_to(state)
        choices = Choices(
            state=state,
            gateway=gateway,
            internal=HttpServer(bind_any()),
            assembly=assembly,
            settings=settings,
            in_memory=in_memory,
            record=record,
            iam=iam,
            build_page=page,
            progress=say,
        )
        asyncio.run(_serve(choices, first_look))
    finally:
        state.endpoint.unlink(missing_ok=True)
        (state.root / "runner.json").unlink(missing_ok=True)
        lock.release()


def _begin(state: StateFolder, *, in_memory: bool) -> None:
    state.endpoint.unlink(missing_ok=True)
    if in_memory:
        refuse_kept_data(state)
    if state.in_memory_marker_path.exists() or in_memory:
        stop_leftovers(state.data)
        # The tables of the last run are lost; other data would not match them.
        shutil.rmtree(state.data, ignore_errors=True)
        journal = [state.journal.name + suffix for suffix in ("", "-wal", "-shm")]
        for name in ("custom-resources.json", "secrets.json", *journal):
            (state.root / name).unlink(missing_ok=True)
        state.in_memory_marker_path.unlink(missing_ok=True)
    if in_memory:
        state.in_memory_marker_path.touch()
    process = psutil.Process(os.getpid())
    state.write("runner.json", {"pid": process.pid, "created": process.create_time()})


def _log_to(state: StateFolder) -> None:
    to_file = logging.handlers.RotatingFileHandler(
        state.logs / "runner.log", maxBytes=_LOG_BYTES, backupCount=1, encoding="utf-8"
    )
    to_file.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    root = logging.getLogger()
    root.addHandler(to_file)
    root.setLevel(logging.WARNING)
    logging.getLogger("local").setLevel(logging.INFO)
    for log in state.function_logs.glob("*.log"):
        if log.stat().st_size > _LOG_BYTES:
            log.replace(log.with_suffix(".log.1"))


async def _serve(choices: Choices, first_look: Path | None) -> None:
    stop = _Stop(choices.progress)
    stopping = stop.ordered
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.order)
    steps = Steps(choices.progress)

    def report_or_stop(text: str) -> None:
        # Stops a start at its next output, which may be minutes away.
        if stopping.is_set():
            raise LocalError("the start was interrupted")
        steps(text)

    stoppable = replace(choices, progress=report_or_stop)
    serving = asyncio.create_task(_until(stoppable, first_look, stopping, steps))
    waiting = asyncio.create_task(stopping.wait())
    await asyncio.wait([serving, waiting], return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    try:
        await serving
    except (LocalError, EngineError) as error:
        if not stopping.is_set():
            raise
        # Ctrl-C also ends the programs that a start runs, and each of them reports it.
        _log.info("the start was interrupted: %s", error)


class _Stop:
    """The effect of signals: a stop, or an immediate end if they are repeated later."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self.ordered = asyncio.Event()
        self._say = say
        self._first = 0.0

    def order(self) -> None:
        """Handle a signal. After an immediate end, the guard ends the engines."""
        if not self.ordered.is_set():
            self._first = time.monotonic()
            self._say("stopping")
            self.ordered.set()
        elif time.monotonic() - self._first > _SAME_STOP_SECONDS:
            os._exit(1)


def _mlflow_server(endpoint: EndpointFile) -> str:
    """Return the command that starts MLflow's server on the table.

    The engines accept one key only.
    """
    region = Options().region
    table, dynamodb = endpoint.get("trackingTable"), endpoint["dynamodb"]
    return (
        f"MLflow: AWS_ACCESS_KEY_ID={endpoint['accessKey']} "
        f"AWS_SECRET_ACCESS_KEY={endpoint['secretKey']} AWS_DEFAULT_REGION={region} "
        f"MLFLOW_S3_ENDPOINT_URL={endpoint['s3']} .venv/bin/mlflow server --workers 1 "
        f"--backend-store-uri 'dynamodb://{table}?region={region}&endpoint={dynamodb}' "
        f"--app-name dynamodb --artifacts-destination {endpoint.get('trackingArtifacts')}"
    )


async def _until(
    choices: Choices, first_look: Path | None, stopping: asyncio.Event, steps: Steps
) -> None:
    runtime = Runtime(choices)
    async with AsyncExitStack() as stack:
        with steps.reminding():
            endpoint = await stack.enter_async_context(runtime.serving())
        say = choices.progress
        if not stopping.is_set():
            choices.state.write("endpoint.json", endpoint)
            say(f"serving {endpoint['api']}")
            if endpoint["adminApiKey"]:
                say(f"key {endpoint['adminApiKey']}")
            if "trackingTable" in endpoint:
                say(_mlflow_server(endpoint))
            if choices.in_memory:
                say("tables are in memory: nothing is kept")
            # Before the samples: their inspection takes a minute, and the page shows their
            # progress.
            if runtime.page.folder is not None:
                # Printed last: a link expires after ten minutes.
                say(f"open {new_link(choices.state, endpoint['api'])}")
            elif choices.build_page:
                say(runtime.page.missing)
            if first_look is not None:
                try:
                    # In a thread: the product serves while the import runs.
                    await asyncio.to_thread(import_samples, choices.state, first_look, say)
                except LocalError as error:
                    _log.warning("the samples are not complete: %s", error)
                    say(f"the samples are not complete: {error}")
                    say("the product keeps running; the next `make run` completes the samples")
        await stopping.wait()
        choices.state.endpoint.unlink(missing_ok=True)
