"""The process of one engine: started in its own session, monitored, stopped, never orphaned.

Two mechanisms end engines that outlive a killed runner: the guard (see `guard.py`), which ends them
when the runner's end of a pipe closes, and the pid files in the data folder, by which the next
start finds remaining processes. A pid is valid only with its creation time, because pids are
reused.
"""

import contextlib
import json
import os
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from local.engines import guard
from local.engines.errors import EngineError
from local.engines.ports import LOOPBACK

# Short beside a start of seconds; each poll is one request to an engine.
_POLL_SECONDS = 0.05
# Time in which an engine must become healthy. On a busy machine engines start slowly; an engine
# whose process ends fails immediately.
HEALTHY_SECONDS = 300.0
# Enough for the error and its cause; the message names the log.
_LOG_LINES = 15


@dataclass(frozen=True)
class Endpoint:
    """The port of an engine, and its process."""

    url: str
    port: int
    pid: int


class Running:
    """One started engine. Its methods are thread-safe; stop and kill may be called repeatedly."""

    def __init__(
        self,
        *,
        name: str,
        process: subprocess.Popen[bytes],
        port: int,
        log: Path,
        pid_file: Path,
        probe: Callable[[str], bool],
        path: str = "",
    ) -> None:
        """Store a process that was just started."""
        self.name = name
        self.log = log
        self.endpoint = Endpoint(f"http://{LOOPBACK}:{port}{path}", port, process.pid)
        self._process = process
        self._pid_file = pid_file
        self._probe = probe

    @property
    def exit_code(self) -> int | None:
        """The exit code of the process, or None while it runs."""
        return self._process.poll()

    def healthy(self) -> bool:
        """Return whether the process runs and responds."""
        return self.exit_code is None and self._probe(self.endpoint.url)

    def wait_healthy(self, timeout: float = HEALTHY_SECONDS) -> None:
        """Wait until the engine responds.

        Raises:
            EngineError: it ended, or does not respond in time; with the last lines of its log.
        """
        pause = threading.Event()
        deadline = time.monotonic() + timeout
        # The process first: an engine that ended never responds.
        while not self.healthy():
            self.check_alive()
            if time.monotonic() > deadline:
                raise EngineError(
                    f"{self.name} does not respond at {self.endpoint.url} after {timeout:.0f} s"
                    f"{self._tail()}"
                )
            pause.wait(_POLL_SECONDS)

    def check_alive(self) -> None:
        """Return if the process runs.

        Raises:
            EngineError: it ended; with the last lines of its log.
        """
        if self.exit_code is not None:
            self._remove_pid_file()
            raise EngineError(f"{self.name} ended with code {self.exit_code}{self._tail()}")

    def stop(self, timeout: float = 10.0) -> None:
        """Send SIGTERM to the process; send SIGKILL if it has not ended after `timeout`."""
        self._process.terminate()
        try:
            self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.kill()
        self._remove_pid_file()

    def kill(self) -> None:
        """End the process at once (SIGKILL) and wait for its end."""
        self._process.kill()
        self._process.wait()
        self._remove_pid_file()

    def _remove_pid_file(self) -> None:
        guard.remove(self.endpoint.pid)
        self._pid_file.unlink(missing_ok=True)

    def _tail(self) -> str:
        return f"; its log ({self.log}) ends:\n{last_lines(self.log)}"


def last_lines(log: Path, count: int = _LOG_LINES) -> str:
    """Return the last lines of a log, or a note that it is empty."""
    try:
        text = log.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return "(no log)"
    return "\n".join(text.splitlines()[-count:]) or "(empty)"


def launch(
    *,
    name: str,
    command: Sequence[str],
    environment: Mapping[str, str],
    data: Path,
    log: Path,
    port: int,
    probe: Callable[[str], bool],
    path: str = "",
) -> Running:
    """Start `command`; `environment` extends the environment of this process.

    Its output is written to `log`. `path` is the path below which the engine serves.
    """
    data.mkdir(parents=True, exist_ok=True)
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as output:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, **environment},
            cwd=data,
            # Ctrl-C is for the runner, which then stops the engines in order.
            start_new_session=True,
        )
    pid_file = data / f"{name}.pid"
    # A process that ended at once has no time: waiting for its health reports the reason.
    with contextlib.suppress(psutil.NoSuchProcess):
        facts = {"pid": process.pid, "created": psutil.Process(process.pid).create_time()}
        pid_file.write_text(json.dumps(facts), encoding="utf-8")
    guard.watch(process.pid)
    return Running(
        name=name, process=process, port=port, log=log, pid_file=pid_file, probe=probe, path=path
    )


def stop_leftovers(data: Path, *, name: str = "*", timeout: float = 5.0) -> list[str]:
    """Stop processes that an earlier runner left on `data`; return the names of their engines.

    A pid file is removed if its process has ended, or if its pid now belongs to another process.
    """
    stopped: list[str] = []
    for pid_file in sorted(data.glob(f"{name}.pid")):
        process = _process_of(pid_file)
        if process is not None:
            _end(process, timeout)
            stopped.append(pid_file.stem)
        pid_file.unlink(missing_ok=True)
    return stopped


def _process_of(pid_file: Path) -> psutil.Process | None:
    try:
        noted = json.loads(pid_file.read_text(encoding="utf-8"))
        process = psutil.Process(int(noted["pid"]))
        # Creation times are rounded by some systems.
        same = abs(process.create_time() - float(noted["created"])) < 1.0
    except (FileNotFoundError, ValueError, KeyError, TypeError, psutil.NoSuchProcess):
        return None
    return process if same and not _has_ended(process) else None


def _end(process: psutil.Process, timeout: float) -> None:
    with contextlib.suppress(psutil.NoSuchProcess):
        process.terminate()
        if not _ended_within(process, timeout):
            process.kill()
            _ended_within(process, timeout)


def _ended_within(process: psutil.Process, timeout: float) -> bool:
    pause = threading.Event()
    deadline = time.monotonic() + timeout
    while not _has_ended(process):
        if time.monotonic() > deadline:
            return False
        pause.wait(_POLL_SECONDS)
    return True


def _has_ended(process: psutil.Process) -> bool:
    """Return whether a process has ended."""
    try:
        # Not until the pid is free: its parent, perhaps a container's first process, may never
        # collect the exit code.
        return process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True
