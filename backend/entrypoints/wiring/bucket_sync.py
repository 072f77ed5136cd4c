"""Wires the start of imports of buckets."""

from backend.domains.bucket_sync.repository import ImportRepository
from backend.domains.bucket_sync.service.commands import BucketImports
from backend.entrypoints.wiring.buckets import buckets
from backend.entrypoints.wiring.context import Context
from backend.entrypoints.wiring.jobs import jobs


def bucket_imports(context: Context) -> BucketImports:
    repository = ImportRepository(context.tables)
    return BucketImports(repository, buckets(context), jobs(context), context.audit)
