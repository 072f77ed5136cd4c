"""Follows objects that other programs write into buckets: by events, or by an import."""

from backend.domains.bucket_sync.service.commands import BucketImports
from backend.domains.bucket_sync.service.consumers import SyncConsumer
from backend.domains.bucket_sync.service.jobs import ImportStep
from backend.domains.bucket_sync.service.skips import SkipReports
from backend.domains.bucket_sync.service.sync import BucketSync

__all__ = ["BucketImports", "BucketSync", "ImportStep", "SkipReports", "SyncConsumer"]
