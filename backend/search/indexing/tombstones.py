"""Removes tombstones that no late writer can need any more.

A tombstone replaces a deleted document, because OpenSearch soon forgets the versions of deleted
documents, and would then accept the write of a process that read the document before. Such a writer
runs for minutes (a function for 15 at most; messages contain names, never documents). A day after
the last write of a tombstone no such writer is left.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from backend.core.clock import Clock, iso_seconds
from backend.core.search_engine import DocumentRemoval, JsonObject, SearchEngine
from backend.search.indexing.state import SearchState
from backend.spec.search_indexes import SEARCH_INDEXES, TOMBSTONE_TIME

# A tombstone keeps the version of a removed document: without it, a writer with an earlier ticket
# would restore it. OpenSearch itself forgets a removal after a minute; writers live for at most 15
# (decision 17).
LIFETIME = timedelta(hours=24)
PAGE = 500
_REMOVED = 200


@dataclass(eq=False, repr=False)
class TombstoneSweep:
    engine: SearchEngine
    state: SearchState
    clock: Clock

    def run(self, *, until: datetime) -> int:
        """Remove old tombstones from all indexes that are written, until the time is used up.

        Returns the number of removed tombstones. The next run continues.

        Raises:
            UnavailableError: a table or the engine failed.
        """
        before = iso_seconds(self.clock() - LIFETIME)
        pointer = self.state.pointer()
        names = [name for index in SEARCH_INDEXES for name in pointer.targets(index)]
        return sum(self._sweep(name, before, until) for name in names)

    def _sweep(self, name: str, before: str, until: datetime) -> int:
        removed = 0
        wanted = [{"term": {"deleted": True}}, {"range": {TOMBSTONE_TIME: {"lt": before}}}]
        request: JsonObject = {
            "query": {"bool": {"filter": wanted}},
            "size": PAGE,
            "sort": [{TOMBSTONE_TIME: {"order": "asc", "unmapped_type": "date"}}, {"rev": "asc"}],
            "version": True,
            "_source": False,
            "track_total_hits": False,
        }
        while self.clock() < until:
            hits = self.engine.search([name], request)["hits"]["hits"]
            if not hits:
                break
            removed += self._remove(hits)
            # Removed tombstones are still found for a moment, so the search continues after them.
            # Of tombstones with equal sort values, some may be left to the next run.
            request = {**request, "search_after": hits[-1]["sort"]}
        return removed

    def _remove(self, hits: Iterable[JsonObject]) -> int:
        """Remove each tombstone up to the version that was found."""
        # Not with a higher version: it could be the ticket of a writer that restores the document,
        # whose write would then be refused.
        removals = [DocumentRemoval(hit["_index"], hit["_id"], hit["_version"]) for hit in hits]
        results = self.engine.remove(removals)
        return sum(result.status == _REMOVED for result in results)
