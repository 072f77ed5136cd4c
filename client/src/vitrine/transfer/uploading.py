"""Uploads one batch of files to one asset: started (or continued), sent part by part, completed.

After a lost reply the state is read before the file is reported as failed.
"""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass

from vitrine.client import Vitrine
from vitrine.errors import (
    ApiError,
    ConflictError,
    ProtocolError,
    UnreachableError,
    VitrineError,
)
from vitrine.models import (
    FileResult,
    FinishedFile,
    Part,
    UploadResult,
)
from vitrine.storage import Slice, StorageError
from vitrine.transfer.finishing import wait_for_files
from vitrine.transfer.measuring import Measured, slices_of
from vitrine.transfer.names import shown
from vitrine.transfer.opening import Opened, Opening, Settings
from vitrine.transfer.report import FileOutcome, Observer, Status
from vitrine.transfer.resuming import OpenFile
from vitrine.transfer.scan import LocalFile

ZERO_BYTE = "zero-byte"
"""The upload id of an empty file, which has no parts."""

UPLOAD_BUSY = "UploadBusy"
# Attempts to complete an upload. With their pauses they exceed a gateway's maximum time of one
# request.
COMPLETIONS = 14
# Renewals of one part's URL. Each URL is valid long enough to start its request.
RENEWALS = 3
RULE = "rule"
"""The error kind of files that the server rejects."""
# The storage's status for an expired or invalid URL.
EXPIRED = 403


@dataclass(frozen=True, kw_only=True)
class Sent:
    file: OpenFile
    parts: tuple[Part, ...]


