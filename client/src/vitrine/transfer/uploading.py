"""One batch of files into one asset: opened, sent part by part, completed.

A call that the server refuses for some of its files is repeated without them; what cannot be told
apart is halved. What a lost reply leaves open is looked up before it is called a failure.
"""

import re
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from pathlib import Path

from vitrine.client import Vitrine
from vitrine.errors import (
    ApiError,
    ConflictError,
    InvalidInputError,
    ProtocolError,
    TooLargeError,
    UnreachableError,
    VitrineError,
)
from vitrine.models import (
    FileResult,
    FinishedFile,
    NewFile,
    Part,
    PendingFile,
    Upload,
    UploadResult,
)
from vitrine.storage import Slice
from vitrine.transfer.content import part_sizes, sha256_of
from vitrine.transfer.names import shown
from vitrine.transfer.report import FileOutcome, Observer, Status
from vitrine.transfer.scan import LocalFile

ZERO_BYTE = "zero-byte"
"""The upload id of an empty file: it has no parts, and none is missing."""

UPLOAD_BUSY = "UploadBusy"
COMPLETIONS = 14
"""With the pauses between them longer than a gateway lets one request run."""

_REQUEST_FIELDS = frozenset({"assetId", "databaseId", "uploadType", "body"})
_FILE_INDEX = re.compile(r"\bfiles(?:\[|\.)(\d+)")


@dataclass(frozen=True, kw_only=True)
class Measured:
    """A file as it was when it was hashed; if it changes after that, it is not completed."""

    file: LocalFile
    size: int
    modified: int
    checksum: str

    def changed(self) -> bool:
        facts = self.file.path.stat()
        return (facts.st_size, facts.st_mtime_ns) != (self.size, self.modified)


def measure(file: LocalFile) -> Measured:
    """Hashes the file. Raises OSError where it cannot be read."""
    facts = Path(file.path).stat()
    return Measured(
        file=file,
        size=facts.st_size,
        modified=facts.st_mtime_ns,
        checksum=sha256_of(file.path),
    )


@dataclass(frozen=True, kw_only=True)
class Opened:
    upload: Upload
    files: Sequence[Measured]


@dataclass(frozen=True, kw_only=True)
class Sent:
    file: Measured
    pending: PendingFile
    parts: tuple[Part, ...]


