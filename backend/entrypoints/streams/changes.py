"""The function that indexes changes of tables, from DynamoDB's streams."""

from backend.entrypoints.wiring.events import handle
from backend.entrypoints.wiring.indexing import table_changes
from backend.spec.functions.workers import INDEX_CHANGES

handler = handle(INDEX_CHANGES, table_changes)
