"""Wires the indexing path."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from backend.aws.search_engine import connect
from backend.domains.assets.repository import AssetRepository
from backend.domains.buckets.service import BucketRegistry
from backend.entrypoints.wiring.context import Context, once
from backend.entrypoints.wiring.events import Run
from backend.entrypoints.wiring.failures import count_metric, failures
from backend.entrypoints.wiring.job_workers import job_consumer
from backend.entrypoints.wiring.jobs import jobs
from backend.search.indexing.bulk import BulkWriter
from backend.search.indexing.changes import Changes, Record, object_changes, settle_changes
from backend.search.indexing.consumers import QueueConsumer, StreamConsumer
from backend.search.indexing.failures import Failures
from backend.search.indexing.fan_out import FanOuts, FanOutStep
from backend.search.indexing.geo_keys import GeoKeys
from backend.search.indexing.rebuild import Rebuilder
from backend.search.indexing.sources import Sources
from backend.search.indexing.state import SearchState
from backend.spec import jobs as kinds
from backend.spec.queues import FAN_OUT, OBJECT_EVENTS, SETTLE, Queue
from backend.spec.settings import SETTLE_DELAY_SECONDS

# Time for which a rebuild retries without any progress, a quarter of its function's time-out: after
# an outage, the batch returns to its queue or stream.
_PATIENCE_SECONDS = 30.0
_REQUEST_PATIENCE_SECONDS = 3.0  # a caller waits for the reply


@once
def rebuilder(context: Context) -> Rebuilder:
    is_request = context.function.kind == "api"
    patience = _REQUEST_PATIENCE_SECONDS if is_request else _PATIENCE_SECONDS
    return Rebuilder(
        state=SearchState(context.tables, context.clock),
        sources=Sources(context.tables, context.objects, AssetRepository(context.tables).owners),
        geo_keys=GeoKeys(context.tables),
        writer=BulkWriter(connect(context.settings), patience),
        failures=failures(context),
        queues=context.queues,
        settle_delay_seconds=context.settings.number(SETTLE_DELAY_SECONDS),
    )


def table_changes(context: Context) -> Run:
    return changes_consumer(context, failures(context)).consume


def changes_consumer(context: Context, poison: Failures) -> StreamConsumer:
    """Return the consumer of changes that stores poison in `poison`."""
    fan_outs = FanOuts(context.tables, jobs(context))
    return StreamConsumer(replace(rebuilder(context), failures=poison), poison, fan_outs)


def object_events(context: Context) -> Run:
    return _queue_consumer(context, OBJECT_EVENTS, object_changes)


def settling(context: Context) -> Run:
    return _queue_consumer(context, SETTLE, settle_changes)


def fan_out(context: Context) -> Run:
    registry = BucketRegistry(context.tables)
    step = FanOutStep(context.tables, context.objects, registry, rebuilder(context))
    return job_consumer(context, FAN_OUT, {kinds.FAN_OUT.name: step})


def _queue_consumer(
    context: Context, queue: Queue, read: Callable[[Sequence[Record]], Changes]
) -> Run:
    return QueueConsumer(
        queue, context.queues, rebuilder(context), failures(context), read, count_metric(context)
    ).consume
