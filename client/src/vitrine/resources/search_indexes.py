"""For administrators: consistency of the search indexes, repair and rebuild."""

from collections.abc import Sequence

from pydantic import JsonValue

from vitrine.models import Wire
from vitrine.resources.registry import given
from vitrine.transport import Transport, path_of


class Work(Wire):
    """The job that does the work; `started` is false if one was running already."""

    job_id: str
    started: bool = False
    message: str | None = None


class UnfinishedWork(Wire):
    """A job on the indexes that has not ended, or failed."""

    job_id: str
    kind: str
    state: str
    items_done: int = 0
    phase: str | None = None


class Drifting(Wire):
    """A document that is `missing`, `stale` or `extra`."""

    drift: str
    document_id: str
    database_id: str | None = None
    asset_id: str | None = None
    key: str | None = None


class DriftReport(Wire):
    """The report of the last complete check."""

    job_id: str
    started_at: str | None = None
    finished_at: str | None = None
    documents: int = 0
    missing: int = 0
    stale: int = 0
    extra: int = 0
    refused: int = 0
    unreadable: int = 0
    oldest_unindexed_seconds: int = 0
    examples: tuple[Drifting, ...] = ()

    @property
    def drift(self) -> int:
        """Return how many documents differ."""
        return self.missing + self.stale + self.extra


class IndexStanding(Wire):
    alias: str
    reads: str
    writes: tuple[str, ...] = ()
    differences: tuple[str, ...] = ()


class Consistency(Wire):
    """The state of the indexes; `corrections` lists the operations that correct differences."""

    report: DriftReport | None = None
    work: tuple[UnfinishedWork, ...] = ()
    indexes: tuple[IndexStanding, ...] = ()
    corrections: tuple[str, ...] = ()


class SearchIndexes:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def consistency(self) -> Consistency:
        """Return the report of the last check, and the running jobs."""
        return self._transport.read(Consistency, path_of("admin", "search", "consistency"))

    def check(self) -> Work:
        """Start a check of everything, unless one is running."""
        return self._start("consistency", {})

    def repair(
        self,
        *,
        database_id: str | None = None,
        asset_id: str | None = None,
        documents: Sequence[dict[str, str]] | None = None,
    ) -> Work:
        """Start a repair of the named documents; of everything if none are named."""
        everything = True if database_id is None and documents is None else None
        named: list[JsonValue] | None = None if documents is None else [{**d} for d in documents]
        body = given(all=everything, databaseId=database_id, assetId=asset_id, documents=named)
        return self._start("repair", body)

    def reindex(self) -> Work:
        """Start a reindex, unless one is running. Raises ConflictError if one has failed."""
        return self._start("reindex", {})

    def _start(self, name: str, body: dict[str, JsonValue]) -> Work:
        return self._transport.write(Work, "POST", path_of("admin", "search", name), body=body)
