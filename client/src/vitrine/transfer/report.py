"""The results of a transfer, file by file, and its observers."""

from enum import StrEnum
from typing import Protocol

from pydantic import Field

from vitrine.models import Wire


class Status(StrEnum):
    UPLOADED = "uploaded"
    DOWNLOADED = "downloaded"
    SKIPPED = "skipped"
    """The same file existed already."""
    REFUSED = "refused"
    """A rule rejects the file; the reason names it."""
    ARCHIVED = "archived"
    """The asset's file was archived."""
    REMOVED = "removed"
    """The folder's file was removed."""
    FAILED = "failed"
    """The file could not be stored."""


class FileOutcome(Wire):
    path: str
    """The path on the disk."""
    status: Status
    size: int = 0
    asset_id: str | None = None
    key: str | None = None
    """The path in the asset."""
    reason: str | None = None
    modified: int | None = Field(default=None, exclude=True)
    """The time of the last change of the file on the disk, whose content was transferred."""
    checksum: str | None = Field(default=None, exclude=True)
    """The SHA-256 of its content."""
    version_id: str | None = Field(default=None, exclude=True)
    """The S3 version that was downloaded."""


class AssetOutcome(Wire):
    asset_id: str
    asset_name: str
    created: bool
    location: str | None = None
    """The key prefix of the asset's files in its bucket."""


class Observer(Protocol):
    """Observes a running transfer; called from several threads, so it must not block."""

    def planned(self, *, files: int, size: int) -> None:
        """Called with the number of files and bytes that will be transferred."""
        ...

    def moved(self, size: int) -> None:
        """Called with the number of bytes sent; negative if an attempt has to be repeated."""
        ...

    def finishing(self, *, files: int) -> None:
        """Called with the number of files that the server is finishing; fewer if negative."""
        ...

    def settled(self, outcome: FileOutcome) -> None:
        """Called with the result of one file."""
        ...


class Silent:
    """An observer that does nothing."""

    def planned(self, *, files: int, size: int) -> None:
        pass

    def moved(self, size: int) -> None:
        pass

    def finishing(self, *, files: int) -> None:
        pass

    def settled(self, outcome: FileOutcome) -> None:
        pass


class Report(Wire):
    """The result of a transfer."""

    files: tuple[FileOutcome, ...]

    def of(self, *statuses: Status) -> tuple[FileOutcome, ...]:
        return tuple(outcome for outcome in self.files if outcome.status in statuses)

    @property
    def failed(self) -> bool:
        return bool(self.of(Status.FAILED))

    def counts(self) -> dict[str, int]:
        return {status.value: len(self.of(status)) for status in Status}


class ImportReport(Report):
    database_id: str
    assets: tuple[AssetOutcome, ...]
    seconds: float
