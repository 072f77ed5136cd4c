"""The function that indexes changes of objects, from S3 through EventBridge and a queue."""

from backend.entrypoints import ready
from backend.entrypoints.indexing import IndexingWiring
from backend.spec.functions.workers import INDEX_OBJECTS

handler = ready(IndexingWiring(INDEX_OBJECTS).objects_handler)
