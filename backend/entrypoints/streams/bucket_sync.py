"""The function that makes assets of what others write into buckets, as S3's events tell it."""

from backend.entrypoints import ready
from backend.entrypoints.bucket_sync import SyncWiring
from backend.spec.functions import BUCKET_SYNC

handler = ready(SyncWiring(BUCKET_SYNC).events_handler)
