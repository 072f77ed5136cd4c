"""Wires services to the ports of AWS; only this module chooses implementations.

Slices are imported where they are wired: a function loads only the domains that it serves.
"""
# ruff: noqa: PLC0415

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from backend.aws import clients
from backend.aws.objects import S3Objects
from backend.aws.secrets import Secrets
from backend.aws.settings import Settings, load
from backend.aws.tables import DynamoTables
from backend.core.authorization import Authorization, Secured
from backend.core.clock import Clock, utc_now
from backend.core.denials import Watch, WatchedAuthorization
from backend.core.page_tokens import PageTokens
from backend.core.reads import CurrentRequest
from backend.domains.access.repository.policies import PolicyRepository
from backend.domains.access.service.decisions import PolicyAuthorization
from backend.domains.audit.repository import AuditArchive, AuditRepository
from backend.domains.audit.service import AuditService
from backend.entrypoints.api_audit import http_app
from backend.http.app import HttpApp
from backend.spec.buckets import AUDIT_ARCHIVE_BUCKET
from backend.spec.functions import Function
from backend.spec.jobs import ARCHIVE_ASSET, CHANGE_FILES, UNARCHIVE_ASSET
from backend.spec.secrets import API_KEY_PEPPER, PAGE_TOKEN_KEY
from backend.spec.settings import (
    AUDIT_DAYS,
    LARGE_FILE_BYTES,
    MAX_URL_SECONDS,
    PRESIGNED_URL_SECONDS,
    PROCESSING,
    SETTLE_DELAY_SECONDS,
    UPLOAD_RATE_PER_MINUTE,
)
from backend.spec.tables.model import Table
from backend.spec.tables.registry import TAGS

if TYPE_CHECKING:
    from backend.aws.queues import SqsQueues
    from backend.aws.runs import StepFunctionsRuns
    from backend.core.search_engine import SearchEngine
    from backend.domains.access.service.deleted_names import DeletedNames
    from backend.domains.assets.models import Asset
    from backend.domains.assets.service import AssetService
    from backend.domains.audit.service.queries import AuditTrail
    from backend.domains.buckets.service import BucketService
    from backend.domains.database_purges.service import PurgeCommands
    from backend.domains.databases.service import DatabaseService
    from backend.domains.files.service import FileQueries
    from backend.domains.files.service.commands import FileCommands
    from backend.domains.files.service.rewrites import FileRewrites
    from backend.domains.jobs.models import Job
    from backend.domains.jobs.service import JobRunner, JobService
    from backend.domains.metadata.service import RecordService
    from backend.domains.metadata.service.commands import MetadataService
    from backend.domains.metadata_schemas.service import MetadataSchemaService
    from backend.domains.tags.service import TagService
    from backend.domains.uploads.service import (
        LargeFiles,
        RenewalService,
        Settlement,
        UploadContext,
        UploadService,
    )
    from backend.entrypoints.file_changes import FileChangeWiring
    from backend.search.indexing.rebuild_requests import QueuedRebuildRequests
    from backend.search.query.service import SearchService

S = TypeVar("S")


