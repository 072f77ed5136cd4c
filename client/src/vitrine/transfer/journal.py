"""Records unfinished uploads on this machine, so that another run can continue them.

There is one file per upload, private to the user. The first line lists its files; each further one
records that a part of a file is stored, or (part 0) that a file is done. An incomplete line after a
crash is ignored. Losing a journal costs only time.
"""

import hashlib
import os
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from platformdirs import user_state_path
from pydantic import BaseModel, ConfigDict, ValidationError

from vitrine.config import binary_flag
from vitrine.errors import ConfigurationError

_SUFFIX: Final = ".upload"
# Parts are counted from 1.
_SETTLED: Final = 0
# The server keeps uploads for seven days.
_DAYS: Final = 8


class JournalFile(BaseModel):
    """A file of an upload, as it was on disk."""

    model_config = ConfigDict(frozen=True)

    path: str
    key: str
    size: int
    checksum: str
    upload_id_s3: str
    num_parts: int


class _Header(BaseModel):
    model_config = ConfigDict(frozen=True)

    api: str
    database_id: str
    asset_id: str
    upload_id: str
    files: tuple[JournalFile, ...]


class _Line(BaseModel):
    model_config = ConfigDict(frozen=True)

    key: str
    part: int
    etag: str


@dataclass(frozen=True, kw_only=True)
class JournalEntry:
    """An unfinished upload: its files by key, and the ETags of the parts sent.

    Safe to share between threads: several batches may continue files of one upload.
    """

    path: Path
    database_id: str
    asset_id: str
    upload_id: str
    files: Mapping[str, JournalFile]
    parts: Mapping[tuple[str, int], str]
    left: set[str]
    """The files that are not finished."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def record(self, key: str, part: int, etag: str) -> None:
        """Record that a part is stored, if the disk allows it."""
        with self._lock, suppress(OSError):
            self._write(_Line(key=key, part=part, etag=etag))

    def settle(self, keys: Iterable[str]) -> None:
        """Record that these files are done; the journal ends with the last one."""
        with self._lock, suppress(OSError):
            settled = self.left.intersection(keys)
            self.left.difference_update(settled)
            if self.left:
                self._write(*(_Line(key=key, part=_SETTLED, etag="") for key in settled))
            else:
                self.path.unlink(missing_ok=True)

    def remove(self) -> None:
        """Remove the journal of the upload, which no longer exists."""
        self.settle(list(self.left))

    def _write(self, *lines: _Line) -> None:
        if lines and self.path.exists():
            with self.path.open("a", encoding="utf-8") as file:
                file.writelines(f"{line.model_dump_json()}\n" for line in lines)


def default_folder() -> Path:
    return user_state_path("vitrine") / "uploads"


class Journal:
    """The journals of one deployment's uploads in a folder."""

    def __init__(self, folder: Path, api_url: str) -> None:
        self._folder = folder
        self._api = api_url
        self._lock = threading.Lock()
        self._known: dict[Path, JournalEntry] = {}

    def begin(
        self, database_id: str, asset_id: str, upload_id: str, files: Sequence[JournalFile]
    ) -> JournalEntry:
        """Create the journal of an upload that was just started.

        Raises:
            OSError: the folder cannot be written.
        """
        header = _Header(
            api=self._api,
            database_id=database_id,
            asset_id=asset_id,
            upload_id=upload_id,
            files=tuple(files),
        )
        # As the files in it.
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        path = self._folder / f"{_name(self._api, upload_id)}{_SUFFIX}"
        # A complete file replaces the name at once, so no other process reads half a journal.
        fresh = path.with_suffix(f".{os.getpid()}")
        # Only for this user: paths of local files are in it.
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | binary_flag(), 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(f"{header.model_dump_json()}\n")
        fresh.replace(path)
        entry = _entry(path, header, [])
        with self._lock:
            self._known[path] = entry
        return entry

    def entries(self) -> Iterator[JournalEntry]:
        """Return the unfinished uploads, oldest first; unreadable journals are left out."""
        if not self._folder.is_dir():
            return
        paths = [path for path in self._folder.iterdir() if path.suffix == _SUFFIX]
        for path in sorted(paths, key=_modification_time):
            if time.time() - _modification_time(path) > _DAYS * 86_400:
                path.unlink(missing_ok=True)
                continue
            entry = self._read(path)
            if entry is not None:
                yield entry

    def entry(self, upload_id: str) -> JournalEntry:
        """Return the journal of one upload.

        Raises:
            ConfigurationError: this machine has none.
        """
        path = self._folder / f"{_name(self._api, upload_id)}{_SUFFIX}"
        entry = self._read(path)
        if entry is None:
            raise ConfigurationError(
                f"there is no record of the upload {upload_id} on this machine: import the "
                "folder again"
            )
        return entry

    def of_asset(self, database_id: str, asset_id: str) -> list[JournalEntry]:
        """Return the unfinished uploads to one asset, newest first."""
        wanted = (database_id, asset_id)
        entries = [
            entry for entry in self.entries() if (entry.database_id, entry.asset_id) == wanted
        ]
        # The newest has the most recent state of a file.
        return entries[::-1]

    def _read(self, path: Path) -> JournalEntry | None:
        """Return the entry, the same object for all callers.

        None if damaged or of another deployment.
        """
        with self._lock:
            if path not in self._known:
                entry = _read(path, self._api)
                if entry is None:
                    return None
                self._known[path] = entry
            return self._known[path]


def _name(api: str, upload_id: str) -> str:
    """Return a file name for an id."""
    # A digest: an id comes from a server and may be no safe path.
    return hashlib.sha256(f"{api}\n{upload_id}".encode()).hexdigest()[:32]


def _modification_time(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def _read(path: Path, api: str) -> JournalEntry | None:
    try:
        first, *lines = path.read_text(encoding="utf-8").splitlines() or [""]
        header = _Header.model_validate_json(first)
    except (FileNotFoundError, UnicodeDecodeError, ValidationError):
        return None
    if header.api != api:
        return None
    noted: list[_Line] = []
    for text in lines:
        with suppress(ValidationError):  # incomplete after a crash
            noted.append(_Line.model_validate_json(text))
    return _entry(path, header, noted)


def _entry(path: Path, header: _Header, noted: Sequence[_Line]) -> JournalEntry:
    files = {file.key: file for file in header.files}
    return JournalEntry(
        path=path,
        database_id=header.database_id,
        asset_id=header.asset_id,
        upload_id=header.upload_id,
        files=files,
        parts={(line.key, line.part): line.etag for line in noted if line.part != _SETTLED},
        left=set(files) - {line.key for line in noted if line.part == _SETTLED},
    )
