"""Ends the engines after the runner has ended, for any reason.

There is one small process per runner. Its input is a pipe from the runner with the lines `+pid` and
`-pid`. When the pipe closes (the runner ended or was killed), it ends the processes that are still
listed. PR_SET_PDEATHSIG would require code between fork and exec, exists on Linux only, and takes
effect when the *thread* that started the child ends, which a parallel start does immediately.

It runs as a separate script (`python -I guard.py`), so it imports nothing from this package.
"""

import contextlib
import signal
import subprocess
import sys
import threading

import psutil

# Engines store their state when they end; after that time they are killed.
_GRACE_SECONDS = 5.0


class _Guard:
    """The runner's side: started with the first engine, it ends with the runner."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._watched: set[int] = set()

    def watch(self, pid: int) -> None:
        with self._lock:
            self._watched.add(pid)
            if self._process is None or self._process.poll() is not None:
                self._process = subprocess.Popen(
                    [sys.executable, "-I", __file__],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.DEVNULL,  # the reader of the runner's output must see its end
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                )
            self._send(f"+{pid}")

    def remove(self, pid: int) -> None:
        with self._lock:
            self._watched.discard(pid)
            self._send(f"-{pid}")
            if not self._watched and self._process is not None and self._process.stdin:
                with contextlib.suppress(BrokenPipeError):
                    self._process.stdin.close()
                self._process.wait()
                self._process = None

    def _send(self, line: str) -> None:
        if self._process is None or self._process.stdin is None:
            return
        # A guard that has ended is no reason to fail: the pid files are the second safeguard.
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(f"{line}\n".encode())
            self._process.stdin.flush()


_guard = _Guard()
watch = _guard.watch
remove = _guard.remove


def _process_of(pid: int) -> psutil.Process | None:
    """Return the process of this id, or None if there is none."""
    try:
        # psutil compares the creation time: another process may have the pid later.
        return psutil.Process(pid)
    except psutil.NoSuchProcess:
        return None


def main() -> None:
    """Read pids from the standard input; when it closes, end the processes that remain."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # it ends when the pipe closes, not before
    watched: dict[int, psutil.Process | None] = {}
    for line in sys.stdin:
        mark, pid = line[0], int(line[1:])
        if mark == "+":
            watched[pid] = _process_of(pid)
        else:
            watched.pop(pid, None)
    left = [process for process in watched.values() if process is not None]
    for process in left:
        with contextlib.suppress(psutil.Error):
            process.terminate()
    for process in psutil.wait_procs(left, timeout=_GRACE_SECONDS)[1]:
        with contextlib.suppress(psutil.Error):
            process.kill()


if __name__ == "__main__":
    main()
