"""Wires the store of events that a consumer cannot process, and its alarms."""

from functools import partial

from backend.core.deliveries import CountMetric
from backend.entrypoints.wiring.context import Context, once
from backend.search.indexing import failures as stores
from backend.search.indexing.failures import FailureStore
from backend.spec.buckets import FAILURE_BUCKET


@once
def failures(context: Context) -> FailureStore:
    return failures_of(context, context.function.name)


def failures_of(context: Context, consumer: str) -> FailureStore:
    bucket = context.settings.bucket(FAILURE_BUCKET)
    return FailureStore(context.objects, bucket, consumer, context.clock)


@once
def count_metric(context: Context) -> CountMetric:
    """Return what counts one event of a metric, for this function."""
    return partial(stores.count_metric, consumer=context.function.name)
