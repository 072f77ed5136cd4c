"""Files of an asset to a folder: resumed, verified, and never outside that folder.

A file is written under a hidden partial name and renamed only if size and checksum are correct, so
a file with the final name is complete. The partial name identifies the object.
"""

import functools
import hashlib
import os
import re
import threading
import time
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, Final

import httpx

from vitrine import api_models as api
from vitrine.client import Vitrine
from vitrine.config import binary_flag
from vitrine.errors import (
    IntegrityError,
    NotFoundError,
    UnreachableError,
    UnsafePathError,
    VitrineError,
)
from vitrine.models import FileInfo
from vitrine.quoting import quote_text
from vitrine.storage import StorageError
from vitrine.transfer.content import same_content
from vitrine.transfer.names import FORBIDDEN, compose_name, shown
from vitrine.transfer.report import FileOutcome, Observer, Report, Silent, Status

_CONTENT_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+|\*)")
_DEVICE = re.compile(r"(con|prn|aux|nul|(com|lpt)[0-9¹²³])", re.IGNORECASE)
# Files whose URLs one request returns; the API's limit is 1,500. They are used before they expire.
AHEAD: Final = 500
_PARTIAL: Final = 206
_UNSATISFIABLE: Final = 416


class MissingPathError(VitrineError):
    """The asset has no file at or below the path."""


def target_of(folder: Path, relative_path: str) -> Path:
    """Return the local path of a file of the asset.

    Raises:
        UnsafePathError: it would be outside the folder, also through a symbolic link.
    """
    segments = relative_path.removeprefix("/").split("/")
    for segment in segments:
        if segment in {"", ".", ".."} or _is_unsafe(segment):
            raise UnsafePathError(f"the path {quote_text(relative_path)} is not safe to write")
    root = folder.resolve()
    # A folder on the way may be a symbolic link to anywhere, which an earlier run did not create.
    parent = root.joinpath(*segments[:-1])
    if not parent.resolve().is_relative_to(root):
        raise UnsafePathError(
            f"{quote_text(relative_path)} would be outside {root}, through a symbolic link"
        )
    return parent / segments[-1]


def _is_unsafe(segment: str) -> bool:
    """Return whether a name has separators of other systems, or unusual characters.

    On Windows, also one that Windows would write to another place: a stream, a device, or the name
    without the dot or space at its end.
    """
    if "\\" in segment:
        return True
    if os.name == "nt" and (
        not set(FORBIDDEN).isdisjoint(segment)
        or segment.endswith((".", " "))
        or _DEVICE.fullmatch(segment.partition(".")[0].rstrip())
    ):
        return True
    return any(unicodedata.category(character) in {"Cc", "Cs"} for character in segment)


def download(
    client: Vitrine,
    database_id: str,
    asset_id: str,
    folder: Path,
    *,
    path: str | None = None,
    jobs: int = 4,
    observer: Observer | None = None,
) -> Report:
    """Download one file, the files below a path, or the whole asset, and report on each.

    Raises:
        MissingPathError: the path does not exist.
        ApiError: the asset cannot be listed.
    """
    keys = find_paths(client, database_id, asset_id, path)
    place = functools.partial(target_of, folder)
    run = Downloads(client, database_id, asset_id, folder, observer or Silent(), place)
    return run.download(keys, jobs=jobs)


def find_paths(client: Vitrine, database_id: str, asset_id: str, path: str | None) -> Sequence[str]:
    """Return the files of an asset that a path names: itself, those below it, or with None all.

    Raises:
        MissingPathError: the path does not exist.
        ApiError: the asset cannot be listed.
    """
    wanted = None if path is None else "/" + compose_name(path).strip("/")
    if wanted not in {None, "/"} and path is not None and not path.endswith("/"):
        try:
            info = client.files.info(database_id, asset_id, str(wanted))
        except NotFoundError:
            pass
        else:
            if not info.is_folder:
                return [info.relative_path]
    paths = [
        item.relative_path
        for item in client.files.list(database_id, asset_id, basic=True, page_size=1_500)
        if not item.is_folder and not item.is_archived
    ]
    if wanted in {None, "/"}:
        return paths
    below = [key for key in paths if key.startswith(f"{wanted}/")]
    if not below:
        raise MissingPathError(
            f"the asset {asset_id} has no file or folder {quote_text(path or '')}"
        )
    return below


@dataclass(frozen=True)
class _Plan:
    """A file to download: what it is, whether the folder has it, or why it cannot be downloaded."""

    key: str
    target: Path | None = None
    info: FileInfo | None = None
    is_there: int | None = None
    """The time of change of the file, if the folder has it with the same content."""
    reason: str = ""


