"""Reading the file of a run: where it is, and how another function reads it without permissions."""

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backend.aws.clients import at_first_use, waiting_lambda
from backend.aws.function_calls import LambdaCalls
from backend.aws.settings import Settings, load
from backend.aws.transfers import UrlTransfers
from backend.core.errors import NotFoundError
from backend.core.function_calls import FunctionCalls, ReplyLostError
from backend.core.ids import NewId, new_uuid
from backend.core.work_files import WorkFiles
from backend.processing.jail.parent import Jail, Outcome
from backend.processing.jail.results import ReadingStalledError
from backend.processing.remote import invoker
from backend.processing.remote.reader import Reader
from backend.spec.functions import Function
from backend.spec.inspection_outputs import InspectionOutput
from backend.spec.settings import READERS, TURNTABLES
from backend.values import frozen

# Files of an asset among which references are resolved. They take 20 requests to S3.
_LISTED_FILES = 20_000
# The client waits longer than the reader may run: a call that it abandons would run on, and its
# reply would be lost (decision 49). URLs of the files are valid as long.
_GRACE_SECONDS = 30
_MILLISECONDS = 1000


@frozen
class Place:
    """A bucket and a key in it."""

    bucket: str
    key: str

    def below(self, name: str) -> "Place":
        return Place(self.bucket, self.key + name)

    @property
    def parent(self) -> "Place":
        """Return the folder of a folder."""
        return Place(self.bucket, self.key.removesuffix("/").rpartition("/")[0] + "/")


@frozen
class Reading:
    """The file to read, the folder of its asset, and the folder of the run."""

    execution_id: str
    source: Place
    version_id: str | None
    asset: Place
    run: Place

    @property
    def path(self) -> str:
        """Return the path of the file in its asset."""
        return self.source.key.removeprefix(self.asset.key)


@dataclass(eq=False, repr=False)
class AssetFiles:
    """The files of an asset in its bucket, for the references of a model."""

    files: WorkFiles
    root: Place

    def sizes(self) -> Mapping[str, int]:
        return self.files.sizes(self.root.bucket, self.root.key, most=_LISTED_FILES)

    def fetch(self, path: str, destination: Path) -> None:
        place = self.root.below(path)
        self.files.download(place.bucket, place.key, None, destination)


@dataclass(eq=False, repr=False)
class RemoteReading:
    """Has a function without permissions read files. `seconds` is its time-out."""

    files: WorkFiles
    calls: FunctionCalls
    function: str
    seconds: int
    turntable: bool
    new_id: NewId

    def read(self, reading: Reading, size: int, folder: Path, context: object) -> Outcome:
        """Read a file of `size` bytes; valid outputs are written to `folder`.

        Raises:
            NotRestoredError: the file is in an archive class.
            ReadingStalledError: it takes too long for a reason that is not in the file.
            UnavailableError: the function cannot be called now.
        """
        source = reading.source
        self.files.check_readable(source.bucket, source.key, reading.version_id)
        # One tenant a call: no instance reads a second file.
        token, seconds = self.new_id(), self.seconds + _GRACE_SECONDS
        left: Callable[[], int] | None = getattr(context, "get_remaining_time_in_millis", None)
        written = reading.run.below(f"reader/{token}/")
        return invoker.read(
            reading.path,
            f"{reading.execution_id}:{token}",
            _Called(self.calls, self.function),
            _Signed(self.files, reading, written, size, seconds),
            folder,
            turntable=self.turntable,
            may_continue=lambda: left is None or left() > seconds * _MILLISECONDS,
        )


@dataclass(eq=False, repr=False)
class _Called:
    """The reader function of this deployment."""

    calls: FunctionCalls
    function: str

    def call(self, tenant: str, request: Mapping[str, Any]) -> object:
        try:
            reply = self.calls.call(self.function, tenant, request)
        except ReplyLostError as error:
            # The next attempt has another tenant and folder: this reader may still run.
            raise ReadingStalledError(str(error)) from error
        if reply.failure is None:
            return reply.payload
        # A hostile file that lets its reader report this is read again, a few times.
        if reply.kind == ReadingStalledError.__name__:
            raise ReadingStalledError(reply.failure)
        if reply.late:
            raise invoker.ReaderLateError(reply.failure)
        raise invoker.ReaderFailedError(reply.failure)


@dataclass(eq=False, repr=False)
class _Signed:
    """URLs of the files of one reading, which are valid while the reader may run."""

    files: WorkFiles
    reading: Reading
    written: Place
    size: int
    seconds: int

    def sizes(self) -> Mapping[str, int]:
        return AssetFiles(self.files, self.reading.asset).sizes()

    def content(self) -> dict[str, Any]:
        source, version_id = self.reading.source, self.reading.version_id
        url = self.files.url(source.bucket, source.key, version_id, seconds=self.seconds)
        return {"url": url, "size": self.size}

    def file(self, path: str) -> str:
        place = self.reading.asset.below(path)
        return self.files.url(place.bucket, place.key, None, seconds=self.seconds)

    def output(self, output: InspectionOutput) -> dict[str, Any]:
        place = self.written.below(output.file)
        url, headers = self.files.url_to_write(
            place.bucket, place.key, content_type=output.content_type, seconds=self.seconds
        )
        return {"url": url, "headers": dict(headers)}

    def take(self, output: InspectionOutput, destination: Path) -> bool:
        place = self.written.below(output.file)
        try:
            if self.files.size(place.bucket, place.key, None) > output.most_bytes:
                return False
            self.files.download(place.bucket, place.key, None, destination)
        except NotFoundError:
            return False
        return True


def remote_reading(
    function: Function, settings: Settings, files: WorkFiles
) -> RemoteReading | None:
    """Return the reader of a pipeline; None if it is not deployed."""
    (called,) = function.calls
    name = settings.function(called)
    if name is None:
        return None
    seconds = called.timeout_seconds
    client = at_first_use(lambda: waiting_lambda(seconds + _GRACE_SECONDS))
    turntable = settings.number(TURNTABLES) == 1
    return RemoteReading(files, LambdaCalls(client, seconds), name, seconds, turntable, new_uuid)


def reader(function: Function) -> Reader:
    """Return the handler of a reader function.

    It reads unconfined files only if Lambda isolates it and the deployment's setting allows that.
    """
    settings = load(function)
    unconfined = settings.is_isolated and settings.text(READERS) != "off"
    folder = Path(tempfile.mkdtemp(prefix="reader-"))
    return Reader(Jail(settings.library_path, unconfined=unconfined), UrlTransfers(), folder)
