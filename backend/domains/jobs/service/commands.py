"""Starts, reads, cancels and resumes jobs."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from backend.core.attempts import attempts
from backend.core.authorization import Authorization, Secured, require
from backend.core.clock import Clock, epoch_seconds, iso
from backend.core.errors import VitrineError
from backend.core.identity import SYSTEM, Identity
from backend.core.names import GLOBAL
from backend.core.paging import Page, PageRequest, fill
from backend.core.transactions import Write
from backend.domains.audit.models import audit_entity
from backend.domains.audit.service.commands import AuditService
from backend.domains.jobs.errors import JobChangedError, JobNotFoundError, JobStateError
from backend.domains.jobs.models import Job
from backend.domains.jobs.repository import JobRepository
from backend.spec.jobs import IMPORT_BUCKET, JOB_KINDS, SEARCH_KINDS, WITHDRAW_ROLE, JobKind

# Days for which a job is stored, and prevents a second start of the same work. Counters of versions
# are kept as long after a deletion (decision 20).
JOB_DAYS = 365

# Time without a lease, a wait or an advance after which a job is abandoned. Without a lease or a
# wait, no message is hidden for so long.
LEFT_AFTER = timedelta(hours=1)

# tolerated difference between the clocks of workers, with reserve
_LEASE_MARGIN = timedelta(seconds=10)
_ATTEMPTS = 8  # of a change that conflicts with writes of the worker
_OF_TAGS = ("tagName", "tagTypeName")
_WITHHELD = "Details are visible only to users who may see the files to copy"

Subject = Callable[[Job], Secured | None]
"""Returns the object of a job for permission checks, or None if it no longer exists."""
Check = Callable[[Job], None]
"""Raises an error if a job cannot be resumed."""


@dataclass(eq=False, repr=False)
class JobService:
    """Operations on jobs. A job requires the permission on its asset, which `subject` returns.

    If the asset does not exist, the permission on its database, tag, role or bucket is required.
    `resumable` may have a check for each kind.
    """

    jobs: JobRepository
    authorization: Authorization
    audit: AuditService
    clock: Clock
    subject: Subject = lambda _: None
    resumable: Mapping[str, Check] = field(default_factory=dict[str, Check])

    def new(
        self,
        kind: JobKind,
        job_id: str,
        *,
        caller: Identity,
        database_id: str | None,
        asset_id: str | None = None,
        parameters: dict[str, Any] | None = None,
        items_total: int | None = None,
    ) -> Job:
        """Return a job for `put`; `kind.job_id` creates its id."""
        now = self.clock()
        return Job(
            job_id=job_id,
            kind=kind.name,
            database_id=database_id,
            asset_id=asset_id,
            parameters=parameters or {},
            items_total=items_total,
            created_by=caller.user_id,
            user_id=None if caller == SYSTEM else caller.user_id,
            created_at=iso(now),
            updated_at=iso(now),
            expires_at=epoch_seconds(now + timedelta(days=JOB_DAYS)),
        )

    def put(self, job: Job) -> Write:
        """Return the write that starts the job, alone or in the transaction that requires it.

        It is refused with JobExistsError. Nothing else is needed: the table's stream sends the job
        to its worker.
        """
        return self.jobs.put_new(job)

    def result_write(self, job: Job, result: Mapping[str, Any]) -> Write:
        """Return the write of a job's result, for the transaction that creates the result.

        It is refused with JobSettledError if the job has a result already.
        """
        # Refused if the job has a result: a repeated step, or a worker without a lease, creates
        # nothing.
        return self.jobs.result_write(job, result)

    def rewind(self, job: Job, cursor: Mapping[str, Any]) -> Job:
        """Set where the job's next step begins, from within a step that undoes earlier ones.

        Raises:
            JobChangedError: the worker has lost its lease.
        """
        return self.jobs.change(job, {"cursor": dict(cursor), "itemsDone": 0})

    def replace_cursor(self, job: Job, cursor: Mapping[str, Any]) -> None:
        """Replace the cursor within a step, for a worker that repeats the step.

        Raises:
            JobChangedError: the worker has lost its lease.
        """
        self.jobs.change(job, {"cursor": dict(cursor)})

    def is_held(self, job: Job) -> bool:
        """Return whether the worker still has the lease with which it read the job.

        As long as a lease certainly lasts, no other worker takes the job, which is then not read.
        """
        if self.clock() + _LEASE_MARGIN < datetime.fromtimestamp(job.lease_until / 1000, UTC):
            return True
        stored = self.jobs.get(job.job_id)
        read = (job.state, job.step, job.lease_until)
        return stored is not None and (stored.state, stored.step, stored.lease_until) == read

    def find(self, job_id: str) -> Job | None:
        """Return the job, for other slices: no permission is checked."""
        return self.jobs.get(job_id)

    def list_in_database(self, database_id: str, page: PageRequest) -> Page[Job]:
        """List jobs of a database, for the slice that purges it: no permission is checked."""
        return self.jobs.list_in_database(database_id, page)

    def remove(self, jobs: Iterable[Job]) -> None:
        """Remove the rows of finished jobs: no permission is checked."""
        self.jobs.remove(jobs)

    def require_state(self, job: Job, refused: VitrineError) -> Write:
        """Return the condition for a transaction that the job is in the state that was read."""
        return self.jobs.require_state(job, refused)

    def require_held(self, job: Job, refused: VitrineError) -> Write:
        """Return the condition of `is_held` for a transaction."""
        return self.jobs.require_held(job, refused)

    def restart_finished(self, job: Job) -> None:
        """Restart a job that is done from its last cursor, for other slices.

        No effect if another process was faster. No permission is checked.
        """
        again = {"state": "queued", "tries": 0, "updatedAt": iso(self.clock())}
        with suppress(JobChangedError):
            self.jobs.change(job, again)

    def list_jobs(self, caller: Identity, page: PageRequest) -> Page[Job]:
        """List the jobs that the caller started, newest first, as far as it may see them."""
        once = replace(self, subject=_cache_subjects(self.subject))
        jobs = fill(
            lambda request: self.jobs.list_of_user(caller.user_id, request),
            page,
            visible=lambda job: once._may_see(caller, job),
            position_of=self.jobs.position_of,
        )
        shown = (once._with_visible_details(caller, job) for job in jobs.items)
        return Page(tuple(shown), jobs.after)

    def get_job(self, caller: Identity, job_id: str) -> Job:
        """Return the job, as far as the caller may see it.

        Raises:
            JobNotFoundError: it does not exist, or the caller may not see it.
        """
        return self._with_visible_details(caller, self._visible(caller, job_id))

    @attempts(_ATTEMPTS, JobChangedError)
    def cancel_job(self, caller: Identity, job_id: str) -> Job:
        """Stop a job before its next step; completed steps are kept.

        A job whose kind undoes its changes reverts them in further steps, and is cancelled after
        that.

        Raises:
            JobNotFoundError: it does not exist, or the caller may not see it.
            JobStateError: it is finished, being cancelled, or cannot be cancelled.
            PermissionDeniedError: the caller may see it, but not stop it.
        """
        job = self._job_for(caller, job_id)
        if (reason := cancel_refusal(job)) is not None:
            raise JobStateError(job, reason)
        # Queued again, it is sent at once, even if it was waiting.
        stopped = {"state": "queued", "undo": True, "tries": 0}
        changes = stopped if JOB_KINDS[job.kind].undoes else {"state": "cancelled"}
        return self._change(caller, "cancel_job", job, changes)

    def resume_job(self, caller: Identity, job_id: str) -> Job:
        """Continue a job that failed, was cancelled or has lost its message.

        A cancelled one whose kind undoes its changes has to be started again.

        Raises:
            ConflictError: the object of the job does not allow it any more.
            JobNotFoundError: it does not exist, or the caller may not see it.
            JobStateError: it is done, or is being continued already.
            PermissionDeniedError: the caller may see it, but not resume it.
        """
        job = self._job_for(caller, job_id)
        if (reason := self.resume_refusal(job)) is not None:
            raise JobStateError(job, reason)
        check = self.resumable.get(job.kind)
        if check is not None and job.is_finished:
            check(job)
        # The lease is unchanged: a worker that has not noticed the end yet keeps it, and the next
        # one waits.
        return self._change(caller, "resume_job", job, {"state": "queued", "tries": 0})

    def resume_refusal(self, job: Job) -> str | None:
        """Return why the state of a job does not allow it to be resumed, None if it does."""
        if job.state == "cancelled" and job.undo:
            return "was cancelled; start a new one"
        if job.state in {"failed", "cancelled"} or (not job.is_finished and self._is_left(job)):
            return None
        return f"is {job.state} and cannot be resumed"

    def _is_left(self, job: Job) -> bool:
        """Return whether the job made no progress for so long that its message must be lost.

        Queues are purged, and dead letters expire. If the message is only late, another one does no
        harm.
        """
        before = self.clock() - LEFT_AFTER
        return job.lease_until < before.timestamp() * 1000 and job.updated_at < iso(before)

    def _job_for(self, caller: Identity, job_id: str) -> Job:
        job = self._visible(caller, job_id)
        require(self.authorization, caller, "POST", self._job_subject(job))
        return job

    def _visible(self, caller: Identity, job_id: str) -> Job:
        job = self.jobs.get(job_id)
        if job is None or not self._may_see(caller, job):
            raise JobNotFoundError(job_id)
        return job

    def _with_visible_details(self, caller: Identity, job: Job) -> Job:
        """Return the job without details of a source that the caller may not see."""
        change = cast("Mapping[str, Any]", job.parameters.get("change") or {})
        if "sourceAssetId" not in change or not job.problems:
            return job
        # The job as one of the asset from which its files are copied, if that is another.
        ids = {"database_id": change.get("sourceDatabaseId"), "asset_id": change["sourceAssetId"]}
        if self._may_see(caller, job.model_copy(update=ids)):
            return job
        return job.model_copy(update={"problems": [_WITHHELD]})

    def _may_see(self, caller: Identity, job: Job) -> bool:
        target = self._job_subject(job)
        # Callers who may use the route may see buckets, but not the jobs on them.
        action = "POST" if target.object_type == "bucket" else "GET"
        return self.authorization.may(caller, action, target)

    def _job_subject(self, job: Job) -> Secured:
        if job.kind == IMPORT_BUCKET.name:  # jobs of assets name their bucket, too
            return Secured("bucket", {"bucketId": str(job.parameters["bucketId"])})
        if job.kind == WITHDRAW_ROLE.name:
            return Secured("role", {"roleName": str(job.parameters.get("roleName", ""))})
        if job.kind in SEARCH_KINDS:
            return Secured("searchIndex")
        if job.database_id is None:
            known = {"tagName": "", **job.parameters}
            named = {name: str(known[name]) for name in _OF_TAGS if name in known}
            return Secured("tag", {**named, "databaseId": GLOBAL})
        return self.subject(job) or Secured("database", {"databaseId": job.database_id})

    def _change(
        self, caller: Identity, operation: str, job: Job, changes: Mapping[str, Any]
    ) -> Job:
        now = self.clock()
        entry = self.audit.entry(
            caller,
            operation,
            audit_entity("job", job.job_id),
            before={"state": job.state},
            after={"state": changes["state"]},
            at=now,
        )
        changed = self.jobs.change_audited(job, {**changes, "updatedAt": iso(now)}, entry)
        return self._with_visible_details(caller, changed)


def _cache_subjects(subject: Subject) -> Subject:
    """Return a `Subject` that reads each asset once: most jobs of a page are of few assets."""
    known: dict[tuple[str | None, str | None], Secured | None] = {}

    def cached(job: Job) -> Secured | None:
        key = job.database_id, job.asset_id
        if key not in known:
            known[key] = subject(job)
        return known[key]

    return cached


def cancel_refusal(job: Job) -> str | None:
    """Return why a job cannot be cancelled now, None if it can."""
    kind = JOB_KINDS.get(job.kind)
    if kind is None or not kind.cancellable:
        return f"cannot be cancelled: jobs of the kind {job.kind} must complete"
    if job.is_finished and not (kind.undoes and job.state == "failed"):
        return f"has already ended: it is {job.state}"
    if job.undo and not job.is_finished:
        return "is already being cancelled"
    return None
