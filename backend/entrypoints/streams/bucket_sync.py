"""The function that creates assets from objects that other programs write into buckets."""

from backend.entrypoints.wiring.bucket_workers import sync_events
from backend.entrypoints.wiring.events import handle
from backend.spec.functions.workers import BUCKET_SYNC

handler = handle(BUCKET_SYNC, sync_events)
