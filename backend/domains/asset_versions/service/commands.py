"""Creates and reverts versions. A creation runs as much of its job as time allows."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from backend.core.attempts import attempts
from backend.core.clock import Clock, iso
from backend.core.deadlines import OutcomeUnknownError
from backend.core.errors import UnavailableError, VitrineError
from backend.core.identity import Identity
from backend.core.ids import NewId, new_uuid
from backend.core.references import AssetRef
from backend.domains.asset_versions import rules
from backend.domains.asset_versions.errors import AliasTakenError, TurnTakenError
from backend.domains.asset_versions.models import NamedFile
from backend.domains.asset_versions.models.jobs import Capture, CreatedVersion, VersionPlan
from backend.domains.asset_versions.models.requests import CreateVersionBody, RevertBody
from backend.domains.asset_versions.repository import VersionRepository
from backend.domains.asset_versions.service.jobs import VersionSteps, dump
from backend.domains.assets.models import Asset
from backend.domains.assets.service.commands import AssetService
from backend.domains.jobs.models import Job, Progress
from backend.domains.jobs.service.commands import JobService
from backend.domains.jobs.service.runner import JobRunner
from backend.spec.jobs import MAKE_VERSION

# Time after the start of a request in which steps of its job must end. VAMS clients expect a
# complete version in the reply, and the function may run for 29 seconds.
REQUEST_TIME = timedelta(seconds=20)
_PAUSE = timedelta(seconds=0.2)  # between looks at an earlier version that is being made
_TURNS = 20  # attempts to start a job while others start theirs


class Started(NamedTuple):
    """A version that is being created, its number, and its result if it is complete.

    There is no number if another process has ended the job.
    """

    asset_id: str
    at: str
    job: Job
    number: str | None
    made: CreatedVersion | None


@dataclass(eq=False, repr=False)
class VersionCreation:
    repository: VersionRepository
    assets: AssetService
    jobs: JobService
    runner: JobRunner
    steps: VersionSteps
    clock: Clock
    new_id: NewId = new_uuid

    def create_version(self, caller: Identity, ref: AssetRef, body: CreateVersionBody) -> Started:
        """Create a version of an asset (database id, asset id) as it is, or of the named files.

        S3 requests: one for 100 versions of its files.

        Raises:
            AliasTakenError: another version of the asset has the alias.
            AssetNotFoundError: the asset does not exist, or the caller may not see it.
            InvalidInputError: a file is named twice.
            PermissionDeniedError: the caller may see the asset, but not create versions of it.
        """
        until = self.clock() + REQUEST_TIME
        asset = self.assets.asset_for(caller, "POST", *ref.ids)
        pages = rules.named_pages(body.files or ())
        alias = body.version_alias or ""
        if alias and self.repository.is_alias_taken(asset, alias):
            raise AliasTakenError(alias)
        plan = VersionPlan(
            request_id=self.new_id(),
            asset_created_at=asset.created_at,
            source="named" if pages else "latest",
            comment=body.comment,
            version_alias=alias,
            pages=len(pages),
        )
        return self._start_job(caller, asset, plan, pages, until=until)

    def revert_version(
        self, caller: Identity, ref: AssetRef, asset_version_id: str, body: RevertBody
    ) -> Started:
        """Restore the files of an old version, as a new version.

        With `revertMetadata` also the metadata and attributes.

        Raises:
            AssetNotFoundError: the asset does not exist, or the caller may not see it.
            PermissionDeniedError: the caller may see the asset, but not create versions of it.
            AssetVersionNotFoundError: the asset has no such version.
        """
        until = self.clock() + REQUEST_TIME
        asset = self.assets.asset_for(caller, "POST", *ref.ids)
        old = self.repository.get(asset, asset_version_id)
        plan = VersionPlan(
            request_id=self.new_id(),
            asset_created_at=asset.created_at,
            operation="revert",
            source="version",
            comment=body.comment,
            of_version=old.asset_version_id,
            of_snapshot=old.snapshot,
            revert_metadata=body.revert_metadata,
        )
        return self._start_job(caller, asset, plan, [], until=until)

    def _start_job(
        self,
        caller: Identity,
        asset: Asset,
        plan: VersionPlan,
        pages: list[list[NamedFile]],
        *,
        until: datetime,
    ) -> Started:
        # The number is drawn before the job exists, so that every reply has it.
        begin = Capture(number=self.repository.draw_number(asset))
        try:
            job = self._put_job(caller, asset, plan, begin)
            if pages:
                self.repository.put_named(asset, plan.request_id, pages)
        except UnavailableError as error:  # of a write that may have been done all the same
            raise OutcomeUnknownError(
                f"Version {begin.number} may be created all the same: the job "
                f"{_job_id(asset, plan)} says it if it exists; look for it before you repeat the "
                "request"
            ) from error
        return self._run(job, until)

    @attempts(_TURNS, TurnTakenError)
    def _put_job(self, caller: Identity, asset: Asset, plan: VersionPlan, begin: Capture) -> Job:
        """Put the job with a lease, so that its worker does not begin it before this request."""
        after = self.repository.last_job(asset)
        job = self.jobs.new(
            MAKE_VERSION,
            _job_id(asset, plan),
            caller=caller,
            database_id=asset.database_id,
            asset_id=asset.asset_id,
            parameters=plan.model_copy(update={"after": after}).model_dump(
                by_alias=True, exclude_none=True
            ),
        )
        job = self.runner.with_lease(job.model_copy(update={"cursor": dump(begin)}))
        self.repository.start(asset, self.jobs.put(job), job.job_id, after)
        return job

    def _run(self, job: Job, until: datetime) -> Started:
        """Run the job as far as time allows; the job's own message continues it.

        Raises:
            VitrineError: the reason why the version cannot be created; its rows are removed.
        """
        refused: list[VitrineError] = []

        def step(job: Job) -> Progress:
            try:
                return self.steps.make(job)
            except VitrineError as error:
                refused.append(error)
                raise

        try:
            while self.steps.is_early(job) and self.clock() + _PAUSE < until:
                self.steps.pause(_PAUSE.total_seconds())
            if self.clock() < until:
                stopped = self.runner.run_new(job, step, until=until)
                job = stopped or self.jobs.find(job.job_id) or job
        except UnavailableError:  # the job continues when the service is available again
            refused.clear()
        if job.state == "failed" and refused:
            raise refused[-1]
        made = None if job.result is None else CreatedVersion.model_validate(job.result)
        if made is not None:
            return Started(job.asset_id or "", made.at, job, made.asset_version_id, made)
        number = None if job.is_finished else Capture.model_validate(job.cursor).number or None
        return Started(job.asset_id or "", iso(self.clock()), job, number, None)


def _job_id(asset: Asset, plan: VersionPlan) -> str:
    return MAKE_VERSION.job_id(asset.database_id, asset.asset_id, plan.request_id)
