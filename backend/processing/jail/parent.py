"""Starts the processes of the jail, passes them files, and limits their time."""

import logging
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Generator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from backend.processing import limits
from backend.processing.files import State
from backend.processing.jail.channel import ChannelError, receive, send
from backend.processing.jail.confinement import Bounds, hide_memory, raise_cpu_seconds
from backend.processing.jail.means import understood
from backend.processing.jail.results import Result, checked, refusal
from backend.processing.references import Resolver
from backend.spec.formats import INSPECT_CAD_EXTENSIONS, extension_of
from backend.spec.inspection_outputs import INSPECTION_OUTPUTS, InspectionOutput

_START = (
    "import sys; sys.path[:] = sys.argv[2:]; "
    "from backend.processing.jail.means import announce; announce(int(sys.argv[1])); "
    "from backend.processing.jail.template import main; main(int(sys.argv[1]))"
)
# Arrays are freed and allocated all the time: keeping their memory saves a third of the time.
_ENVIRONMENT = {
    "OPENBLAS_NUM_THREADS": "1",
    "MALLOC_MMAP_THRESHOLD_": str(256 * limits.MIB),
    "MALLOC_TRIM_THRESHOLD_": str(256 * limits.MIB),
}
_START_SECONDS = 60
_REQUESTS = 10_000

_log = logging.getLogger(__name__)


class AssetFiles(Protocol):
    """The files of the asset that a model belongs to."""

    def sizes(self) -> Mapping[str, int]:
        """Return the sizes of the files by their path in the asset."""
        ...

    def fetch(self, path: str, destination: Path) -> None:
        """Write the content of one file to a local file."""
        ...


@dataclass(frozen=True)
class Usage:
    """What the child of one file used."""

    seconds: float
    cpu_seconds: float
    peak_bytes: int


@dataclass(frozen=True)
class Outcome:
    """The result for a file, and the paths of its outputs (`spec.inspection_outputs`)."""

    result: Result
    usage: Usage
    thumbnail: Path | None = None
    glb: Path | None = None
    turntable: Path | None = None

    def path_of(self, output: InspectionOutput) -> Path | None:
        """Return the path of an output, None if it was not written or is not valid."""
        return getattr(self, output.name)