class BatchUpload:
    """Uploads files to one asset and tells the outcome of each, once."""

    def __init__(
        self,
        client: Vitrine,
        *,
        database_id: str,
        asset_id: str,
        parts: Executor,
        observer: Observer,
        stopped: threading.Event,
    ) -> None:
        self._client = client
        self._database_id = database_id
        self._asset_id = asset_id
        self._parts = parts
        self._observer = observer
        self._stopped = stopped
        self._outcomes: list[FileOutcome] = []

    def run(self, files: Sequence[LocalFile]) -> list[FileOutcome]:
        if self._stopped.is_set():
            self._fail_all(files, "not tried: the server could not be reached")
            return self._outcomes
        for opened in self._open(self._measure(files)):
            self._transfer(opened)
        return self._outcomes

    def _measure(self, files: Sequence[LocalFile]) -> list[Measured]:
        running = [(file, self._parts.submit(measure, file)) for file in files]
        measured: list[Measured] = []
        for file, future in running:
            try:
                measured.append(future.result())
            except OSError as error:
                self._settle(file, Status.FAILED, f"cannot be read: {error.strerror}")
        return measured

    def _open(self, files: Sequence[Measured]) -> list[Opened]:
        """Opens uploads for all files that the server takes; settles the others."""
        if not files:
            return []
        wanted = [
            NewFile(
                relative_key=measured.file.key,
                file_size=measured.size,
                checksum_sha256=measured.checksum,
            )
            for measured in files
        ]
        try:
            upload = self._client.uploads.initialise(self._database_id, self._asset_id, wanted)
        except (InvalidInputError, TooLargeError) as error:
            return self._open_without_refused(files, error)
        except VitrineError as error:
            self._give_up([measured.file for measured in files], error)
            return []
        return [Opened(upload=upload, files=files)]

    def _open_without_refused(self, files: Sequence[Measured], error: ApiError) -> list[Opened]:
        named = refused_files(error, len(files))
        if named:
            for index, reason in named.items():
                self._settle(files[index].file, Status.REFUSED, reason)
            return self._open([file for index, file in enumerate(files) if index not in named])
        if len(files) == 1:
            # What is wrong with the asset or the request itself is no rule about this file.
            about_request = any(fact.field in _REQUEST_FIELDS for fact in error.errors)
            status = Status.FAILED if about_request else Status.REFUSED
            self._settle(files[0].file, status, str(error))
            return []
        middle = len(files) // 2
        return [*self._open(files[:middle]), *self._open(files[middle:])]

    def _transfer(self, opened: Opened) -> None:
        pending = {file.relative_key.lstrip("/"): file for file in opened.upload.files}
        running: list[tuple[Measured, PendingFile, Callable[[], tuple[Part, ...]]]] = []
        for measured in opened.files:
            target = pending.get(measured.file.key.lstrip("/"))
            if target is None:
                self._settle(measured.file, Status.FAILED, "the server opened no upload for it")
                continue
            running.append((measured, target, self._send(measured, target)))
        sent: list[Sent] = []
        abandoned: list[PendingFile] = []
        for measured, target, parts in running:
            try:
                stored = parts()
                if measured.changed():
                    raise ProtocolError("the file changed while it was sent")
                sent.append(Sent(file=measured, pending=target, parts=stored))
            except (VitrineError, OSError, ValueError) as error:
                self._give_up([measured.file], error)
                abandoned.append(target)
        self._complete(opened.upload, sent, abandoned)

    def _send(self, measured: Measured, target: PendingFile) -> Callable[[], tuple[Part, ...]]:
        """Starts sending; the answer waits for all parts and gives them, or raises."""
        if measured.size == 0:
            return tuple
        try:
            slices = slices_of(measured, target)
        except ProtocolError as error:
            return _raising(error)
        futures = [
            (number, self._parts.submit(self._put, url, part)) for number, url, part in slices
        ]
        return lambda: _all_parts(futures)

    def _put(self, url: str, part: Slice) -> str:
        if self._stopped.is_set():
            raise UnreachableError("not tried: the transfer was stopped")
        return self._client.storage.put(url, part, moved=self._moved)

    def _moved(self, size: int) -> None:
        """Passes progress on; after a stop it breaks off the part that is under way."""
        if size > 0 and self._stopped.is_set():
            raise UnreachableError("broken off: the transfer was stopped")
        self._observer.moved(size)

    def _complete(
        self, upload: Upload, sent: Sequence[Sent], abandoned: Sequence[PendingFile]
    ) -> None:
        finished = [
            FinishedFile(
                relative_key=one.pending.relative_key,
                upload_id_s3=one.pending.upload_id_s3,
                parts=one.parts,
            )
            for one in sent
        ]
        given_up = [
            FinishedFile(relative_key=one.relative_key, upload_id_s3=one.upload_id_s3, parts=())
            for one in abandoned
            if one.upload_id_s3 != ZERO_BYTE
        ]
        if not finished and not given_up:
            return
        try:
            result = self._ask_to_complete(upload.upload_id, [*finished, *given_up])
        except VitrineError as error:
            for one in sent:
                self._settle_unless_there(one.file, str(error))
            return
        results = {one.relative_key.lstrip("/"): one for one in result.file_results}
        for one in sent:
            self._settle_result(one.file, results.get(one.file.file.key.lstrip("/")))

    def _ask_to_complete(self, upload_id: str, files: Sequence[FinishedFile]) -> UploadResult:
        """Waits while an earlier request, whose reply was lost, is still at the same upload."""
        for attempt in range(1, COMPLETIONS):
            try:
                return self._client.uploads.complete(
                    self._database_id, self._asset_id, upload_id, files
                )
            except ConflictError as conflict:
                if conflict.code != UPLOAD_BUSY:
                    raise
            self._client.sleep(self._client.retry.delay(attempt))
        return self._client.uploads.complete(self._database_id, self._asset_id, upload_id, files)

    def _settle_result(self, measured: Measured, result: FileResult | None) -> None:
        if result is not None and result.success:
            self._settle(measured.file, Status.UPLOADED)
        elif result is None:
            self._settle_unless_there(measured, "the server does not say what became of it")
        else:
            self._settle_unless_there(measured, result.error or "the server gives no reason")

    def _settle_unless_there(self, measured: Measured, reason: str) -> None:
        """A reply may be lost after the work was done: ask before calling it a failure."""
        if self._is_there(measured):
            self._settle(measured.file, Status.UPLOADED)
        else:
            self._settle(measured.file, Status.FAILED, reason)

    def _is_there(self, measured: Measured) -> bool:
        if self._stopped.is_set():
            return False
        try:
            info = self._client.files.info(self._database_id, self._asset_id, measured.file.key)
        except VitrineError as error:
            self._note_unreachable(error)
            return False
        return info.size == measured.size and info.checksum_sha256 == measured.checksum

    def _fail_all(self, files: Sequence[LocalFile], reason: str) -> None:
        for file in files:
            self._settle(file, Status.FAILED, reason)

    def _give_up(self, files: Sequence[LocalFile], error: Exception) -> None:
        self._note_unreachable(error)
        self._fail_all(files, str(error))

    def _note_unreachable(self, error: Exception) -> None:
        """When nobody answers any more, the rest of the import is not tried either."""
        if isinstance(error, UnreachableError):
            self._stopped.set()

    def _settle(self, file: LocalFile, status: Status, reason: str | None = None) -> None:
        outcome = FileOutcome(
            path=shown(str(file.path)),
            status=status,
            size=file.size,
            asset_id=self._asset_id,
            key=file.key,
            reason=reason,
        )
        self._outcomes.append(outcome)
        self._observer.settled(outcome)


