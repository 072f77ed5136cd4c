"""Wires requests to rebuild search documents."""

from backend.entrypoints.wiring.context import Context, once
from backend.search.indexing.references import QueuedRebuildRequests
from backend.spec.settings import SETTLE_DELAY_SECONDS


@once
def reindexing(context: Context) -> QueuedRebuildRequests:
    return QueuedRebuildRequests(context.queues, context.settings.number(SETTLE_DELAY_SECONDS))