class Jail:
    """Inspects files, each in a child of its own. Not for several threads at once.

    `environment` is that of the processes: it must hold no secrets. `bounds` and `seconds` are the
    most that a file gets; less processor time and time are allowed for small files. `turntable`:
    also make pictures of models from all sides. `unconfined`: read also where the kernel confines
    no process, which is only for a machine that has nothing else to read.
    """

    def __init__(
        self,
        environment: Mapping[str, str] | None = None,
        bounds: Bounds | None = None,
        seconds: float = limits.CHILD_SECONDS,
        *,
        turntable: bool = False,
        unconfined: bool = False,
    ) -> None:
        self._environment = {**_ENVIRONMENT, **(environment or {})}
        self.bounds = bounds or Bounds()
        self.seconds = seconds
        self.turntable = turntable
        self._template: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._unconfined = unconfined
        self._announced: dict[str, Any] | None = None
        self._ready = False
        self._visible = hide_memory()

    def obstacle(self, path: str) -> str | None:
        """Return why this system cannot confine the process that would read the file `path`."""
        if self._announced is None:
            self._start()
        announced = self._announced or {}
        files = extension_of(path) in INSPECT_CAD_EXTENSIONS
        means = understood(announced, files=files)
        lacking = means.lacks(files=files, hidden=not self._visible)
        if lacking and not self._unconfined:
            self.close()  # it would only load libraries
        return lacking

    def inspect(self, path: str, content: Path, files: AssetFiles, folder: Path) -> Outcome:
        """Inspect the file `path` of an asset, whose content is on this machine.

        Files that the model references, the thumbnail and the GLB are written to `folder`.
        """
        lacking = self.obstacle(path)
        if lacking and not self._unconfined:
            return Outcome(Result(refused=lacking), Usage(0, 0, 0))
        control = self._started()
        started = time.monotonic()  # the start of the template is no time of this file
        ours, theirs = socket.socketpair()
        with ours:
            with theirs:
                send(control, {"job": True}, [theirs.fileno()])
            process = int(receive(control)[0]["process"])
            budget = _Budget(self.bounds, self.seconds, process, content.stat().st_size)
            terms = _Terms(self.turntable, hidden=not self._visible, unconfined=self._unconfined)
            conversation = _Conversation(ours, path, files, folder, budget)
            try:
                result = conversation.hold(content, terms)
            finally:
                # Also a child that has sent its result, because it might never end.
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
                ended, _ = receive(control)
        if result is None:
            result = refusal(conversation.late, ended["status"], budget.bounds, budget.seconds)
        usage = Usage(
            time.monotonic() - started, float(ended["cpuSeconds"]), int(ended["peakBytes"])
        )
        return Outcome(result, usage, **conversation.written(result))

    def close(self) -> None:
        """End the template. A later inspection starts another one."""
        if self._control is not None:
            self._control.close()
        if self._template is not None:
            self._template.kill()
            self._template.wait()
        self._template = self._control = None
        self._ready = False

    def _started(self) -> socket.socket:
        """Return the channel of a template that is ready."""
        if self._control is None or self._template is None or self._template.poll() is not None:
            self._start()
        control = self._control
        if control is None:
            raise ChannelError("the template has no channel")
        if not self._ready:
            control.settimeout(_START_SECONDS)
            receive(control)
            control.settimeout(None)
            self._ready = True
        return control

    def _start(self) -> None:
        """Start a template, and receive what the kernel allows for its children."""
        self.close()
        ours, theirs = socket.socketpair()
        with theirs:
            self._template = subprocess.Popen(
                [sys.executable, "-I", "-c", _START, str(theirs.fileno()), *sys.path],
                env=self._environment,
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        self._control = ours
        ours.settimeout(_START_SECONDS)
        announced, _ = receive(ours)
        if self._announced is None:
            self._announced = announced
            self._report(announced)

    def _report(self, announced: dict[str, Any]) -> None:
        """Log once what the kernel allows."""
        alone, in_folder = (understood(announced, files=files) for files in (False, True))
        hidden = f"hidden memory: {self._visible or 'yes'}"
        parts = "; ".join(dict.fromkeys((*alone.texts, *in_folder.texts, hidden)))
        whole = not self._visible and all(
            each.lacks(files=True, hidden=True) is None and each.unprivileged
            for each in (alone, in_folder)
        )
        can = "are" if alone.filtered else "cannot be"
        level = logging.INFO if whole else logging.WARNING
        _log.log(level, "Files %s read in a confined process: %s", can, parts)


def has_form(path: Path, output: InspectionOutput) -> bool:
    """Return whether a file has the size and the first bytes of this output."""
    with path.open("rb") as file:
        return (
            path.stat().st_size <= output.most_bytes
            and file.read(len(output.magic)) == output.magic
        )


class _Budget:
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
    def fetching(self, size: int) -> Generator[None]:
        """Add a file of `size` bytes, which is fetched meanwhile."""
        started = time.monotonic()
        try:
            yield
        finally:
            self._fetching += time.monotonic() - started
        self._size += size
        raise_cpu_seconds(self._process, self.bounds.cpu_seconds)


@dataclass(frozen=True)
class _Terms:
    """How a child reads its file."""

    turntable: bool
    hidden: bool
    unconfined: bool


class _Conversation:
    """Answers the requests of one child until it sends its result."""

    def __init__(
        self, channel: socket.socket, path: str, files: AssetFiles, folder: Path, budget: _Budget
    ) -> None:
        self._channel = channel
        self._path = path
        self._files = files
        self._folder = folder
        self._budget = budget
        self._resolver: Resolver | None = None
        self._sizes: Mapping[str, int] = {}
        self._fetched: dict[str, Path] = {}
        self._bytes = 0
        self.late = False

    def hold(self, content: Path, terms: _Terms) -> Result | None:
        """Return the result, None if the child has ended without one or takes too long."""
        try:
            self._hand_over(content, terms)
            for _ in range(_REQUESTS):
                message = self._next()
                if "result" in message:
                    return checked(message["result"])
                self._answer(str(message.get("open", "")))
        except TimeoutError:
            self.late = True
        except ChannelError:
            pass
        return None

    def written(self, result: Result) -> dict[str, Path]:
        """Return by name the outputs that the child reported, if they are valid."""
        return {
            each.name: path
            for each in INSPECTION_OUTPUTS
            if getattr(result, each.name) and has_form(path := self._folder / each.file, each)
        }

    def _hand_over(self, content: Path, terms: _Terms) -> None:
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
                files.enter_context((self._folder / each.file).open("wb"))
                for each in INSPECTION_OUTPUTS
            ]
            send(self._channel, job, [each.fileno() for each in opened])

    def _next(self) -> dict[str, Any]:
        remaining = self._budget.remaining
        if remaining <= 0:
            raise TimeoutError
        self._channel.settimeout(remaining)
        message, descriptors = receive(self._channel)
        for each in descriptors:  # a child has no descriptors to send
            os.close(each)
        return message

    def _answer(self, name: str) -> None:
        path, state, file = self._resolved(name)
        answer = {"path": path, "state": state}
        if file is None:
            send(self._channel, answer)
            return
        with file.open("rb") as opened:
            send(self._channel, answer, [opened.fileno()])

    def _resolved(self, name: str) -> tuple[str, State, Path | None]:
        if self._resolver is None:
            with self._budget.fetching(0):
                self._sizes = self._files.sizes()
            self._resolver = Resolver(self._path, self._sizes)
        path, state, found = self._resolver.resolve(name)
        return path, state, None if found is None else self._content(found)

    def _content(self, path: str) -> Path | None:
        """Return the content of a file of the asset, None if it exceeds the limits."""
        if path not in self._fetched:
            self._bytes += self._sizes[path]
            too_many = len(self._fetched) >= limits.REFERENCED_FILES
            if too_many or self._bytes > limits.INPUT_BYTES:
                return None
            destination = self._folder / f"reference-{len(self._fetched)}"
            with self._budget.fetching(self._sizes[path]):
                self._files.fetch(path, destination)
            self._fetched[path] = destination
        return self._fetched[path]