@dataclass(frozen=True)
class Downloads:
    """Files of one asset on their way to a folder."""

    client: Vitrine
    database_id: str
    asset_id: str
    folder: Path
    observer: Observer
    place: Callable[[str], Path]
    """Returns the local path for a path in the asset, or raises UnsafePathError."""
    check: Callable[[str], None] | None = None
    """Called with a path in the asset before its file is replaced; raises if it must not be."""
    urls: dict[str, tuple[api.FileDownload, float]] = field(
        default_factory=dict[str, tuple[api.FileDownload, float]]
    )
    """The URLs for first attempts by key, each with the time until which it is used."""
    stopped: threading.Event = field(default_factory=threading.Event)
    """Set at the end, also after Ctrl-C: files that are being received are abandoned."""

    def download(self, keys: Sequence[str], *, jobs: int = 4) -> Report:
        """Download these files, and report on each."""
        # Names that differ by case only may be one file here: not written at the same time.
        groups: dict[str, list[str]] = {}
        for key in keys:
            groups.setdefault(key.casefold(), []).append(key)
        waiting = list(groups.values())
        pool = ThreadPoolExecutor(max(1, jobs), thread_name_prefix="vitrine-download")
        try:
            results: list[Iterator[list[FileOutcome]]] = []
            for start in range(0, len(waiting), AHEAD):
                # While files are downloaded, the next ones wait in the pool to be planned.
                plans = list(pool.map(self.plan_files, waiting[start : start + AHEAD]))
                self.request_urls(list(chain.from_iterable(plans)))
                results.append(pool.map(self.download_files, plans))
            outcomes = list(chain.from_iterable(chain.from_iterable(results)))
        finally:
            self.stopped.set()
            pool.shutdown(cancel_futures=True)
        return Report(files=tuple(outcomes))

    def plan_files(self, keys: Sequence[str]) -> list[_Plan]:
        plans: list[_Plan] = []
        for key in keys:
            target: Path | None = None
            try:
                target = self.place(key)
                info = self.client.files.info(self.database_id, self.asset_id, key)
                plans.append(_Plan(key, target, info, self._is_there(target, info)))
            except (VitrineError, OSError) as error:
                plans.append(_Plan(key, target, reason=str(error)))
        return plans

    def request_urls(self, plans: Sequence[_Plan]) -> None:
        """Request the URLs of the files that the folder does not have, in one request."""
        infos = [plan.info for plan in plans if plan.info and plan.is_there is None]
        if len(infos) < 2:
            return
        versions = {info.relative_path: info.version_id for info in infos}
        try:
            reply = self.client.downloads.links(self.database_id, self.asset_id, versions)
        except VitrineError:
            return  # The request of each file returns the reason.
        deadline = time.monotonic() + (reply.expires_in or 0) / 2
        self.urls.update({file.key: (file, deadline) for file in reply.files or () if file.key})

    def download_files(self, plans: Sequence[_Plan]) -> list[FileOutcome]:
        """Download files one after another, whose names differ by case only."""
        return [self._download_file(plan, plans[:index]) for index, plan in enumerate(plans)]

    def _download_file(self, plan: _Plan, earlier: Sequence[_Plan]) -> FileOutcome:
        """Download one file; errors do not affect the others."""
        status, reason, size = Status.FAILED, plan.reason or None, 0
        facts: dict[str, Any] = {}
        try:
            if plan.target and plan.info:
                for other in earlier:
                    with suppress(FileNotFoundError):
                        if other.target and plan.target.samefile(other.target):
                            fact = f"the folder ignores case, and has {quote_text(other.key)}"
                            raise UnsafePathError(fact)
                if plan.is_there is None:
                    modified, reason = self._fetch_into(plan.target, plan.info)
                    status = Status.DOWNLOADED
                else:
                    modified, status, reason = plan.is_there, Status.SKIPPED, None
                size = plan.info.size or 0
                facts = {
                    "modified": modified,
                    "checksum": plan.info.checksum_sha256,
                    "version_id": plan.info.version_id,
                }
        except (VitrineError, OSError) as error:
            reason = str(error)
        outcome = FileOutcome(
            path=shown(str(plan.target or self.folder)),
            status=status,
            size=size,
            asset_id=self.asset_id,
            key=plan.key,
            reason=reason,
            **facts,
        )
        self.observer.settled(outcome)
        return outcome

    def _fetch_into(self, target: Path, info: FileInfo) -> tuple[int, str | None]:
        """Return the file's time of change, and what could not be verified."""
        if info.size is None:
            raise IntegrityError("the server did not return the file's size")
        target.parent.mkdir(parents=True, exist_ok=True)
        # Again: a link may have been created since, and `mkdir` follows links.
        self.place(info.relative_path)
        self.observer.planned(files=1, size=info.size)
        # A hidden name that identifies the file and its content.
        content = info.checksum_sha256 or f"{info.etag}/{info.last_modified}/{info.size}"
        prefix = f".vitrine-{hashlib.sha256(target.name.encode()).hexdigest()[:16]}-"
        digest = hashlib.sha256(content.encode()).hexdigest()[:16]
        partial = target.with_name(f"{prefix}{digest}.part")
        # Opened to append; a symbolic link is not followed.
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
        with os.fdopen(os.open(partial, flags | binary_flag(), 0o666), "ab") as file:
            self._fill(file, info, info.size)
        verdict = same_content(partial, info.size, checksum=info.checksum_sha256, etag=info.etag)
        if verdict is False:
            # The next run would continue behind the wrong bytes.
            partial.unlink()
            raise IntegrityError("the received bytes do not match the file's checksum")
        modified = partial.stat().st_mtime_ns
        if self.check is not None:
            self.check(info.relative_path)
        partial.replace(target)
        for path in target.parent.glob(f"{prefix}*.part"):  # of older contents
            path.unlink(missing_ok=True)
        note = "only the size could be verified" if verdict is None else None
        return modified, note

    def _is_there(self, target: Path, info: FileInfo) -> int | None:
        size = info.size
        if size is None or target.is_symlink() or not target.is_file():
            return None
        facts = target.stat()
        if facts.st_size != size:
            return None
        same = same_content(target, size, checksum=info.checksum_sha256, etag=info.etag)
        return facts.st_mtime_ns if same else None

    def _fill(self, file: BinaryIO, info: FileInfo, size: int) -> None:
        """Download until the partial file is complete, each attempt from where the last ended."""
        retry = self.client.retry
        # Not a beginning of this file.
        if _length(file) > size:
            _cut(file, 0)
        start = _length(file)
        self.observer.moved(start)
        attempt = 0
        while start < size:
            attempt += 1
            failure = self._attempt(file, info, size)
            held, start = start, _length(file)
            if start >= size:
                return
            # Progress: the attempts are for one interruption, not for the whole file.
            if held < start:
                attempt = 0
            if attempt >= retry.attempts:
                raise failure or IntegrityError(f"only {start} of {size} bytes were received")
            self.client.sleep(retry.delay(max(1, attempt)))

    def _attempt(self, file: BinaryIO, info: FileInfo, size: int) -> VitrineError | None:
        """Make one attempt; return the error if another attempt may succeed."""
        try:
            self._fetch(file, info, size)
        except UnreachableError as error:
            return error
        except StorageError as error:
            # The partial file is longer than the object, or belongs to another one: from the
            # beginning.
            if error.status == _UNSATISFIABLE:
                self.observer.moved(-_length(file))
                _cut(file, 0)
                return error
            if self.client.retry.tries_status_again(error.status, repeatable=True):
                return error
            raise
        return None

    def _fetch(self, file: BinaryIO, info: FileInfo, size: int) -> None:
        start = _length(file)
        with self.client.storage.get(self._url(info), start=start) as response:
            is_partial = response.status_code == _PARTIAL
            span = _CONTENT_RANGE.fullmatch(response.headers.get("Content-Range", ""))
            if start and not (is_partial and span and int(span[1]) == start):
                self.observer.moved(-start)
                start = _cut(file, 0)
                if is_partial:
                    return
            _append(response, file, start=start, size=size, moved=self._report_bytes)

    def _report_bytes(self, size: int) -> None:
        """Report progress; after a stop, abandon the file, which a later run continues."""
        self.observer.moved(size)
        if self.stopped.is_set():
            raise VitrineError("stopped during the transfer")

    def _url(self, info: FileInfo) -> str:
        """Return the URL for one attempt: a new one if the last may have expired."""
        file, deadline = self.urls.pop(info.relative_path, (None, 0.0))
        if file and file.error:
            raise VitrineError(file.error)
        if file and file.download_url and time.monotonic() < deadline:
            return file.download_url
        return self.client.downloads.link(
            self.database_id, self.asset_id, info.relative_path, version_id=info.version_id
        ).download_url


def _append(
    response: httpx.Response,
    file: BinaryIO,
    *,
    start: int,
    size: int,
    moved: Callable[[int], None],
) -> None:
    """Write received bytes, but never more than the file's size."""
    held = start
    # Not buffered: a broken connection would lose a buffered piece.
    for piece in response.iter_raw():
        held += len(piece)
        if held > size:
            _cut(file, 0)
            raise IntegrityError(f"more than the file's {size} bytes were received")
        file.write(piece)
        moved(len(piece))
    file.flush()


def _length(file: BinaryIO) -> int:
    file.flush()
    return os.fstat(file.fileno()).st_size


def _cut(file: BinaryIO, length: int) -> int:
    file.flush()
    os.ftruncate(file.fileno(), length)
    return length
