"""Starts changes of files, one at a time for each asset, and runs the steps that fit the request.

The requirements of a change are checked after the state of the asset's changes was read, and the
change starts only if that state is unchanged, so no other change comes between. From then on the
job completes the change, even if this process dies.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Event
from typing import Any, NamedTuple

from backend.core.clock import Clock
from backend.core.errors import UnavailableError
from backend.core.identity import Identity
from backend.core.ids import NewId, new_uuid
from backend.core.transactions import Write
from backend.domains.assets.models import Asset
from backend.domains.audit.models import audit_entity
from backend.domains.audit.service.commands import AuditService
from backend.domains.files.errors import (
    ChangeBusyError,
    ChangeOvertakenError,
    FileChangeFailedError,
)
from backend.domains.files.models import FileChange
from backend.domains.files.repository import FileChangeRepository
from backend.domains.files.service.work import CHANGE, PINNED
from backend.domains.jobs.models import Job, Step
from backend.domains.jobs.service.commands import JobService
from backend.domains.jobs.service.runner import JobRunner
from backend.spec.jobs import CHANGE_FILES, MOVE_FOLDER
from backend.spec.routes import Route

# Time after the start of a request in which it may start a step. The reply then takes at most 5
# seconds.
REQUEST_TIME = timedelta(seconds=4)
WAITING_TIME = timedelta(seconds=2)
"""The part of that time in which a request waits for earlier changes."""
_PAUSE = 0.05  # seconds, while a worker has the job


class Planned(NamedTuple):
    """A change that may start: its asset, and its audit entry.

    `version_id` is the S3 version to change; `demands` are checks of its transaction; `files` is
    the number of files to change, if it is known.
    """

    asset: Asset
    change: FileChange
    route: Route
    before: dict[str, Any]
    after: dict[str, Any]
    version_id: str | None = None
    demands: tuple[Write, ...] = ()
    files: int | None = None


@dataclass(eq=False, repr=False)
class ChangeRunner:
    changes: FileChangeRepository
    jobs: JobService
    job_runner: JobRunner
    audit: AuditService
    step: Step
    clock: Clock
    pause: Callable[[float], object] = Event().wait
    new_id: NewId = new_uuid

    def run(
        self, caller: Identity, asset: Asset, change: FileChange, plan: Callable[[], Planned]
    ) -> Job:
        """Start a change, run the steps that fit the request, and return its job.

        A request that is repeated while its job is running gets the same job. `plan` raises errors
        that forbid the change.

        Raises:
            AssetNotFoundError: the asset was archived or deleted.
            ChangeBusyError: other changes of the asset's files take too long.
            FileChangeFailedError: it failed, and was undone.
        """
        begun = self.clock()
        until = begun + WAITING_TIME
        while True:  # by hand: it runs other changes meanwhile, for a time
            state = self.changes.state(asset.asset_id)
            if state.job_id is not None:
                same = self._wait_for_change(caller, asset, change, state.job_id, until)
                if same is not None:
                    return _check_succeeded(same)
                continue
            planned = plan()
            job = self._new(caller, planned)
            try:
                writes = [*planned.demands, self.jobs.put(job), self._entry(caller, planned)]
                paths = planned.change.described_paths
                self.changes.commit(asset, state, job.job_id, writes, paths)
            except ChangeOvertakenError:
                self._check_time(asset, None, until)
                continue
            return _check_succeeded(self._run_job(job, begun + REQUEST_TIME))

    def _wait_for_change(
        self, caller: Identity, asset: Asset, change: FileChange, job_id: str, until: datetime
    ) -> Job | None:
        """Help the running change to its end; return its job if it is the same change."""
        job = self.jobs.find(job_id)
        if job is None:  # its row has expired
            self.changes.release(asset.asset_id, job_id)
            return None
        if not job.is_finished:
            job = self._run_job(job, until)
        is_same = job.created_by == caller.user_id and job.parameters.get(CHANGE) == _dump(change)
        if is_same and not job.undo:
            return job
        if job.is_finished and self.changes.state(asset.asset_id).job_id == job_id:
            raise ChangeBusyError(asset.asset_id, job_id)  # failed: users may resume it
        if not job.is_finished:
            self._check_time(asset, job_id, until)
        return None

    def _check_time(self, asset: Asset, job_id: str | None, until: datetime) -> None:
        if self.clock() >= until:
            raise ChangeBusyError(asset.asset_id, job_id)

    def _run_job(self, job: Job, until: datetime) -> Job:
        """Run steps of the job, or wait for the worker that does, while there is time."""
        while True:
            try:
                stopped = self.job_runner.run(job.job_id, self.step, until=until)
                job = stopped or self.jobs.find(job.job_id) or job
            except UnavailableError:  # it is started, and the worker continues it
                return job
            if job.is_finished or self.clock() >= until:
                return job
            self.pause(_PAUSE)

    def _new(self, caller: Identity, planned: Planned) -> Job:
        pinned = {} if planned.version_id is None else {PINNED: planned.version_id}
        kind = MOVE_FOLDER if planned.change.operation == "moveFolder" else CHANGE_FILES
        return self.jobs.new(
            kind,
            kind.job_id(self.new_id()),
            caller=caller,
            database_id=planned.asset.database_id,
            asset_id=planned.asset.asset_id,
            parameters={CHANGE: _dump(planned.change), **pinned},
            items_total=planned.files,
        )

    def _entry(self, caller: Identity, planned: Planned) -> Write:
        asset, change = planned.asset, planned.change
        path = change.path if change.source_asset_id is None else change.target_path or change.path
        return self.audit.entry(
            caller,
            planned.route.name,
            audit_entity("file", asset.database_id, asset.asset_id, path),
            before=planned.before,
            after=planned.after,
        )


def _check_succeeded(job: Job) -> Job:
    if job.state == "failed":
        raise FileChangeFailedError(job.problems[-1])
    return job


def _dump(change: FileChange) -> dict[str, Any]:
    return change.model_dump(by_alias=True, exclude_none=True)
