"""Wires the jobs that check, repair and rebuild the search indexes."""

from functools import partial

from aws_lambda_powertools.metrics import MetricUnit, single_metric

from backend.aws.search_engine import connect
from backend.domains.assets.repository import AssetRepository
from backend.domains.buckets.service import BucketRegistry
from backend.entrypoints.wiring.assets import assets
from backend.entrypoints.wiring.context import Context
from backend.entrypoints.wiring.events import Run
from backend.entrypoints.wiring.indexing import rebuilder
from backend.entrypoints.wiring.job_workers import job_consumer
from backend.entrypoints.wiring.jobs import jobs
from backend.search.indexing.geo_keys import GeoKeys
from backend.search.indexing.sources import Sources
from backend.search.indexing.state import SearchState
from backend.search.maintenance.checks import Checker
from backend.search.maintenance.comparison import Comparer
from backend.search.maintenance.reindex import ReindexStep
from backend.search.maintenance.typed_files import TypedFiles
from backend.search.maintenance.walk import SourceWalk
from backend.search.maintenance.work import Report
from backend.search.maintenance.work_steps import WorkSteps
from backend.spec.jobs import CHECK_SEARCH, REINDEX_SEARCH, REPAIR_SEARCH
from backend.spec.metrics import (
    DRIFT_EXTRA,
    DRIFT_MISSING,
    DRIFT_STALE,
    NAMESPACE,
    OLDEST_UNINDEXED,
    dimensions,
)
from backend.spec.queues import SEARCH_WORK
from backend.spec.settings import SEARCH_GRACE_SECONDS, SEARCH_KEEP_SECONDS


def search_jobs(context: Context) -> Run:
    tables, engine = context.tables, connect(context.settings)
    state = SearchState(tables, context.clock)
    walk = SourceWalk(tables, context.objects, BucketRegistry(tables))
    sources = Sources(tables, context.objects, AssetRepository(tables).owners)
    grace_seconds = context.settings.number(SEARCH_GRACE_SECONDS)
    comparer = Comparer(engine, sources, GeoKeys(tables), state)
    checker = Checker(
        walk=walk,
        comparer=comparer,
        rebuilder=rebuilder(context),
        types=TypedFiles(assets(context), context.objects),
        grace_seconds=grace_seconds,
        clock=context.clock,
    )
    steps = WorkSteps(
        tables=tables,
        state=state,
        checker=checker,
        rebuilder=rebuilder(context),
        jobs=jobs(context),
        measure=partial(_measure, context),
        clock=context.clock,
    )
    reindex = ReindexStep(
        engine=engine,
        state=state,
        walk=walk,
        checker=checker,
        comparer=comparer,
        rebuilder=rebuilder(context),
        keep_seconds=context.settings.number(SEARCH_KEEP_SECONDS),
        grace_seconds=grace_seconds,
        clock=context.clock,
    )
    kinds = {CHECK_SEARCH: steps.check, REPAIR_SEARCH: steps.repair, REINDEX_SEARCH: reindex}
    return job_consumer(context, SEARCH_WORK, {kind.name: step for kind, step in kinds.items()})


def _measure(context: Context, report: Report) -> None:
    """Publish the result of a check as metrics, zero included, to show that it ran."""
    measured = {
        DRIFT_MISSING: report.missing,
        DRIFT_STALE: report.stale,
        DRIFT_EXTRA: report.extra,
        OLDEST_UNINDEXED: report.oldest_unindexed_seconds,
    }
    for metric, value in measured.items():
        with single_metric(
            name=metric.name,
            unit=MetricUnit.Count,
            value=value,
            namespace=NAMESPACE,
            default_dimensions=dimensions(context.function.name),
        ):
            pass