@dataclass(eq=False, repr=False)
class Wiring:
    """Creates the parts of one function, each when it is first used."""

    function: Function
    clock: Clock = utc_now

    @cached_property
    def settings(self) -> Settings:
        return load(self.function)

    def is_processed(self, database_id: str) -> bool:
        """Return whether shipped workflows inspect what is uploaded to a database."""
        return self.settings.number(PROCESSING) == 1 and self.databases.is_processed(database_id)

    @cached_property
    def tables(self) -> DynamoTables:
        return DynamoTables(clients.at_first_use(clients.dynamodb), self.settings)

    @cached_property
    def objects(self) -> S3Objects:
        return S3Objects(clients.at_first_use(clients.s3), lambda: self.request.id)

    @cached_property
    def secrets(self) -> Secrets:
        return Secrets(clients.at_first_use(clients.secrets_manager), self.settings)

    @cached_property
    def authorization(self) -> Authorization:
        return WatchedAuthorization(self.rules, self.watch)

    @cached_property
    def rules(self) -> PolicyAuthorization:
        return PolicyAuthorization(PolicyRepository(self.tables), self.clock)

    @cached_property
    def watch(self) -> Watch:
        """Return the watch over refusals of the current request."""
        return Watch()

    @cached_property
    def request(self) -> CurrentRequest:
        """Return the current request; outside a request it has no id."""
        return CurrentRequest()

    @cached_property
    def app(self) -> HttpApp:
        return http_app(self)

    @cached_property
    def page_tokens(self) -> PageTokens:
        return PageTokens(lambda: self.secrets.value(PAGE_TOKEN_KEY).encode())

    @cached_property
    def audit(self) -> AuditService:
        """Return the audit log; only functions declared as `audited` may use it."""
        return AuditService(self.audit_archive, lambda: self.settings.number(AUDIT_DAYS))

    @cached_property
    def audit_archive(self) -> AuditArchive:
        return AuditArchive(self.objects, lambda: self.settings.bucket(AUDIT_ARCHIVE_BUCKET))

    @cached_property
    def audit_trail(self) -> "AuditTrail":
        from backend.domains.audit.service.queries import AuditTrail

        return AuditTrail(AuditRepository(self.tables), self.audit_archive, self.authorization)

    @cached_property
    def search_engine(self) -> "SearchEngine | None":
        """Return the search cluster; None if search is not deployed."""
        from backend.aws.search_engine import connect

        return connect(self.settings) if self.settings.search_is_deployed else None

    @cached_property
    def buckets(self) -> "BucketService":
        from backend.domains.buckets.repository import BucketRepository
        from backend.domains.buckets.service import BucketService

        return BucketService(BucketRepository(self.tables), self.authorization, self.clock)

    @cached_property
    def databases(self) -> "DatabaseService":
        from backend.domains.databases.repository import DatabaseRepository
        from backend.domains.databases.service import DatabaseService

        return DatabaseService(
            databases=DatabaseRepository(self.tables),
            buckets=self.buckets,
            names=self.deleted_names,
            authorization=self.authorization,
            audit=self.audit,
            clock=self.clock,
        )

    @cached_property
    def deleted_names(self) -> "DeletedNames":
        from backend.domains.access.repository.deleted_names import DeletedNameRepository
        from backend.domains.access.service.deleted_names import DeletedNames

        return DeletedNames(DeletedNameRepository(self.tables), self.authorization)

    def database_purges(self) -> "PurgeCommands":
        """Return what starts purges, loaded by the first request that does."""
        from backend.domains.database_purges.repository import PurgeRepository
        from backend.domains.database_purges.service import PurgeCommands

        repository = PurgeRepository(self.tables)
        return PurgeCommands(repository, self.databases, self.jobs, self.audit, self.clock)

    @cached_property
    def tags(self) -> "TagService":
        from backend.entrypoints.tags import tag_service

        return tag_service(self)

    @cached_property
    def jobs(self) -> "JobService":
        from backend.domains.jobs.repository import JobRepository
        from backend.domains.jobs.service import JobService

        return JobService(
            JobRepository(self.tables),
            self.authorization,
            self.audit,
            self.clock,
            subject=self._subject,
            resumable={
                ARCHIVE_ASSET.name: self._check_asset,
                UNARCHIVE_ASSET.name: self._check_asset,
                CHANGE_FILES.name: self._check_change,
            },
        )

    @cached_property
    def runner(self) -> "JobRunner":
        from backend.domains.jobs.repository import JobRepository
        from backend.domains.jobs.service import JobRunner

        return JobRunner(JobRepository(self.tables), self.clock)

    @cached_property
    def assets(self) -> "AssetService":
        from backend.domains.assets.repository import AssetRepository
        from backend.domains.assets.service import AssetService

        return AssetService(
            assets=AssetRepository(self.tables),
            databases=self.databases,
            buckets=self.buckets,
            tags=self._over(TAGS, lambda: self.tags),
            objects=self.objects,
            authorization=self.authorization,
            audit=self.audit,
            clock=self.clock,
        )

    @cached_property
    def files(self) -> "FileQueries":
        from backend.entrypoints.files import file_service

        return file_service(self)

    def file_changes(self) -> "FileCommands":
        """Return what changes files, loaded by the first request that does."""
        return self.file_change_wiring.changes

    def file_rewrites(self) -> "FileRewrites":
        return self.file_change_wiring.rewrites

    @cached_property
    def file_change_wiring(self) -> "FileChangeWiring":
        from backend.entrypoints.file_changes import FileChangeWiring

        return FileChangeWiring(self)

    @cached_property
    def queues(self) -> "SqsQueues":
        from backend.aws.queues import SqsQueues

        return SqsQueues(clients.at_first_use(clients.sqs), self.settings)

    @cached_property
    def runs(self) -> "StepFunctionsRuns":
        from backend.aws.runs import StepFunctionsRuns

        return StepFunctionsRuns(clients.at_first_use(clients.step_functions), self.settings)

    @cached_property
    def reindexing(self) -> "QueuedRebuildRequests":
        from backend.search.indexing.rebuild_requests import QueuedRebuildRequests

        return QueuedRebuildRequests(self.queues, self.settings.number(SETTLE_DELAY_SECONDS))

    @cached_property
    def uploads(self) -> "UploadService":
        from backend.domains.uploads.service import UploadLimits, UploadService

        limits = UploadLimits(
            per_minute=self.settings.number(UPLOAD_RATE_PER_MINUTE),
            url_seconds=self.url_seconds,
        )
        return UploadService(self._upload_context, self._settlement, limits)

    @cached_property
    def renewals(self) -> "RenewalService":
        from backend.domains.uploads.service import RenewalService

        return RenewalService(self._upload_context, self.url_seconds)

    @cached_property
    def large_files(self) -> "LargeFiles":
        from backend.domains.uploads.service import LargeFiles

        return LargeFiles(self._upload_context, self._settlement)

    @cached_property
    def _settlement(self) -> "Settlement":
        from backend.domains.uploads.service import Settlement

        return Settlement(self._upload_context, self.files, self.audit)

    @cached_property
    def _upload_context(self) -> "UploadContext":
        from backend.domains.uploads.repository import UploadRepository
        from backend.domains.uploads.service import UploadContext

        return UploadContext(
            uploads=UploadRepository(self.tables),
            assets=self.assets,
            databases=self.databases,
            jobs=self.jobs,
            objects=self.objects,
            large_bytes=self.settings.number(LARGE_FILE_BYTES),
            clock=self.clock,
        )

    @cached_property
    def metadata(self) -> "MetadataService":
        from backend.domains.metadata.service.commands import MetadataService

        return MetadataService(self.records, self.assets, self.objects)

    @cached_property
    def records(self) -> "RecordService":
        """Return the records of any entity, for the slices that own one."""
        from backend.domains.metadata.repository import MetadataRepository
        from backend.domains.metadata.service import RecordService

        return RecordService(
            metadata=MetadataRepository(self.tables),
            schemas=self.metadata_schemas,
            databases=self.databases,
            audit=self.audit,
            clock=self.clock,
        )

    @cached_property
    def metadata_schemas(self) -> "MetadataSchemaService":
        from backend.domains.metadata_schemas.repository import MetadataSchemaRepository
        from backend.domains.metadata_schemas.service import MetadataSchemaService

        return MetadataSchemaService(
            schemas=MetadataSchemaRepository(self.tables),
            databases=self.databases,
            authorization=self.authorization,
            audit=self.audit,
            clock=self.clock,
        )

    @cached_property
    def search(self) -> "SearchService":
        from backend.entrypoints.searches import search_service

        return search_service(self)

    @property
    def url_seconds(self) -> int:
        """Return how long presigned URLs are valid."""
        return min(self.settings.number(PRESIGNED_URL_SECONDS), MAX_URL_SECONDS)

    def _subject(self, job: "Job") -> Secured | None:
        """Return the asset of a job for permission checks, active or archived."""
        from backend.domains.assets.service import secured

        found = self._asset_of(job)
        return None if found is None else secured(found)

    def _check_change(self, job: "Job") -> None:
        """Refuse to resume a change of files that has ended, or was undone."""
        from backend.domains.files.repository import FileChangeRepository

        FileChangeRepository(self.tables).check_unfinished(job.job_id, job.asset_id or "")

    def _check_asset(self, job: "Job") -> None:
        """Refuse to resume a job whose asset does not exist, or has changed its state."""
        from backend.domains.asset_lifecycle.service import check_asset

        check_asset(job, self._asset_of(job))

    def _asset_of(self, job: "Job") -> "Asset | None":
        from backend.domains.assets.repository import AssetRepository

        if job.database_id is None or job.asset_id is None:
            return None
        return AssetRepository(self.tables).get(job.database_id, job.asset_id, in_archive=True)

    def _over(self, table: Table, make: Callable[[], S]) -> S:
        """Return the service over a table, created only in functions that may use it."""
        return make() if table in self.function.tables else clients.at_first_use(make)

    def _pepper(self) -> bytes:
        return self.secrets.value(API_KEY_PEPPER).encode()
