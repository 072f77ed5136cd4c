"""Starts uploads for files, or finds those of an earlier run that can be continued.

If the server rejects some files of a call, it is repeated without them; if the reply does not name
them, the files are halved.
"""

import re
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Protocol

from vitrine.client import Vitrine
from vitrine.errors import ApiError, InvalidInputError, TooLargeError, VitrineError
from vitrine.models import AssetIds, NewFile, Upload
from vitrine.transfer.finishing import Waiting
from vitrine.transfer.journal import Journal, JournalEntry, JournalFile
from vitrine.transfer.measuring import Measured, measure
from vitrine.transfer.report import Status
from vitrine.transfer.resuming import Found, OpenFile, find_uploads
from vitrine.transfer.scan import LocalFile
from vitrine.transfer.urls import PartUrls

# Part URLs of the first reply, which end after an hour. Further ones are requested when they are
# needed.
MAX_PART_URLS = 1000
MAX_PARTS = 10_000  # S3's limit for one object
MAX_PART_BYTES = 5 * 1024**3  # S3's limit

_REQUEST_FIELDS = frozenset({"assetId", "databaseId", "uploadType", "body"})
_FILE_INDEX = re.compile(r"\bfiles(?:\[|\.)(\d+)")


def part_number(size: int, wanted: int) -> int:
    """Return the number of parts of a file for the wanted size, within S3's limits."""
    least = -(-size // MAX_PART_BYTES)
    return min(MAX_PARTS, max(1, least, size // wanted))


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of a batch: the journal, the part size, the time for large files."""

    journal: Journal | None = None
    part_bytes: int | None = None
    waiting: Waiting = field(default_factory=Waiting)


@dataclass(frozen=True, kw_only=True)
class Opened:
    """A started upload, with its journal if there is one."""

    upload_id: str
    files: Sequence[OpenFile]
    urls: PartUrls
    entry: JournalEntry | None


class Settle(Protocol):
    """Reports the result of a file."""

    def __call__(self, file: LocalFile, status: Status, reason: str | None = None) -> None: ...


@dataclass(frozen=True, kw_only=True)
class Opening:
    """Starts uploads to one asset (database and asset id); reports files that were rejected."""

    client: Vitrine
    asset: AssetIds
    settings: Settings
    pool: Executor
    settle: Settle
    fail_unreachable: Callable[[Sequence[LocalFile], Exception], None]

    def uploads_of(self, files: Sequence[LocalFile]) -> list[Opened]:
        """Return the uploads for the files; those of an earlier run come first."""
        measured = self._measure(files)
        uploads = self._find(measured)
        known = {going.file.file.key for upload in uploads for going in upload.files}
        opened: list[Opened] = []
        for upload in uploads:
            counts = {file.file.file.key: file.num_parts for file in upload.files}
            entry = upload.entry
            urls = PartUrls(self.client, entry.upload_id, counts)
            opened.append(
                Opened(upload_id=entry.upload_id, files=upload.files, urls=urls, entry=entry)
            )
        return [
            *opened,
            *self._open_uploads([file for file in measured if file.file.key not in known]),
        ]

    def _find(self, files: Sequence[Measured]) -> list[Found]:
        """Return uploads of an earlier run that continue some of the files."""
        journal = self.settings.journal
        if journal is None or not files:
            return []
        try:
            return find_uploads(self.client, journal, self.asset, files, self.pool)
        except (VitrineError, OSError):
            return []  # any problem is reported, with its reason, when the files are sent again

    def _measure(self, files: Sequence[LocalFile]) -> list[Measured]:
        running = [(file, self.pool.submit(measure, file)) for file in files]
        measured: list[Measured] = []
        for file, future in running:
            try:
                measured.append(future.result())
            except OSError as error:
                self.settle(file, Status.FAILED, f"cannot be read: {error.strerror}")
        return measured

    def _open_uploads(self, files: Sequence[Measured]) -> list[Opened]:
        """Start uploads for all files that the server accepts; report the others."""
        if not files:
            return []
        try:
            upload = self.client.uploads.initialise(
                *self.asset,
                [self._new(measured) for measured in files],
                max_part_urls=MAX_PART_URLS,
            )
        except (InvalidInputError, TooLargeError) as error:
            return self._open_without_refused(files, error)
        except VitrineError as error:
            self.fail_unreachable([measured.file for measured in files], error)
            return []
        return [self._track_upload(upload, files)]

    def _new(self, measured: Measured) -> NewFile:
        """Return the file as announced; parts have at least the requested size."""
        wanted = self.settings.part_bytes
        if wanted is None or measured.size == 0:
            number = None
        else:
            number = part_number(measured.size, wanted)
        announced = NewFile(
            relative_key=measured.file.key,
            file_size=measured.size,
            checksum_sha256=measured.checksum,
        )
        return announced if number is None else announced.model_copy(update={"num_parts": number})

    def _track_upload(self, upload: Upload, files: Sequence[Measured]) -> Opened:
        """Return the upload, written to the journal before its first part is sent."""
        pending = {file.relative_key.lstrip("/"): file for file in upload.files}
        going: list[OpenFile] = []
        urls = PartUrls(self.client, upload.upload_id, {})
        for measured in files:
            target = pending.get(measured.file.key.lstrip("/"))
            if target is None:
                self.settle(
                    measured.file, Status.FAILED, "the server started no upload for this file"
                )
                continue
            urls.add(measured.file.key, target.num_parts, target.part_upload_urls)
            going.append(
                OpenFile(
                    file=measured, upload_id_s3=target.upload_id_s3, num_parts=target.num_parts
                )
            )
        return Opened(
            upload_id=upload.upload_id,
            files=going,
            urls=urls,
            # Before the first part is sent: a crash after that loses nothing.
            entry=self._journal_entry(upload.upload_id, going),
        )

    def _journal_entry(self, upload_id: str, files: Sequence[OpenFile]) -> JournalEntry | None:
        journal = self.settings.journal
        if journal is None:
            return None
        noted = [
            JournalFile(
                path=str(file.file.file.path),
                key=file.file.file.key,
                size=file.file.size,
                checksum=file.file.checksum,
                upload_id_s3=file.upload_id_s3,
                num_parts=file.num_parts,
            )
            for file in files
        ]
        try:
            return journal.begin(*self.asset, upload_id, noted)
        except OSError:  # without a journal the next run sends all parts again
            return None

    def _open_without_refused(self, files: Sequence[Measured], error: ApiError) -> list[Opened]:
        named = refused_files(error, len(files))
        if named:
            for index, reason in named.items():
                self.settle(files[index].file, Status.REFUSED, reason)
            return self._open_uploads(
                [file for index, file in enumerate(files) if index not in named]
            )
        if len(files) == 1:
            # A problem of the asset or of the request itself is not one of this file.
            about_request = any(fact.field in _REQUEST_FIELDS for fact in error.errors)
            status = Status.FAILED if about_request else Status.REFUSED
            self.settle(files[0].file, status, str(error))
            return []
        # The error names no file; halving finds it within a few calls.
        middle = len(files) // 2
        return [*self._open_uploads(files[:middle]), *self._open_uploads(files[middle:])]


def refused_files(error: ApiError, count: int) -> dict[int, str]:
    """Return the files of the request that the server's error names, with reasons."""
    named: dict[int, str] = {}
    for fact in error.errors:
        match = _FILE_INDEX.search(fact.field)
        if match and int(match[1]) < count:
            named.setdefault(int(match[1]), fact.message)
    return named
