"""Prints the steps of a long start, and a reminder during a long step."""

import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

# Time without output after which people may think that a program hangs.
_QUIET_SECONDS = 20.0


class Steps:
    """Prints steps. While `reminding`, it prints the last one again if no other follows."""

    def __init__(self, say: Callable[[str], None], quiet: float = _QUIET_SECONDS) -> None:
        self._say = say
        self._quiet = quiet
        self._last = ("", time.monotonic())

    def __call__(self, text: str) -> None:
        """Print a step."""
        self._last = (text, time.monotonic())
        self._say(text)

    @contextmanager
    def reminding(self) -> Generator[None]:
        """Print reminders until the block ends."""
        ended = threading.Event()
        # A thread, because the steps of a start block the event loop for seconds.
        thread = threading.Thread(target=self._remind, args=(ended,), daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def _remind(self, ended: threading.Event) -> None:
        while not ended.wait(self._quiet / 4):
            text, since = self._last
            if text and time.monotonic() - since >= self._quiet:
                self._last = (text, time.monotonic())
                self._say(f"still working; the last step was: {text}")
