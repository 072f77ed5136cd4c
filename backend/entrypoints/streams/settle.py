"""The function that rebuilds documents once more when the table indexes have caught up."""

from backend.entrypoints import ready
from backend.entrypoints.indexing import IndexingWiring
from backend.spec.functions.workers import INDEX_SETTLE

handler = ready(IndexingWiring(INDEX_SETTLE).settle_handler)
