"""The function that indexes changes of tables, from DynamoDB's streams."""

from backend.entrypoints import ready
from backend.entrypoints.indexing import IndexingWiring
from backend.spec.functions.workers import INDEX_CHANGES

handler = ready(IndexingWiring(INDEX_CHANGES).changes_handler)
