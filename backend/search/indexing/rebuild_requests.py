"""Requests rebuilds of documents, through the settle queue."""

from collections.abc import Iterable
from dataclasses import dataclass

from backend.core.queues import Queues
from backend.core.references import AssetRef, FileKeyRef, FileRef
from backend.search.indexing.references import Reference, to_messages
from backend.spec.queues import SETTLE


@dataclass(eq=False, repr=False)
class QueuedRebuildRequests:
    """Implements the port `core.rebuild_requests.RebuildRequests`.

    A message of the settle queue does not cause another one. Each document is therefore requested
    twice: now, and after the table indexes contain the writes that preceded the request.
    """

    queues: Queues
    settle_delay_seconds: int

    def assets(self, assets: Iterable[AssetRef]) -> None:
        self._send(assets)

    def files(self, database_id: str, asset_id: str, paths: Iterable[str]) -> None:
        self._send(FileRef(database_id, asset_id, path) for path in paths)

    def keys(self, database_id: str, asset_id: str, keys: Iterable[str]) -> None:
        self._send(FileKeyRef(database_id, asset_id, key) for key in keys)

    def _send(self, references: Iterable[Reference]) -> None:
        messages = list(to_messages(references))
        self.queues.send(SETTLE, messages)
        self.queues.send(SETTLE, messages, delay_seconds=self.settle_delay_seconds)
