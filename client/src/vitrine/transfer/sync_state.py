"""The common state of a folder and an asset after their last synchronization.

There is one file per folder, asset and deployment, private to the user. Each line records one file
and replaces earlier lines of it; an incomplete line after a crash is ignored. Losing the file costs
time only: contents are compared again, and a pull removes nothing that the lost file recorded.
"""

import hashlib
import os
import threading
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from platformdirs import user_state_path
from pydantic import BaseModel, ConfigDict, ValidationError

from vitrine.config import binary_flag


class Entry(BaseModel):
    """A file as it was in the folder and in the asset when they were alike."""

    model_config = ConfigDict(frozen=True)

    size: int
    modified: int
    """The time of its last change on the disk, in nanoseconds."""
    version: str | None = None
    """The S3 version; None if it is unknown, so that contents are compared."""
    checksum: str | None = None
    pulled: bool = False
    """Whether a pull wrote the file, so that a pull may remove it."""


class _Line(BaseModel):
    model_config = ConfigDict(frozen=True)

    key: str
    entry: Entry | None
    """None if neither side has the file any more."""


def default_sync_folder() -> Path:
    return user_state_path("vitrine") / "sync"


class SyncState:
    """The entries of one folder and one asset, by path below both; safe to share by threads."""

    def __init__(self, folder: Path, names: Iterable[str]) -> None:
        """Read the state of a pair that `names` identify: deployment, asset, folder."""
        name = hashlib.sha256("\n".join(names).encode("utf-8", "surrogatepass")).hexdigest()[:32]
        self._path = folder / f"{name}.sync"
        self._lock = threading.Lock()
        self._is_stale = False
        self.entries: dict[str, Entry] = {}
        with suppress(FileNotFoundError):
            for text in self._path.read_text(encoding="utf-8", errors="replace").splitlines():
                with suppress(ValidationError):  # incomplete after a crash
                    self._apply(_Line.model_validate_json(text))

    def record(self, key: str, entry: Entry | None) -> None:
        """Store the entry of a file, or with None that there is none.

        Raises:
            OSError: the state cannot be written.
        """
        line = _Line(key=key, entry=entry)
        with self._lock:
            self._apply(line)
            self._is_stale = True
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | binary_flag()
            with os.fdopen(os.open(self._path, flags, 0o600), "ab") as file:
                file.write(f"{line.model_dump_json()}\n".encode())

    def compact(self) -> None:
        """Rewrite the file with one line for each entry, if something was recorded."""
        with self._lock:
            if not self._is_stale:
                return
            fresh = self._path.with_suffix(f".{os.getpid()}")
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | binary_flag()
            with os.fdopen(os.open(fresh, flags, 0o600), "wb") as file:
                for key, entry in self.entries.items():
                    file.write(f"{_Line(key=key, entry=entry).model_dump_json()}\n".encode())
            fresh.replace(self._path)
            self._is_stale = False

    def _apply(self, line: _Line) -> None:
        if line.entry is None:
            self.entries.pop(line.key, None)
        else:
            self.entries[line.key] = line.entry
