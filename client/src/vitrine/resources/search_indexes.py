"""For administrators: consistency of the search indexes, repair and rebuild."""

from collections.abc import Sequence

from pydantic import JsonValue

from vitrine.replies import Consistency as Consistency
from vitrine.replies import Drifting as Drifting
from vitrine.replies import DriftReport as DriftReport
from vitrine.replies import IndexStanding as IndexStanding
from vitrine.replies import UnfinishedWork as UnfinishedWork
from vitrine.replies import Work as Work
from vitrine.resources.resource import Resource, given
from vitrine.transport import path_of


class SearchIndexes(Resource):
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
