"""Wires the consumers of objects that other programs write into buckets, and renewals of facts."""

from aws_lambda_powertools.metrics import MetricUnit, single_metric

from backend.core.references import FileKeyRef
from backend.domains.assets.repository import AssetRepository
from backend.domains.assets.service.commands import FolderAdoption
from backend.domains.bucket_sync.models import SkipKind
from backend.domains.bucket_sync.service.consumers import SyncConsumer
from backend.domains.bucket_sync.service.jobs import ImportStep
from backend.domains.bucket_sync.service.sync import BucketSync, SkipReports
from backend.domains.buckets.service import BucketRegistry
from backend.domains.executions.repository.active import ActiveRepository
from backend.domains.facts.repository import FactRepository
from backend.domains.facts.service.renewals import FactRenewalStep, Place
from backend.entrypoints.wiring.assets import assets
from backend.entrypoints.wiring.buckets import buckets
from backend.entrypoints.wiring.context import Context, once
from backend.entrypoints.wiring.databases import databases
from backend.entrypoints.wiring.events import Run
from backend.entrypoints.wiring.failures import count_metric, failures
from backend.entrypoints.wiring.files import files
from backend.entrypoints.wiring.job_workers import job_consumer
from backend.entrypoints.wiring.jobs import jobs
from backend.entrypoints.wiring.rebuilds import reindexing
from backend.search.maintenance.walk import Position, Scope, SourceWalk
from backend.spec.jobs import IMPORT_BUCKET, RENEW_FACTS
from backend.spec.metrics import NAMESPACE, OBJECTS_SKIPPED, dimensions
from backend.spec.queues import BUCKET_IMPORTS
from backend.spec.settings import SYNC_DATABASE_ID


def sync_events(context: Context) -> Run:
    return SyncConsumer(
        _sync(context), _skip_reports(context), context.queues, count_metric(context)
    ).consume


def imports(context: Context) -> Run:
    step = ImportStep(
        buckets(context),
        _sync(context),
        _skip_reports(context),
        context.objects,
        reindexing(context),
    )
    steps = {IMPORT_BUCKET.name: step, RENEW_FACTS.name: fact_renewal(context)}
    return job_consumer(context, BUCKET_IMPORTS, steps)


def fact_renewal(context: Context) -> FactRenewalStep:
    active = ActiveRepository(context.tables)
    sources = SourceWalk(context.tables, context.objects, BucketRegistry(context.tables))

    def walk_files(
        after: Place, database_id: str | None
    ) -> tuple[list[FileKeyRef], Position] | None:
        scope = Scope(database_id)
        place = Position(*after) if after else scope.start
        window = sources.window(place, scope, named=lambda _: None)
        if window is None:
            return None
        return [ref for ref in window.references if isinstance(ref, FileKeyRef)], window.upto

    return FactRenewalStep(
        facts=FactRepository(context.tables),
        assets=assets(context),
        queues=context.queues,
        waiting=lambda most: len(active.oldest_waiting(most)),
        walk=walk_files,
    )


@once
def _sync(context: Context) -> BucketSync:
    return BucketSync(
        adoption=FolderAdoption(
            AssetRepository(context.tables),
            databases(context),
            context.authorization,
            context.clock,
        ),
        assets=assets(context),
        databases=databases(context),
        files=files(context),
        objects=context.objects,
        jobs=jobs(context),
        registry=BucketRegistry(context.tables),
        default_database_id=context.settings.text(SYNC_DATABASE_ID),
    )


def _skip_reports(context: Context) -> SkipReports:
    def count(kind: SkipKind, number: int) -> None:
        with single_metric(
            name=OBJECTS_SKIPPED.name,
            unit=MetricUnit.Count,
            value=number,
            namespace=NAMESPACE,
            default_dimensions={**dimensions(context.function.name), "reason": kind},
        ):
            pass

    return SkipReports(failures(context).store, count)
