"""What a transfer did, file by file, and who may watch it."""

from enum import StrEnum
from typing import Protocol

from vitrine.models import Wire


class Status(StrEnum):
    UPLOADED = "uploaded"
    DOWNLOADED = "downloaded"
    SKIPPED = "skipped"
    """It was there already, the same."""
    REFUSED = "refused"
    """A rule keeps it out; the reason says which."""
    FAILED = "failed"
    """It should be there and is not."""


class FileOutcome(Wire):
    path: str
    """On the disk."""
    status: Status
    size: int = 0
    asset_id: str | None = None
    key: str | None = None
    """In the asset."""
    reason: str | None = None


class AssetOutcome(Wire):
    asset_id: str
    asset_name: str
    created: bool
    location: str | None = None
    """The key under which the asset's files lie in its bucket."""


class Observer(Protocol):
    """Hears of a transfer while it runs; called from several threads, so it must not block."""

    def planned(self, *, files: int, size: int) -> None:
        """So many more files and bytes will be moved."""
        ...

    def moved(self, size: int) -> None:
        """Bytes went over the wire; negative where an attempt has to be repeated."""
        ...

    def finishing(self, *, files: int) -> None:
        """So many more files are sent, and finished by the server now; fewer where negative."""
        ...

    def settled(self, outcome: FileOutcome) -> None:
        """The fate of one file is known."""
        ...


class Silent:
    """An observer that looks away."""

    def planned(self, *, files: int, size: int) -> None:
        pass

    def moved(self, size: int) -> None:
        pass

    def finishing(self, *, files: int) -> None:
        pass

    def settled(self, outcome: FileOutcome) -> None:
        pass


class Report(Wire):
    """The end of a transfer."""

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
