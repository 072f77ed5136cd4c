"""For administrators: consistency of the search indexes, repair and rebuild."""

from collections.abc import Sequence

from vitrine import api_models as api
from vitrine.api_models import Consistency as Consistency
from vitrine.api_models import Drifting as Drifting
from vitrine.api_models import DriftReport as DriftReport
from vitrine.api_models import IndexStanding as IndexStanding
from vitrine.api_models import UnfinishedWork as UnfinishedWork
from vitrine.api_models import Work as Work
from vitrine.resources.resource import Resource
from vitrine.transport import path_of
from vitrine.wire import Body


class SearchIndexes(Resource):
    def consistency(self) -> Consistency:
        """Return the report of the last check, and the running jobs."""
        return self._transport.read(Consistency, path_of("admin", "search", "consistency"))

    def check(self) -> Work:
        """Start a check of everything, unless one is running."""
        return self._start("consistency", Body())

    def repair(
        self,
        *,
        database_id: str | None = None,
        asset_id: str | None = None,
        documents: Sequence[dict[str, str]] | None = None,
    ) -> Work:
        """Start a repair of the named documents; of everything if none are named."""
        everything = True if database_id is None and documents is None else None
        body = api.RepairBody(
            all=everything, database_id=database_id, asset_id=asset_id, documents=documents
        )
        return self._start("repair", body)

    def reindex(self) -> Work:
        """Start a reindex, unless one is running. Raises ConflictError if one has failed."""
        return self._start("reindex", Body())

    def _start(self, name: str, body: Body) -> Work:
        return self._transport.write(Work, "POST", path_of("admin", "search", name), body=body)
