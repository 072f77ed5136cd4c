"""Imports a folder into a database: finds or creates assets, compares files, sends missing ones.

The state is read from the server, so a second run after any interruption continues where the first
one ended. With a journal it also continues within files.
"""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from vitrine.client import Vitrine
from vitrine.errors import UnreachableError, VitrineError
from vitrine.models import FileItem
from vitrine.transfer import names
from vitrine.transfer.content import expected_parts, is_whole_object, same_content
from vitrine.transfer.opening import Settings
from vitrine.transfer.report import (
    AssetOutcome,
    FileOutcome,
    ImportReport,
    Observer,
    Silent,
    Status,
)
from vitrine.transfer.scan import Folder, LocalFile, Scan, scan
from vitrine.transfer.targets import AssetTargets, Target, ensure_database
from vitrine.transfer.uploading import BatchUpload
from vitrine.transfer.urls import MAX_REPLY_URLS

# Each file has URLs in the reply, and one call of the server completes all of them.
FILES_A_BATCH: Final = 50
# Size of the files in one batch. Part URLs are valid for an hour, and a batch must be uploaded well
# before that.
BYTES_A_BATCH: Final = 1024**3
# While one batch is completed by the server, the others send; each is started by a request of its
# own.
BATCHES_AT_ONCE: Final = 4
# The largest page of the route with `basic`.
LISTING_PAGE: Final = 1_500


