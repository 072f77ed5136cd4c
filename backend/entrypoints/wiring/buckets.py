"""Wires buckets, and their registration."""

from backend.aws import clients
from backend.core.bucket_facts import BucketFacts
from backend.domains.buckets.repository import BucketRepository
from backend.domains.buckets.service import BucketRegistration, BucketService
from backend.entrypoints.wiring.context import Context, once
from backend.spec.buckets import ASSET_BUCKET
from backend.spec.settings import IMPORTED_BUCKETS


@once
def buckets(context: Context) -> BucketService:
    return BucketService(BucketRepository(context.tables), context.authorization, context.clock)


def bucket_names(context: Context) -> frozenset[str]:
    """Return the names of the deployment's own bucket and of those that it imports."""
    imported = context.settings.text(IMPORTED_BUCKETS).split(",")
    return frozenset({context.settings.bucket(ASSET_BUCKET), *imported} - {""})


@once
def bucket_facts(context: Context) -> BucketFacts:
    # Every function with databases has this module, and one of them registers buckets.
    from backend.aws.bucket_facts import S3BucketFacts  # noqa: PLC0415

    return S3BucketFacts(clients.at_first_use(clients.s3), bucket_names(context))


def bucket_registration(context: Context) -> BucketRegistration:
    return BucketRegistration(
        buckets=BucketRepository(context.tables),
        facts=bucket_facts(context),
        authorization=context.authorization,
        audit=context.audit,
    )
