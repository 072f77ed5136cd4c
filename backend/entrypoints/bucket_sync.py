"""Wires the consumers of objects that other programs write into buckets, and renewals of facts.

It acts as the product itself, because there is no caller.
"""

from dataclasses import dataclass
from functools import cached_property

from aws_lambda_powertools.metrics import MetricUnit, single_metric

from backend.core.authorization import Authorization, SystemOnly
from backend.core.paging import Page, PageRequest
from backend.domains.assets.repository import AssetRepository
from backend.domains.assets.service import FolderAdoption
from backend.domains.bucket_sync.models import SkipKind
from backend.domains.bucket_sync.service import BucketSync, ImportStep, SkipNotes, SyncConsumer
from backend.domains.buckets.service import BucketRegistry
from backend.domains.executions.repository import ActiveRepository, ExecutionRepository
from backend.domains.facts.models import FailedInspection
from backend.domains.facts.repository import FactRepository
from backend.domains.facts.service.renewals import FactRenewalStep, Failed
from backend.domains.workflows.models import GLOBAL
from backend.entrypoints.job_workers import Handler, WorkerWiring, handler_of
from backend.spec import jobs
from backend.spec.metrics import NAMESPACE, OBJECTS_SKIPPED, dimensions
from backend.spec.queues import BUCKET_IMPORTS
from backend.spec.settings import SYNC_DATABASE_ID


@dataclass(eq=False, repr=False)
class SyncWiring(WorkerWiring):
    """Creates the services of both workers: of events, and of imports."""

    @cached_property
    def authorization(self) -> Authorization:
        return SystemOnly()

    @cached_property
    def sync(self) -> BucketSync:
        return BucketSync(
            adoption=FolderAdoption(
                AssetRepository(self.tables), self.databases, self.authorization, self.clock
            ),
            assets=self.assets,
            databases=self.databases,
            files=self.files,
            objects=self.objects,
            jobs=self.jobs,
            registry=BucketRegistry(self.tables),
            default_database_id=self.settings.text(SYNC_DATABASE_ID),
        )

    @cached_property
    def notes(self) -> SkipNotes:
        return SkipNotes(self.failures.keep, self._count)

    @property
    def events_handler(self) -> Handler:
        return handler_of(SyncConsumer(self.sync, self.notes, self.queues, self.ring).consume)

    @property
    def imports_handler(self) -> Handler:
        imports = ImportStep(self.buckets, self.sync, self.notes, self.objects, self.reindexing)
        steps = {jobs.IMPORT_BUCKET.name: imports, jobs.RENEW_FACTS.name: self.fact_renewal}
        return self.consumer_handler(BUCKET_IMPORTS, steps)

    @cached_property
    def fact_renewal(self) -> FactRenewalStep:
        active = ActiveRepository(self.tables)
        return FactRenewalStep(
            facts=FactRepository(self.tables),
            assets=self.assets,
            objects=self.objects,
            queues=self.queues,
            waiting=lambda most: len(active.oldest_waiting(most)),
            failed=failed_inspections(ExecutionRepository(self.tables)),
        )

    def _count(self, kind: SkipKind, number: int) -> None:
        with single_metric(
            name=OBJECTS_SKIPPED.name,
            unit=MetricUnit.Count,
            value=number,
            namespace=NAMESPACE,
            default_dimensions={**dimensions(self.function.name), "reason": kind},
        ):
            pass


def failed_inspections(executions: ExecutionRepository) -> Failed:
    """Return the failed executions of a shipped workflow, by page, for renewals of facts."""

    def failed(workflow_id: str, request: PageRequest) -> Page[FailedInspection]:
        page = executions.failed_of_workflow((GLOBAL, workflow_id), request)
        found = [
            FailedInspection(
                one.database_id, one.asset_id, one.input_asset_file_key, one.input_version_id
            )
            for one in page.items
            if one.shipped and one.input_asset_file_key
        ]
        return Page(tuple(found), page.after)

    return failed
