"""The state folder: its layout, small files written atomically, and the lock on the folder.

The pumps store their progress in a separate database (`pumps/journal.py`).
"""

import json
import os
import secrets
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar, cast

from filelock import FileLock, Timeout
from pydantic import JsonValue

from local.errors import AlreadyRunningError, LocalError

REPOSITORY = Path(__file__).parents[1]
_KEPT_BY_RESET = frozenset({"tools", "layer", "runtime", "lock"})

_SECRET_KEY = "secret-key.json"

_Value = TypeVar("_Value")


def tools_folder() -> Path:
    """Return the folder of downloads and built programs, shared by all state folders."""
    return Path(os.environ.get("VITRINE_TOOLS", REPOSITORY / ".local" / "tools")).resolve()


@dataclass(frozen=True)
class StateFolder:
    """The paths inside one state folder."""

    root: Path

    @property
    def data(self) -> Path:
        """The folder of the engines' data."""
        return self.root / "data"

    @property
    def logs(self) -> Path:
        """The folder of the engines' logs, the runner's, and, below it, the functions'."""
        return self.root / "logs"

    @property
    def function_logs(self) -> Path:
        """The folder with one log per function."""
        return self.logs / "functions"

    @property
    def assembly(self) -> Path:
        """The folder of the synthesized assembly."""
        return self.root / "assembly"

    @property
    def endpoint(self) -> Path:
        """The file for scripts, which exists only while the runtime serves."""
        return self.root / "endpoint.json"

    @property
    def journal(self) -> Path:
        """The file of the pumps' checkpoints and seen objects."""
        return self.root / "pumps.sqlite"

    @property
    def in_memory_marker_path(self) -> Path:
        """The file that marks the folder of a runtime that persists nothing."""
        return self.root / "in-memory"

    def create(self) -> None:
        """Create the folder, readable by its owner only (it contains secrets)."""
        self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.function_logs.mkdir(parents=True, exist_ok=True)

    def lock(self) -> FileLock:
        """Lock the folder for this process.

        Raises:
            AlreadyRunningError: another runtime has the lock.
        """
        lock = FileLock(self.root / "lock")
        try:
            lock.acquire(timeout=0)
        except Timeout as error:
            where = self.read("endpoint.json", cast("dict[str, JsonValue]", {})).get("api")
            serving = f" and serves {where}" if where else ""
            raise AlreadyRunningError(
                f"a runtime already uses {self.root}{serving}; stop it with `down`"
            ) from error
        return lock

    def read(self, name: str, default: _Value) -> _Value:
        """Return the JSON file `name`, or `default` if it does not exist.

        Raises:
            LocalError: the file is damaged.
        """
        try:
            return cast("_Value", json.loads((self.root / name).read_text(encoding="utf-8")))
        except FileNotFoundError:
            return default
        except ValueError as error:
            raise LocalError(f"{self.root / name} is damaged: {error}") from error

    def write(self, name: str, value: object) -> None:
        """Replace the JSON file `name` atomically, readable by its owner only.

        Raises:
            OSError: it cannot be written; the old file is unchanged.
        """
        scratch = self.root / f".{name}.new"
        try:
            scratch.unlink(missing_ok=True)
            descriptor = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                json.dump(value, file, indent=1)
                file.flush()
                os.fsync(file.fileno())
            scratch.replace(self.root / name)
        except OSError as error:  # the error of a full disk does not contain the file's name
            raise OSError(error.errno, error.strerror, str(self.root / name)) from error

    def secret_key(self) -> str:
        """Return the engines' secret key.

        Raises:
            LocalError: the file is damaged.
        """
        known = self.read(_SECRET_KEY, "")
        if known:
            return known
        # Stored, so that presigned URLs remain valid after a restart.
        self.write(_SECRET_KEY, fresh := secrets.token_hex(32))
        return fresh

    def empty(self) -> None:
        """Remove everything except the tools, the installed layers and the lock itself."""
        for entry in self.root.iterdir():
            if entry.name in _KEPT_BY_RESET:
                continue
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry)
            else:
                entry.unlink()
