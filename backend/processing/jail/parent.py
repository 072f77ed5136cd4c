"""Starts the processes of the jail, passes them files, and limits their time."""

import logging
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from backend.processing import limits
from backend.processing.contents import other_format
from backend.processing.files import State
from backend.processing.jail.channel import ChannelError, receive, send
from backend.processing.jail.confinement import Bounds, hide_memory
from backend.processing.jail.conversation import Budget, Conversation, References, Terms
from backend.processing.jail.means import means_of
from backend.processing.jail.results import Ended, ReadingStalledError, Result, refusal
from backend.processing.references import Resolver
from backend.spec.formats import FOLDER_EXTENSIONS, START_BYTES, extension_of
from backend.spec.inspection_outputs import InspectionOutput

_START = (
    "import sys; sys.path[:] = sys.argv[2:]; "
    "from backend.processing.jail.means import announce; announce(int(sys.argv[1])); "
    "from backend.processing.jail.template import main; main(int(sys.argv[1]))"
)
# Arrays are freed and allocated all the time: keeping their memory saves a third of the time.
# FFmpeg opens no file that a film names, where nothing else confines it.
_ENVIRONMENT = {
    "OPENBLAS_NUM_THREADS": "1",
    "PXR_WORK_THREAD_LIMIT": "1",
    "OPENCV_FFMPEG_CAPTURE_OPTIONS": "protocol_whitelist;none",
    "MALLOC_MMAP_THRESHOLD_": str(256 * limits.MIB),
    "MALLOC_TRIM_THRESHOLD_": str(256 * limits.MIB),
}
# Loading takes under a second of processor time. A busy machine delays it; after this time the file
# is read later, not refused (decision 49).
_START_SECONDS = 60

_log = logging.getLogger(__name__)


class AssetFiles(Protocol):
    """The files of the asset that contains the model."""

    def sizes(self) -> Mapping[str, int]:
        """Return the sizes of the files by their path in the asset."""
        ...

    def fetch(self, path: str, destination: Path) -> None:
        """Write the content of one file to a local file."""
        ...


@dataclass(frozen=True)
class Usage:
    """Time and memory that the child of one file used."""

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
    small: Path | None = None
    structure: Path | None = None

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
        files = extension_of(path) in FOLDER_EXTENSIONS
        means = means_of(announced, files=files)
        lacking = means.lacks(files=files, hidden=not self._visible)
        if lacking and not self._unconfined:
            self.close()  # so that the template does not load libraries in vain
        return lacking

    def inspect(self, path: str, content: Path, files: AssetFiles, folder: Path) -> Outcome:
        """Inspect the file `path` of an asset, whose content is on this machine.

        Files that the model references, the thumbnail and the GLB are written to `folder`.
        """
        return self.inspect_with(path, content, _AssetReferences(path, files, folder), folder)

    def inspect_with(
        self, path: str, content: Path, references: References, folder: Path
    ) -> Outcome:
        """As `inspect`, with files that are found in another way.

        Raises:
            ReadingStalledError: it takes too long for a reason that is not in the file.
        """
        lacking = self.obstacle(path)
        if lacking and not self._unconfined:
            return Outcome(Result(refused=lacking), Usage(0, 0, 0))
        control = self._start_template()
        started = time.monotonic()  # the start of the template is no time of this file
        ours, theirs = socket.socketpair()
        with ours:
            with theirs:
                send(control, {"job": True}, [theirs.fileno()])
            process = int(receive(control)[0]["process"])
            budget = Budget(self.bounds, self.seconds, process, content.stat().st_size)
            terms = Terms(self.turntable, hidden=not self._visible, unconfined=self._unconfined)
            conversation = Conversation(ours, path, references, folder, budget)
            try:
                result = conversation.run(content, terms)
            finally:
                # Also a child that has sent its result, because it may never exit.
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
                ended, _ = receive(control)
        cpu_seconds = float(ended["cpuSeconds"])
        usage = Usage(time.monotonic() - started, cpu_seconds, int(ended["peakBytes"]))
        if result is None:
            end = Ended(ended["status"], conversation.late, cpu_seconds, budget.seconds)
            result = refusal(end, budget.bounds)
        if result.refused is not None:
            # Also of a reader that has crashed: it may have read another format than its own.
            with content.open("rb") as file:
                renamed = other_format(path, file.read(START_BYTES))
            result = replace(result, refused=renamed or result.refused)
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

    def _start_template(self) -> socket.socket:
        """Return the channel of a template that is ready."""
        if self._control is None or self._template is None or self._template.poll() is not None:
            self._start()
        control = self._control
        if control is None:
            raise ChannelError("the template has no channel")
        if not self._ready:
            _received_at_start(control)
            control.settimeout(None)
            self._ready = True
        return control

    def _start(self) -> None:
        """Start a template, and receive what the kernel allows for its children."""
        self.close()
        ours, theirs = socket.socketpair()
        with theirs:
            self._template = subprocess.Popen(
                # -I: neither variables nor a folder of the user change what the template imports.
                [sys.executable, "-I", "-c", _START, str(theirs.fileno()), *sys.path],
                env=self._environment,
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        self._control = ours
        announced = _received_at_start(ours)
        if self._announced is None:
            self._announced = announced
            self._report(announced)

    def _report(self, announced: dict[str, Any]) -> None:
        """Log once what the kernel allows."""
        alone, in_folder = (means_of(announced, files=files) for files in (False, True))
        hidden = f"hidden memory: {self._visible or 'yes'}"
        parts = "; ".join(dict.fromkeys((*alone.texts, *in_folder.texts, hidden)))
        whole = not self._visible and all(
            means.lacks(files=True, hidden=True) is None and means.unprivileged
            for means in (alone, in_folder)
        )
        can = "are" if alone.filtered else "cannot be"
        level = logging.INFO if whole else logging.WARNING
        _log.log(level, "Files %s read in a confined process: %s", can, parts)


def _received_at_start(control: socket.socket) -> dict[str, Any]:
    control.settimeout(_START_SECONDS)
    try:
        return receive(control)[0]
    except TimeoutError:
        raise ReadingStalledError(
            f"the process that reads files has not started within {_START_SECONDS:g} seconds"
        ) from None


class _AssetReferences:
    """Resolves references within an asset, and fetches its files once each."""

    def __init__(self, model: str, files: AssetFiles, folder: Path) -> None:
        self._model = model
        self._files = files
        self._folder = folder
        self._resolver: Resolver | None = None
        self._sizes: Mapping[str, int] = {}
        self._fetched: dict[str, Path] = {}
        self._bytes = 0

    def find(self, name: str, budget: Budget) -> tuple[str, State, Path | None]:
        if self._resolver is None:
            with budget.count_fetch(0):
                self._sizes = self._files.sizes()
            self._resolver = Resolver(self._model, self._sizes)
        path, state, target = self._resolver.resolve(name)
        return path, state, None if target is None else self._content(target, budget)

    def _content(self, path: str, budget: Budget) -> Path | None:
        """Return the content of a file of the asset, None if it exceeds the limits."""
        if path not in self._fetched:
            self._bytes += self._sizes[path]
            too_many = len(self._fetched) >= limits.REFERENCED_FILES
            # The model is read without the file, whose reference is still reported as found.
            if too_many or self._bytes > limits.INPUT_BYTES:
                return None
            destination = self._folder / f"reference-{len(self._fetched)}"
            with budget.count_fetch(self._sizes[path]):
                self._files.fetch(path, destination)
            self._fetched[path] = destination
        return self._fetched[path]
