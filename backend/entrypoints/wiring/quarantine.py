"""Wires the consumer of malware scan results."""

from backend.domains.buckets.service import BucketRegistry
from backend.domains.quarantine.repository import QuarantineRepository
from backend.domains.quarantine.service.consumers import ScanConsumer
from backend.entrypoints.wiring.assets import assets
from backend.entrypoints.wiring.buckets import bucket_names
from backend.entrypoints.wiring.context import Context
from backend.entrypoints.wiring.events import Run
from backend.entrypoints.wiring.failures import count_metric, failures
from backend.entrypoints.wiring.files import asset_pictures


def scan_results(context: Context) -> Run:
    return ScanConsumer(
        repository=QuarantineRepository(context.tables),
        assets=assets(context),
        registry=BucketRegistry(context.tables),
        audit=context.audit,
        queues=context.queues,
        store_failure=failures(context).store,
        count_metric=count_metric(context),
        bucket_names=bucket_names(context),
        follow_picture=asset_pictures(context).follow_scan,
    ).consume
