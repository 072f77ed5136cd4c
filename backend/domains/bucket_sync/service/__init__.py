"""Follows what is written straight into buckets, event by event or as a walk over all of it."""

from backend.domains.bucket_sync.service.consuming import SyncConsumer
from backend.domains.bucket_sync.service.importing import BucketImports, ImportStep
from backend.domains.bucket_sync.service.syncing import BucketSync
from backend.domains.bucket_sync.service.telling import SkipNotes

__all__ = ["BucketImports", "BucketSync", "ImportStep", "SkipNotes", "SyncConsumer"]
