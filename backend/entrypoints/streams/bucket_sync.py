"""The function that creates assets from objects that other programs write into buckets."""

from backend.entrypoints import ready
from backend.entrypoints.bucket_sync import SyncWiring
from backend.spec.functions.workers import BUCKET_SYNC

handler = ready(SyncWiring(BUCKET_SYNC).events_handler)