def refused_files(error: ApiError, count: int) -> dict[int, str]:
    """Which files of the request the server names in its error, and why."""
    named: dict[int, str] = {}
    for fact in error.errors:
        match = _FILE_INDEX.search(fact.field)
        if match and int(match[1]) < count:
            named.setdefault(int(match[1]), fact.message)
    return named


def slices_of(measured: Measured, target: PendingFile) -> list[tuple[int, str, Slice]]:
    """Part number, URL and stretch of the file, for each part.

    Raises:
        ProtocolError: the server gives another number of URLs than parts, or impossible parts.
    """
    urls = sorted(target.part_upload_urls, key=lambda part: part.part_number)
    if len(urls) != target.num_parts:
        raise ProtocolError(f"the server gives {len(urls)} URLs for {target.num_parts} parts")
    try:
        sizes = part_sizes(measured.size, target.num_parts)
    except ValueError as error:
        raise ProtocolError(f"the server's parts do not fit: {error}") from error
    slices: list[tuple[int, str, Slice]] = []
    offset = 0
    for part, length in zip(urls, sizes, strict=True):
        piece = Slice(path=measured.file.path, offset=offset, length=length)
        slices.append((part.part_number, part.upload_url, piece))
        offset += length
    return slices


def _all_parts(futures: Sequence[tuple[int, Future[str]]]) -> tuple[Part, ...]:
    """Waits for every part, also after one failed: nothing may go on in the background."""
    failures = [future.exception() for _, future in futures]
    for failure in failures:
        if failure is not None:
            raise failure
    return tuple(Part(part_number=number, e_tag=future.result()) for number, future in futures)


def _raising(error: Exception) -> Callable[[], tuple[Part, ...]]:
    def answer() -> tuple[Part, ...]:
        raise error

    return answer
