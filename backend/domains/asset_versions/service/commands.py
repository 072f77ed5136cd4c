"""The requests that create a version: they start its job, and run as much of it as time allows."""

from datetime import datetime, timedelta
from typing import NamedTuple

from backend.core.clock import Clock, iso
from backend.core.errors import UnavailableError, VitrineError
from backend.core.identity import Identity
from backend.core.ids import NewId, new_uuid
from backend.core.wired import wired
from backend.domains.asset_versions import rules
from backend.domains.asset_versions.models import (
    CreateVersionBody,
    Made,
    Making,
    NamedFile,
    RevertBody,
)
from backend.domains.asset_versions.repository import AliasTakenError, VersionRepository
from backend.domains.asset_versions.service.jobs import VersionSteps
from backend.domains.assets.models import Asset
from backend.domains.assets.service import AssetService
from backend.domains.jobs.models import Job, Progress
from backend.domains.jobs.service import JobRunner, JobService
from backend.spec.jobs import MAKE_VERSION

REQUEST_TIME = timedelta(seconds=3)
"""From the beginning of a request: it begins no step of its job that would end after this."""


class Started(NamedTuple):
    """A version that is being made, and what it came to if it is there already."""

    asset_id: str
    at: str
    job: Job
    made: Made | None


@wired
class VersionMaking:
    repository: VersionRepository
    assets: AssetService
    jobs: JobService
    runner: JobRunner
    steps: VersionSteps
    clock: Clock
    new_id: NewId = new_uuid

    def create_version(
        self, caller: Identity, asset_id: tuple[str, str], body: CreateVersionBody
    ) -> Started:
        """Make a version of an asset (database id, asset id) as it is, or of files that are named.

        S3 requests: one for 100 versions of its files.

        Raises:
            AliasTakenError: another version of the asset has the alias.
            AssetNotFoundError: the asset does not exist, or not for the caller.
            InvalidInputError: a file is named twice.
            PermissionDeniedError: the caller may see the asset, and make no version of it.
        """
        until = self.clock() + REQUEST_TIME
        asset = self.assets.asset_for(caller, "POST", *asset_id)
        pages = rules.named_pages(body.files or ())
        alias = body.version_alias or ""
        if alias and self.repository.is_alias_taken(asset, alias):
            raise AliasTakenError(alias)
        making = Making(
            request_id=self.new_id(),
            asset_created_at=asset.created_at,
            source="named" if pages else "latest",
            comment=body.comment,
            version_alias=alias,
            pages=len(pages),
        )
        return self._started(caller, asset, making, pages, until=until)

    def revert_version(
        self, caller: Identity, asset_id: tuple[str, str], asset_version_id: str, body: RevertBody
    ) -> Started:
        """Bring the files of an old version back, as a new version.

        With `revertMetadata` also the metadata and attributes.

        Raises:
            AssetNotFoundError: the asset does not exist, or not for the caller.
            PermissionDeniedError: the caller may see the asset, and make no version of it.
            AssetVersionNotFoundError: the asset has no such version.
        """
        until = self.clock() + REQUEST_TIME
        asset = self.assets.asset_for(caller, "POST", *asset_id)
        old = self.repository.get(asset, asset_version_id)
        making = Making(
            request_id=self.new_id(),
            asset_created_at=asset.created_at,
            operation="revert",
            source="version",
            comment=body.comment,
            of_version=old.asset_version_id,
            of_snapshot=old.snapshot,
            revert_metadata=body.revert_metadata,
        )
        return self._started(caller, asset, making, [], until=until)

    def _started(
        self,
        caller: Identity,
        asset: Asset,
        making: Making,
        pages: list[list[NamedFile]],
        *,
        until: datetime,
    ) -> Started:
        job = self.jobs.new(
            MAKE_VERSION,
            MAKE_VERSION.job_id(asset.database_id, asset.asset_id, making.request_id),
            caller=caller,
            database_id=asset.database_id,
            asset_id=asset.asset_id,
            parameters=making.model_dump(by_alias=True, exclude_none=True),
        )
        self.repository.start(self.jobs.put(job))
        if pages:
            self.repository.put_named(asset, making.request_id, pages)
        return self._run(job, until)

    def _run(self, job: Job, until: datetime) -> Started:
        """Do what can be done of the job at once; the rest comes by the job's own message.

        Raises:
            VitrineError: what the version cannot be made for; nothing is left of it.
        """
        refused: list[VitrineError] = []

        def step(job: Job) -> Progress:
            try:
                return self.steps.make(job)
            except VitrineError as error:
                refused.append(error)
                raise

        try:
            if self.clock() < until:
                found = self.runner.run(job.job_id, step, until=until, to_end=True)
                job = found or self.jobs.find(job.job_id) or job
        except UnavailableError:  # the job goes on when what is down is up again
            refused.clear()
        if job.state == "failed" and refused:
            raise refused[-1]
        made = None if job.result is None else Made.model_validate(job.result)
        at = iso(self.clock()) if made is None else made.at
        return Started(job.asset_id or "", at, job, made)
