"""Lock files: the exact artifacts of an engine with their checksums.

A line is `group:artifact:version[:classifier][@type] sha256`; `#` begins a comment.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from local.engines.errors import EngineError

_LINE = re.compile(
    r"(?P<group>[\w.-]+):(?P<artifact>[\w.-]+):(?P<version>[\w.+-]+)"
    r"(?::(?P<classifier>[\w.-]+))?(?:@(?P<type>\w+))? (?P<sha256>[0-9a-f]{64})"
)


@dataclass(frozen=True)
class Artifact:
    """One file of a Maven repository."""

    group: str
    artifact: str
    version: str
    classifier: str | None
    type: str

    @property
    def coordinate(self) -> str:
        """The coordinate, as in lock files and messages."""
        classifier = f":{self.classifier}" if self.classifier else ""
        kind = "" if self.type == "jar" else f"@{self.type}"
        return f"{self.group}:{self.artifact}:{self.version}{classifier}{kind}"

    @property
    def file_name(self) -> str:
        """The file's name in the repository."""
        classifier = f"-{self.classifier}" if self.classifier else ""
        return f"{self.artifact}-{self.version}{classifier}.{self.type}"

    @property
    def path(self) -> PurePosixPath:
        """The path of the file below the repository's address."""
        folder = PurePosixPath(*self.group.split("."), self.artifact, self.version)
        return folder / self.file_name


@dataclass(frozen=True)
class Locked:
    """An artifact and the SHA-256 that it must have."""

    artifact: Artifact
    sha256: str

    @property
    def line(self) -> str:
        """The lock line."""
        return f"{self.artifact.coordinate} {self.sha256}"


def lock_path(engine: str) -> Path:
    """Return the path of the lock file of `engine`."""
    return Path(__file__).with_name(f"{engine}.lock")


def read_lock(path: Path) -> list[Locked]:
    """Read a lock file.

    Raises:
        EngineError: a line is not valid, or two lines name the same file.
    """
    entries: dict[str, Locked] = {}
    for number, raw in enumerate(path.read_text(encoding="ascii").splitlines(), start=1):
        line = raw.partition("#")[0].strip()
        if not line:
            continue
        entry = _parsed(line)
        if entry is None:
            raise EngineError(f"{path.name} line {number} is not a lock line: {line}")
        if entry.artifact.file_name in entries:
            raise EngineError(f"{path.name} line {number}: {entry.artifact.file_name} is twice")
        entries[entry.artifact.file_name] = entry
    return list(entries.values())


def write_lock(path: Path, roots: Iterable[str], entries: Iterable[Locked]) -> None:
    """Write a lock file, sorted, with the root artifacts as comments."""
    head = [
        "# Written by `python -m local.engines.lock`, from:",
        *(f"#   {root}" for root in roots),
    ]
    lines = sorted(entry.line for entry in entries)
    path.write_text("\n".join([*head, *lines]) + "\n", encoding="ascii")


def _parsed(line: str) -> Locked | None:
    match = _LINE.fullmatch(line)
    if match is None:
        return None
    part = match.groupdict()
    return Locked(
        Artifact(
            group=str(part["group"]),
            artifact=str(part["artifact"]),
            version=str(part["version"]),
            classifier=part["classifier"],
            type=part["type"] or "jar",
        ),
        str(part["sha256"]),
    )
