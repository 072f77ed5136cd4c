"""The table of jobs, by access pattern."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from backend.core.errors import VitrineError
from backend.core.paging import Page, PageRequest, Position
from backend.core.tables import Query, Tables
from backend.core.transactions import (
    Check,
    Condition,
    Item,
    Put,
    Update,
    Write,
    absent,
    equals,
    put_new,
)
from backend.domains.jobs.errors import JobChangedError, JobExistsError, JobSettledError
from backend.domains.jobs.models import Job
from backend.spec.tables.operations import JOBS, JOBS_BY_DATABASE, JOBS_BY_USER

_KEY = JOBS.partition_key.name


@dataclass(eq=False, repr=False)
class JobRepository:
    tables: Tables

    def get(self, job_id: str) -> Job | None:
        """Return the job, a consistent read."""
        item = self.tables.get(JOBS, {_KEY: job_id})
        return None if item is None else Job.model_validate(item)

    def list_in_database(self, database_id: str, page: PageRequest) -> Page[Job]:
        """List jobs of a database, its assets and files, from an eventually consistent index."""
        query = Query(table=JOBS, index=JOBS_BY_DATABASE, partition=database_id)
        jobs = self.tables.query(query, page)
        rows = self.tables.get_many([(JOBS, {_KEY: item[_KEY]}) for item in jobs.items])
        return Page(tuple(Job.model_validate(item) for _, item in rows), jobs.after)

    def list_of_user(self, user_id: str, page: PageRequest) -> Page[Job]:
        """List the jobs that a user started, newest first, from an eventually consistent index."""
        query = Query(table=JOBS, index=JOBS_BY_USER, partition=user_id, newest_first=True)
        jobs = self.tables.query(query, page)
        ids = [str(item[_KEY]) for item in jobs.items]
        rows = self.tables.get_many([(JOBS, {_KEY: job_id}) for job_id in ids])
        by_id = {str(item[_KEY]): Job.model_validate(item) for _, item in rows}
        return Page(tuple(by_id[job_id] for job_id in ids if job_id in by_id), jobs.after)

    def position_of(self, job: Job) -> Position:
        """Return the position of a page after a job of a user's list."""
        return {_KEY: job.job_id, "userId": job.user_id, "createdAt": job.created_at}

    def remove(self, jobs: Iterable[Job]) -> None:
        self.tables.delete_many(JOBS, [{_KEY: job.job_id} for job in jobs])

    def put_new(self, job: Job) -> Put:
        """Return the write that starts the job, for the transaction that requires it."""
        return put_new(JOBS, row_of(job), JobExistsError(job.job_id))

    def result_write(self, job: Job, result: Mapping[str, Any]) -> Update:
        """Return the write of a job's result; refused if it has one, or if the lease was lost."""
        return Update(
            table=JOBS,
            key={_KEY: job.job_id},
            set={"result": dict(result)},
            conditions=(absent("result"), *_held(job)),
            refused=JobSettledError(job.job_id),
        )

    def require_state(self, job: Job, refused: VitrineError) -> Check:
        """Return the condition that the job is in the state that was read."""
        return Check(
            table=JOBS,
            key={_KEY: job.job_id},
            conditions=(equals("state", job.state),),
            refused=refused,
        )

    def require_held(self, job: Job, refused: VitrineError) -> Check:
        """Return the condition that no other worker and no user has changed the job."""
        return Check(table=JOBS, key={_KEY: job.job_id}, conditions=_held(job), refused=refused)

    def change(self, job: Job, changes: Mapping[str, Any], *, fenced: bool = True) -> Job:
        """Set some attributes if the job is in the state that was read.

        `fenced` also requires the step and the lease that were read.

        Raises:
            JobChangedError: the state has changed.
        """
        item = self.tables.write(
            Update(
                table=JOBS,
                key={_KEY: job.job_id},
                set=changes,
                conditions=_held(job) if fenced else (equals("state", job.state),),
                refused=JobChangedError(job.job_id),
            )
        )
        return Job.model_validate(item)

    def change_audited(self, job: Job, changes: Mapping[str, Any], entry: Write) -> Job:
        """Set some attributes if the job is in the state that was read, with an audit entry.

        Raises:
            JobChangedError: the state has changed.
        """
        update = Update(
            table=JOBS,
            key={_KEY: job.job_id},
            set=changes,
            conditions=(equals("state", job.state),),
            refused=JobChangedError(job.job_id),
        )
        self.tables.transact([update, entry])
        return self.get(job.job_id) or job


def _held(job: Job) -> tuple[Condition, ...]:
    """Return conditions that are true while no other worker and no user has changed the job."""
    return (
        equals("state", job.state),
        equals("step", job.step),
        equals("leaseUntil", job.lease_until),
    )


def row_of(job: Job) -> Item:
    """Return the item of a job."""
    return job.model_dump(by_alias=True, exclude_none=True)
