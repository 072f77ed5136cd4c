"""Follows what is written straight into buckets, event by event or as a walk over all of it."""

from backend.domains.bucket_sync.service.consuming import SyncConsumer
from backend.domains.bucket_sync.service.importing import BucketImports, ImportStep
from backend.domains.bucket_sync.service.skips import SkipNotes
from backend.domains.bucket_sync.service.syncing import BucketSync

__all__ = ["BucketImports", "BucketSync", "ImportStep", "SkipNotes", "SyncConsumer"]