def import_directory(
    client: Vitrine,
    directory: Path,
    *,
    database_id: str | None = None,
    tags: Sequence[str] = (),
    jobs: int = 8,
    observer: Observer | None = None,
    settings: Settings | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> ImportReport:
    """Import the folder and report on every file; existing files are skipped.

    Each first-level folder becomes an asset of its name, loose files one named after the folder.
    `jobs` limits the parallel transfers. A file that fails does not stop the others.

    Raises:
        OSError: the folder cannot be listed.
        VitrineError: the database can neither be found nor created.
    """
    started = clock()
    content = scan(directory)
    database = database_id or names.database_id(content.root.name)
    ensure_database(client, database, origin=content.root.name)
    run = _Import(
        client=client,
        database_id=database,
        targets=AssetTargets(client, database, tags),
        observer=observer or Silent(),
        settings=settings or Settings(),
        stopped=threading.Event(),
        batches=ThreadPoolExecutor(BATCHES_AT_ONCE, thread_name_prefix="vitrine-batch"),
        parts=ThreadPoolExecutor(max(1, jobs), thread_name_prefix="vitrine-part"),
    )
    try:
        run.import_all(content)
    finally:
        run.close()
    return run.report(seconds=clock() - started)


def upload_files(
    client: Vitrine,
    database_id: str,
    asset_id: str,
    files: Sequence[LocalFile],
    *,
    jobs: int = 8,
    observer: Observer | None = None,
    settings: Settings | None = None,
    done: Callable[[Sequence[FileOutcome]], None] = lambda _: None,
) -> list[FileOutcome]:
    """Upload files to an asset that exists, and return the outcome of each.

    `done` is called with the outcomes of each batch, one call at a time.
    """
    planned = [_Planned(asset_id=asset_id, file=file, there=None) for file in files]
    parts = ThreadPoolExecutor(max(1, jobs), thread_name_prefix="vitrine-part")
    batches = ThreadPoolExecutor(BATCHES_AT_ONCE, thread_name_prefix="vitrine-batch")
    stopped = threading.Event()

    def upload(batch: Sequence[_Planned]) -> list[FileOutcome]:
        running = BatchUpload(
            client,
            database_id=database_id,
            asset_id=asset_id,
            parts=parts,
            observer=observer or Silent(),
            stopped=stopped,
            settings=settings,
        )
        return running.run([item.file for item in batch])

    outcomes: list[FileOutcome] = []
    try:
        for finished in as_completed(
            [batches.submit(upload, item) for item in batches_of(planned)]
        ):
            done(finished.result())
            outcomes += finished.result()
    finally:
        stopped.set()
        batches.shutdown(cancel_futures=True)
        parts.shutdown(cancel_futures=True)
    return outcomes


@dataclass(frozen=True, kw_only=True)
class _Planned:
    """A local file, its asset, and the stored file with the same path."""

    asset_id: str
    file: LocalFile
    there: FileItem | None


@dataclass(kw_only=True)
class _Import:
    client: Vitrine
    database_id: str
    targets: AssetTargets
    observer: Observer
    settings: Settings
    stopped: threading.Event
    batches: Executor
    parts: Executor
    assets: list[AssetOutcome] = field(default_factory=list[AssetOutcome])
    outcomes: list[FileOutcome] = field(default_factory=list[FileOutcome])

    def close(self) -> None:
        """Start nothing new, and abort running parts (there are some after Ctrl-C)."""
        self.stopped.set()
        self.batches.shutdown(cancel_futures=True)
        self.parts.shutdown(cancel_futures=True)

    def report(self, *, seconds: float) -> ImportReport:
        return ImportReport(
            database_id=self.database_id,
            assets=tuple(sorted(self.assets, key=lambda asset: asset.asset_name)),
            files=tuple(sorted(self.outcomes, key=lambda outcome: outcome.path)),
            seconds=seconds,
        )

    def import_all(self, content: Scan) -> None:
        for problem in content.problems:
            status = Status.FAILED if problem.unreadable else Status.REFUSED
            self._record(FileOutcome(path=problem.path, status=status, reason=problem.reason))
        # Compared before anything is sent, so that the progress bar has a total.
        planned = [item for plan in self.batches.map(self._plan, content.folders) for item in plan]
        missing = [
            item
            for item, same in zip(planned, self.parts.map(self._is_there, planned), strict=True)
            if not same
        ]
        self.observer.planned(files=len(missing), size=sum(item.file.size for item in missing))
        for outcomes in self.batches.map(self._upload, list(batches_of(missing))):
            self.outcomes.extend(outcomes)

    def _plan(self, folder: Folder) -> list[_Planned]:
        """Compare the asset's files with those on the server; all of them fail if listing fails."""
        try:
            if self.stopped.is_set():
                raise UnreachableError("not tried: the server is unreachable")
            target = self.targets.ensure(folder.name)
            there = self._list_files(target)
        except VitrineError as error:
            if isinstance(error, UnreachableError):
                self.stopped.set()
            for file in folder.files:
                self._settle(file, None, Status.FAILED, str(error))
            if not folder.files:
                failed = FileOutcome(path=folder.name, status=Status.FAILED, reason=str(error))
                self._record(failed)
            return []
        asset = target.asset
        self.assets.append(
            AssetOutcome(
                asset_id=asset.asset_id,
                asset_name=asset.asset_name,
                created=target.created,
                location=asset.asset_location.key if asset.asset_location else None,
            )
        )
        return [
            _Planned(asset_id=asset.asset_id, file=file, there=there.get(file.key))
            for file in folder.files
        ]

    def _list_files(self, target: Target) -> dict[str, FileItem]:
        if target.created:
            return {}
        listed = self.client.files.list(
            self.database_id, target.asset.asset_id, basic=True, page_size=LISTING_PAGE
        )
        return {item.relative_path: item for item in listed if not item.is_folder}

    def _is_there(self, planned: _Planned) -> bool:
        """Return whether the same content is stored; if unknown, the file is sent (again)."""
        there, file = planned.there, planned.file
        if there is None or (there.size is not None and there.size != file.size):
            return False
        size, checksum, etag = there.size, there.checksum_sha256, there.etag
        try:
            # A checksum of parts cannot be compared with that of a file.
            if size is None or not is_whole_object(checksum):
                info = self.client.files.info(self.database_id, planned.asset_id, file.key)
                size, checksum, etag = info.size, info.checksum_sha256, info.etag
            same = size == file.size and bool(
                same_content(file.path, file.size, checksum=checksum, etag=etag)
            )
        except (VitrineError, OSError):
            # Any problem is reported, with its reason, when the file is sent.
            return False
        if same:
            self._settle(file, planned.asset_id, Status.SKIPPED)
        return same

    def _upload(self, batch: Sequence[_Planned]) -> list[FileOutcome]:
        upload = BatchUpload(
            self.client,
            database_id=self.database_id,
            asset_id=batch[0].asset_id,
            parts=self.parts,
            observer=self.observer,
            stopped=self.stopped,
            settings=self.settings,
        )
        return upload.run([planned.file for planned in batch])

    def _settle(
        self, file: LocalFile, asset_id: str | None, status: Status, reason: str | None = None
    ) -> None:
        self._record(
            FileOutcome(
                path=names.shown(str(file.path)),
                status=status,
                size=file.size,
                asset_id=asset_id,
                key=file.key,
                reason=reason,
            )
        )

    def _record(self, outcome: FileOutcome) -> None:
        self.outcomes.append(outcome)
        self.observer.settled(outcome)


def batches_of(planned: Sequence[_Planned]) -> Iterator[list[_Planned]]:
    """Split the files into calls for one asset each, limited in files, part URLs and bytes."""
    batch: list[_Planned] = []
    parts = size = 0
    for item in planned:
        more = expected_parts(item.file.size)
        full = (
            len(batch) >= FILES_A_BATCH
            or parts + more > MAX_REPLY_URLS
            or size + item.file.size > BYTES_A_BATCH
        )
        # An upload is for one asset.
        if batch and (full or item.asset_id != batch[0].asset_id):
            yield batch
            batch, parts, size = [], 0, 0
        batch.append(item)
        parts += more
        size += item.file.size
    if batch:
        yield batch