class BatchUpload:
    """Uploads files to one asset and reports the result of each, once."""

    def __init__(
        self,
        client: Vitrine,
        *,
        database_id: str,
        asset_id: str,
        parts: Executor,
        observer: Observer,
        stopped: threading.Event,
        settings: Settings | None = None,
    ) -> None:
        self._client = client
        self._database_id = database_id
        self._asset_id = asset_id
        self._parts = parts
        self._observer = observer
        self._stopped = stopped
        self._settings = settings or Settings()
        self._outcomes: list[FileOutcome] = []
        self._measured: dict[str, Measured] = {}

    def run(self, files: Sequence[LocalFile]) -> list[FileOutcome]:
        if self._stopped.is_set():
            self._fail_all(files, "not tried: the server is unreachable")
            return self._outcomes
        opening = Opening(
            client=self._client,
            asset=(self._database_id, self._asset_id),
            settings=self._settings,
            pool=self._parts,
            settle=self._settle,
            fail_unreachable=self._fail_unreachable,
        )
        for opened in opening.uploads_of(files):
            self._transfer(opened)
        return self._outcomes

    def _transfer(self, opened: Opened) -> None:
        self._measured.update((file.file.file.key, file.file) for file in opened.files)
        # All files at once: their parts share the pool, so small files do not wait for large ones.
        running = [(file, self._send(opened, file)) for file in opened.files if not file.working]
        sent: list[Sent] = []
        abandoned: list[OpenFile] = []
        for result, parts in running:
            try:
                stored = parts()
                # Its checksum was announced; parts of two states of the file would not match it.
                if result.file.has_changed():
                    raise ProtocolError("the file changed while being sent")
                sent.append(Sent(file=result, parts=stored))
            except (UnreachableError, StorageError) as error:
                self._fail_unreachable([result.file.file], error)
                # Cancelled on the server, because nothing could continue it.
                if opened.entry is None:  # with a journal the next run continues it
                    abandoned.append(result)
            except (VitrineError, OSError) as error:
                self._fail_unreachable([result.file.file], error)
                abandoned.append(result)
        over = self._complete(opened, sent, abandoned)
        if opened.entry is not None:
            opened.entry.settle(over)

    def _send(self, opened: Opened, going: OpenFile) -> Callable[[], tuple[Part, ...]]:
        """Start to send; the returned function waits for all parts and returns them, or raises."""
        # An empty file has no parts and no URL.
        if going.file.size == 0:
            return tuple
        try:
            slices = slices_of(going.file, going.num_parts)
        except ProtocolError as error:
            failure = error

            def fail() -> tuple[Part, ...]:
                raise failure

            return fail
        key = going.file.file.key
        self._observer.moved(sum(slices[number].length for number in going.stored))
        there = [Part(part_number=number, e_tag=etag) for number, etag in going.stored.items()]
        futures = [
            (number, self._parts.submit(self._put, opened, key, number, part))
            for number, part in slices.items()
            if number not in going.stored
        ]

        def collect() -> tuple[Part, ...]:
            # Every part, even after one failed: nothing may continue in the background.
            failures = [future.exception() for _, future in futures]
            for failure in failures:
                if failure is not None:
                    raise failure
            sent = [Part(part_number=number, e_tag=future.result()) for number, future in futures]
            return tuple(sorted([*there, *sent], key=lambda part: part.part_number))

        return collect

    def _put(self, opened: Opened, key: str, number: int, part: Slice) -> str:
        """Send one part, by a new URL if the current one has expired."""
        refused, denied = None, None
        for _ in range(RENEWALS):
            if self._stopped.is_set():
                raise UnreachableError("not tried: the transfer was stopped")
            try:
                refused = opened.urls.url(key, number, refused=refused)
            except (ApiError, ProtocolError) as error:
                raise denied or error from error
            try:
                etag = self._client.storage.put(refused, part, moved=self._report_bytes)
            except StorageError as error:
                # 403 is also the reply to an expired URL, for which a new one is requested.
                if error.status != EXPIRED:
                    raise
                denied = error
            else:
                if opened.entry is not None:
                    opened.entry.record(key, number, etag)
                return etag
        raise denied or ProtocolError(f"part {number} of {key} could not be sent")

    def _report_bytes(self, size: int) -> None:
        """Report progress; after a stop, abort the part that is being sent."""
        if size > 0 and self._stopped.is_set():
            raise UnreachableError("stopped during the transfer")
        self._observer.moved(size)

    def _complete(
        self, opened: Opened, sent: Sequence[Sent], abandoned: Sequence[OpenFile]
    ) -> list[str]:
        """Complete and report what was sent; return the keys that are done."""
        finished = [_finished_file(file.file, file.parts) for file in sent]
        # Without parts, the server removes what was sent of them.
        given_up = [
            _finished_file(file, ()) for file in abandoned if file.upload_id_s3 != ZERO_BYTE
        ]
        large = [file for file in opened.files if file.working]
        over = [file.file.file.key for file in abandoned]
        if finished or given_up:
            try:
                result = self._complete_upload(opened.upload_id, [*finished, *given_up])
            except VitrineError as error:
                for file in sent:
                    self._settle_unless_there(file.file.file, str(error))
                return []
            results = {file.relative_key.lstrip("/"): file for file in result.file_results}
            for file in sent:
                file_result = results.get(file.file.file.file.key.lstrip("/"))
                if (
                    file_result is not None
                    and file_result.success
                    and file_result.large_file_asynchronous_handling
                ):
                    large.append(file.file)
                else:
                    self._settle_result(file.file.file, file_result)
                    over.append(file.file.file.file.key)
        return [*over, *self._await_large(opened.upload_id, large)]

    def _await_large(self, upload_id: str, files: Sequence[OpenFile]) -> list[str]:
        """Report files that the server finishes by itself.

        Return the keys of those it has finished.
        """
        if not files:
            return []
        keys = [file.file.file.key for file in files]
        self._observer.finishing(files=len(files))
        try:
            finished = wait_for_files(
                self._client,
                upload_id,
                keys,
                waiting=self._settings.waiting,
                stopped=self._stopped,
            )
        except VitrineError as error:
            self._fail_unreachable([file.file.file for file in files], error)
            return []
        finally:
            self._observer.finishing(files=-len(files))
        for file in (opened.file.file for opened in files):
            result = finished.get(file.key.lstrip("/"))
            if result is None:
                reason = (
                    f"the server is still completing it: see `vitrine uploads show {upload_id}`"
                )
                self._settle(file, Status.FAILED, reason)
            elif result.state == "done":
                self._settle(file, Status.UPLOADED)
            else:
                refused = result.error_kind == RULE
                self._settle(file, Status.REFUSED if refused else Status.FAILED, result.error)
        return [key for key in keys if key.lstrip("/") in finished]

    def _complete_upload(self, upload_id: str, files: Sequence[FinishedFile]) -> UploadResult:
        """Wait while an earlier request, whose reply was lost, is still processing the upload."""
        for attempt in range(1, COMPLETIONS):
            try:
                return self._client.uploads.complete(
                    self._database_id, self._asset_id, upload_id, files
                )
            except ConflictError as conflict:
                # Another conflict does not end by waiting.
                if conflict.code != UPLOAD_BUSY:
                    raise
            self._client.sleep(self._client.retry.delay(attempt))
        return self._client.uploads.complete(self._database_id, self._asset_id, upload_id, files)

    def _settle_result(self, measured: Measured, result: FileResult | None) -> None:
        if result is not None and result.success:
            self._settle(measured.file, Status.UPLOADED)
        elif result is None:
            self._settle_unless_there(measured, "the server returned no result for this file")
        elif result.error_kind == RULE:
            self._settle(measured.file, Status.REFUSED, result.error)
        else:
            self._settle_unless_there(measured, result.error or "the server returned no reason")

    def _settle_unless_there(self, measured: Measured, reason: str) -> None:
        """Check whether a file with a lost reply is stored before reporting it as failed."""
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
            self._record_unreachable(error)
            return False
        # The size alone could be that of an older file at the path.
        return info.size == measured.size and info.checksum_sha256 == measured.checksum

    def _fail_all(self, files: Sequence[LocalFile], reason: str) -> None:
        for file in files:
            self._settle(file, Status.FAILED, reason)

    def _fail_unreachable(self, files: Sequence[LocalFile], error: Exception) -> None:
        self._record_unreachable(error)
        self._fail_all(files, str(error))

    def _record_unreachable(self, error: Exception) -> None:
        """Stop the import if the server is unreachable; the remaining files are not tried."""
        if isinstance(error, UnreachableError):
            self._stopped.set()

    def _settle(self, file: LocalFile, status: Status, reason: str | None = None) -> None:
        measured = self._measured.get(file.key)
        outcome = FileOutcome(
            path=shown(str(file.path)),
            status=status,
            size=measured.size if measured else file.size,
            asset_id=self._asset_id,
            key=file.key,
            reason=reason,
            modified=measured and measured.modified,
            checksum=measured and measured.checksum,
        )
        self._outcomes.append(outcome)
        self._observer.settled(outcome)


def _finished_file(going: OpenFile, parts: tuple[Part, ...]) -> FinishedFile:
    key = going.file.file.key
    return FinishedFile(relative_key=key, upload_id_s3=going.upload_id_s3, parts=parts)
