"""Wires the jobs that check, repair and rebuild the search indexes."""

from dataclasses import dataclass
from functools import cached_property

from aws_lambda_powertools.metrics import MetricUnit, single_metric

from backend.aws.search_engine import connect
from backend.core.search_engine import SearchEngine
from backend.domains.assets.repository import AssetRepository
from backend.domains.buckets.service import BucketRegistry
from backend.entrypoints.indexing import IndexingWiring
from backend.entrypoints.job_workers import Handler
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
from backend.spec import jobs
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


@dataclass(eq=False, repr=False)
class RenewalWiring(IndexingWiring):
    """Creates the services of the worker."""

    @cached_property
    def engine(self) -> SearchEngine:
        return connect(self.settings)

    @cached_property
    def search_state(self) -> SearchState:
        return SearchState(self.tables, self.clock)

    @cached_property
    def walk(self) -> SourceWalk:
        return SourceWalk(self.tables, self.objects, BucketRegistry(self.tables))

    @cached_property
    def checker(self) -> Checker:
        sources = Sources(self.tables, self.objects, AssetRepository(self.tables).owners)
        return Checker(
            walk=self.walk,
            comparer=Comparer(self.engine, sources, GeoKeys(self.tables), self.search_state),
            rebuilder=self.rebuilder,
            types=TypedFiles(self.assets, self.objects),
            grace_seconds=self.settings.number(SEARCH_GRACE_SECONDS),
            clock=self.clock,
        )

    @property
    def reindex_step(self) -> ReindexStep:
        return ReindexStep(
            engine=self.engine,
            state=self.search_state,
            walk=self.walk,
            checker=self.checker,
            rebuilder=self.rebuilder,
            keep_seconds=self.settings.number(SEARCH_KEEP_SECONDS),
            grace_seconds=self.settings.number(SEARCH_GRACE_SECONDS),
            clock=self.clock,
        )

    @property
    def search_work_handler(self) -> Handler:
        steps = WorkSteps(
            tables=self.tables,
            state=self.search_state,
            checker=self.checker,
            rebuilder=self.rebuilder,
            jobs=self.jobs,
            measure=self._measure,
            clock=self.clock,
        )
        return self.consumer_handler(
            SEARCH_WORK,
            {
                jobs.CHECK_SEARCH.name: steps.check,
                jobs.REPAIR_SEARCH.name: steps.repair,
                jobs.REINDEX_SEARCH.name: self.reindex_step,
            },
        )

    def _measure(self, report: Report) -> None:
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
                default_dimensions=dimensions(self.function.name),
            ):
                pass
