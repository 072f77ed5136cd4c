"""Workers in threads of which one runs at a time, and that can stop at each request."""

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from backend.core.errors import UnavailableError


class KilledError(BaseException):
    """The process of a worker ended; none of its code runs any more."""


class Worker:
    """Work in a thread that waits for its turn at each request to a port."""

    def __init__(self, turns: "Turns", work: Callable[[], None], born: float) -> None:
        self.born = born
        self.at = ""  # the request before which it is stopped
        self._turns = turns
        self._is_killed = False
        self._fails = False
        self._go, self._stopped = threading.Semaphore(0), threading.Semaphore(0)
        self._one_at_a_time = threading.Lock()
        self._pool = ThreadPoolExecutor(1)
        self._result: Future[None] = self._pool.submit(self._run, work)
        self._is_over = False

    def step(self, *, fails: bool = False) -> None:
        """Let it continue to its next request; with `fails` the request meets an outage."""
        self._fails = fails
        self._turns.running = self
        self._go.release()
        self._stopped.acquire()
        self._turns.running = None

    def finish(self) -> None:
        while not self.has_ended:
            self.step()

    def kill(self) -> None:
        self._is_killed = True
        self._turns.running = self
        while not self._is_over:
            self._go.release()
            self._stopped.acquire()
        self._turns.running = None

    @property
    def has_ended(self) -> bool:
        return self._is_over

    @property
    def error(self) -> BaseException | None:
        """The error with which it ended, if it did."""
        exception = self._result.exception()
        self._pool.shutdown()
        return exception

    def pause(self) -> None:
        """Called in a thread of the work: wait for the next turn."""
        with self._one_at_a_time:
            if not self._is_killed:
                self._stopped.release()
                self._go.acquire()
            if self._is_killed:
                raise KilledError
            if self._fails:
                self._fails = False
                raise UnavailableError("the adversary lets nothing through")

    def _run(self, work: Callable[[], None]) -> None:
        self._go.acquire()
        try:
            if self._is_killed:
                raise KilledError
            work()
        finally:
            self._is_over = True
            self._stopped.release()


class Turns:
    """The worker whose turn it is; ports call `before` before every request."""

    def __init__(self) -> None:
        self.running: Worker | None = None
        self._main = threading.current_thread()

    def before(self, operation: str) -> None:
        if self.running is not None and threading.current_thread() is not self._main:
            self.running.at = operation
            self.running.pause()
