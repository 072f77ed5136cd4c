"""The function that indexes changes of objects, from S3 through EventBridge and a queue."""

from backend.entrypoints.wiring.events import handle
from backend.entrypoints.wiring.indexing import object_events
from backend.spec.functions.workers import INDEX_OBJECTS

handler = handle(INDEX_OBJECTS, object_events)
