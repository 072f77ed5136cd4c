"""The conversation with the child that reads one file: what it gets, how long, what it returns."""

import os
import socket
import time
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from backend.processing import limits
from backend.processing.files import State
from backend.processing.jail.channel import ChannelError, receive, send
from backend.processing.jail.confinement import Bounds, raise_cpu_seconds
from backend.processing.jail.results import Result, check_result
from backend.spec.inspection_outputs import INSPECTION_OUTPUTS, MAGIC_BYTES, InspectionOutput

# Each request lets the parent resolve a name; a hostile child could request without end.
_REQUESTS = 10_000


def has_form(path: Path, output: InspectionOutput) -> bool:
    """Return whether a file has the size and the first bytes of this output."""
    with path.open("rb") as file:
        return path.stat().st_size <= output.most_bytes and output.begins(file.read(MAGIC_BYTES))


class Budget:
    """The time of one child, which grows with the files that it gets."""

    def __init__(self, most: Bounds, seconds: float, process: int, size: int) -> None:
        self._most = most
        self._most_seconds = seconds
        self._process = process
        self._size = size
        self._started = time.monotonic()
        self._fetching = 0.0

    @property
    def bounds(self) -> Bounds:
        """The bounds of the child with its present files."""
        cpu_seconds = min(self._most.cpu_seconds, limits.cpu_seconds_for(self._size))
        return replace(self._most, cpu_seconds=cpu_seconds)

    @property
    def seconds(self) -> float:
        return min(self._most_seconds, limits.seconds_for(self._size))

    @property
    def remaining(self) -> float:
        """The rest of the time. Fetching files of the asset is not reading, but ends too."""
        now = time.monotonic()
        reading = self._started + self._fetching + self.seconds - now
        return min(reading, self._started + self._most_seconds - now)

    @contextmanager
    def count_fetch(self, size: int) -> Generator[None]:
        """Add a file of `size` bytes, which is fetched meanwhile."""
        started = time.monotonic()
        try:
            yield
        finally:
            self._fetching += time.monotonic() - started
        self._size += size
        raise_cpu_seconds(self._process, self.bounds.cpu_seconds)


@dataclass(frozen=True)
class Terms:
    """The terms on which a child reads its file."""

    turntable: bool
    hidden: bool
    unconfined: bool


class References(Protocol):
    """The files to which a model refers, found by their names in it."""

    def find(self, name: str, budget: Budget) -> tuple[str, State, Path | None]:
        """Return the path to report, the state and, if there is one, a file of this machine."""
        ...


class Conversation:
    """Answers the requests of one child until it sends its result."""

    def __init__(
        self,
        channel: socket.socket,
        path: str,
        references: References,
        folder: Path,
        budget: Budget,
    ) -> None:
        self._channel = channel
        self._path = path
        self._references = references
        self._folder = folder
        self._budget = budget
        self.late = False

    def run(self, content: Path, terms: Terms) -> Result | None:
        """Return the result, None if the child has ended without one or takes too long."""
        try:
            scratch = self._folder / "scratch"
            scratch.mkdir(exist_ok=True)
            job = {
                "path": self._path,
                "bounds": asdict(self._budget.bounds),
                "folder": str(scratch),
                **asdict(terms),
            }
            with ExitStack() as files:
                opened = [files.enter_context(content.open("rb"))]
                opened += [
                    files.enter_context((self._folder / output.file).open("wb"))
                    for output in INSPECTION_OUTPUTS
                ]
                send(self._channel, job, [file.fileno() for file in opened])
            for _ in range(_REQUESTS):
                message = self._next()
                if "result" in message:
                    return check_result(message["result"])
                self._answer(str(message.get("open", "")))
        except TimeoutError:
            self.late = True
        except ChannelError:
            pass
        return None

    def written(self, result: Result) -> dict[str, Path]:
        """Return by name the outputs that the child reported, if they are valid."""
        return {
            output.name: path
            for output in INSPECTION_OUTPUTS
            if getattr(result, output.name) and has_form(path := self._folder / output.file, output)
        }

    def _next(self) -> dict[str, Any]:
        remaining = self._budget.remaining
        if remaining <= 0:
            raise TimeoutError
        self._channel.settimeout(remaining)
        message, descriptors = receive(self._channel)
        for descriptor in descriptors:  # a child has no descriptors to send
            os.close(descriptor)
        return message

    def _answer(self, name: str) -> None:
        # The name comes from the file: the parent looks it up among the asset's files, and never
        # opens it as a path of this machine.
        path, state, file = self._references.find(name, self._budget)
        answer = {"path": path, "state": state}
        if file is None:
            send(self._channel, answer)
            return
        with file.open("rb") as opened:
            send(self._channel, answer, [opened.fileno()])
