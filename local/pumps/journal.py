"""The state of the pumps across stops and kills: a small database in the state folder.

If a power failure loses a write, something is delivered twice.
"""

import sqlite3
import threading
from pathlib import Path

from local.errors import LocalError

_SCHEMA = """
CREATE TABLE IF NOT EXISTS readers (reader TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS positions (
    reader TEXT NOT NULL, shard TEXT NOT NULL, sequence TEXT, finished INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (reader, shard)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS objects (
    bucket TEXT NOT NULL, key TEXT NOT NULL, version TEXT NOT NULL, marker INTEGER NOT NULL,
    PRIMARY KEY (bucket, key, version)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS schedules (rule TEXT PRIMARY KEY, last REAL NOT NULL) WITHOUT ROWID;
"""

Version = tuple[str, str, bool]
"""The key, the version id, and whether the version is a delete marker."""


class Journal:
    """Positions in streams, and known objects. Threads may share it."""

    def __init__(self, path: Path) -> None:
        """Open or create the database.

        Raises:
            LocalError: it is damaged, or the disk is full.
        """
        self._lock = threading.Lock()
        try:
            self._base = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
            self._base.execute("PRAGMA journal_mode=WAL")
            self._base.execute("PRAGMA synchronous=NORMAL")
            self._base.executescript(_SCHEMA)
        except sqlite3.Error as error:
            raise LocalError(f"{path} cannot be opened: {error}") from error

    def close(self) -> None:
        """Close the database."""
        with self._lock:
            self._base.close()

    def has_started(self, reader: str) -> bool:
        """Return whether `reader` has chosen its starting position."""
        with self._lock:
            rows = self._base.execute("SELECT 1 FROM readers WHERE reader = ?", (reader,))
            return rows.fetchone() is not None

    def begin(self, reader: str, positions: dict[str, str]) -> None:
        """Record where `reader` starts in each shard; others are read from their beginning."""
        with self._lock, self._base:
            self._base.execute("BEGIN")
            self._base.execute("INSERT OR IGNORE INTO readers VALUES (?)", (reader,))
            self._base.executemany(
                "INSERT OR REPLACE INTO positions (reader, shard, sequence) VALUES (?, ?, ?)",
                [(reader, shard, sequence) for shard, sequence in positions.items()],
            )

    def position(self, reader: str, shard: str) -> tuple[str | None, bool]:
        """Return the last sequence number that was processed, and whether the shard is finished."""
        with self._lock:
            row = self._base.execute(
                "SELECT sequence, finished FROM positions WHERE reader = ? AND shard = ?",
                (reader, shard),
            ).fetchone()
        return (None, False) if row is None else (row[0], bool(row[1]))

    def advance(self, reader: str, shard: str, sequence: str) -> None:
        """Record that all records up to `sequence` are processed."""
        with self._lock:
            self._base.execute(
                "INSERT INTO positions (reader, shard, sequence) VALUES (?, ?, ?)"
                " ON CONFLICT DO UPDATE SET sequence = excluded.sequence",
                (reader, shard, sequence),
            )

    def finish(self, reader: str, shard: str) -> None:
        """Record that a closed shard was read to its end."""
        with self._lock:
            self._base.execute(
                "INSERT INTO positions (reader, shard, finished) VALUES (?, ?, 1)"
                " ON CONFLICT DO UPDATE SET finished = 1",
                (reader, shard),
            )

    def objects(self, bucket: str, key: str | None = None) -> set[Version]:
        """Return the versions for which events were sent, of one key or of the whole bucket."""
        chosen = "SELECT key, version, marker FROM objects WHERE bucket = ?"
        with self._lock:
            if key is None:
                rows = self._base.execute(chosen, (bucket,)).fetchall()
            else:
                rows = self._base.execute(f"{chosen} AND key = ?", (bucket, key)).fetchall()
        return {(row[0], row[1], bool(row[2])) for row in rows}

    def add_object(self, bucket: str, version: Version) -> None:
        """Record that the event of a new version was sent."""
        with self._lock:
            self._base.execute(
                "INSERT OR REPLACE INTO objects VALUES (?, ?, ?, ?)", (bucket, *version)
            )

    def remove_object(self, bucket: str, version: Version) -> None:
        """Record that the event of a deleted version was sent."""
        with self._lock:
            self._base.execute(
                "DELETE FROM objects WHERE bucket = ? AND key = ? AND version = ?",
                (bucket, version[0], version[1]),
            )

    def last_run(self, rule: str) -> float | None:
        """Return when a schedule last ran (seconds since 1970)."""
        with self._lock:
            row = self._base.execute(
                "SELECT last FROM schedules WHERE rule = ?", (rule,)
            ).fetchone()
        return None if row is None else float(row[0])

    def ran(self, rule: str, when: float) -> None:
        """Record when a schedule ran."""
        with self._lock:
            self._base.execute("INSERT OR REPLACE INTO schedules VALUES (?, ?)", (rule, when))
