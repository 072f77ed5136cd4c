"""The function that rebuilds documents once more when the table indexes have caught up."""

from backend.entrypoints.wiring.events import handle
from backend.entrypoints.wiring.indexing import settling
from backend.spec.functions.workers import INDEX_SETTLE

handler = handle(INDEX_SETTLE, settling)
