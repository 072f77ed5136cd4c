"""Jobs on whole search indexes, one of each kind at a time, and their reports.

All are stored in the table SearchState, beside the pointer.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from backend.core.clock import Clock, epoch_seconds, iso
from backend.core.errors import StateForbidsError
from backend.core.identity import SYSTEM, Identity
from backend.core.ids import NewId, new_uuid
from backend.core.tables import Tables
from backend.core.transactions import Put, Update, Write, absent, equals
from backend.domains.audit.models import audit_entity
from backend.domains.audit.service.commands import AuditService
from backend.domains.jobs.models import Job
from backend.domains.jobs.service.commands import JobService
from backend.search.maintenance.checks import Counts, moment
from backend.spec.jobs import CHECK_SEARCH, REINDEX_SEARCH, JobKind
from backend.spec.tables.operations import SEARCH_STATE

_WORK = {"stateKey": "work"}
_REPORT = {"stateKey": "report"}


class WorkStartedError(StateForbidsError):
    """Another request has just started the same work; try again."""

    code = "SearchWorkBegun"

    def __init__(self) -> None:
        super().__init__(
            "Another request has just started the same work: check its job, or try again"
        )


class ReindexUnfinishedError(StateForbidsError):
    """A reindex has not finished; resume or cancel it."""

    code = "ReindexUnfinished"

    def __init__(self, job_id: str, state: str) -> None:
        super().__init__(f"Reindex {job_id} is {state} and has not finished: resume or cancel it")


class Report(Counts):
    """The result of the last complete consistency check."""

    job_id: str
    started_at: str
    finished_at: str
    oldest_unindexed_seconds: int


def report_of(job: Job, counts: Counts, now: datetime) -> Report:
    """Return the report of a walk that ends now."""
    oldest = 0
    if counts.oldest_at is not None:
        oldest = max(0, int((now - moment(counts.oldest_at)).total_seconds()))
    return Report(
        **counts.model_dump(),
        job_id=job.job_id,
        started_at=job.created_at,
        finished_at=iso(now),
        oldest_unindexed_seconds=oldest,
    )


@dataclass(eq=False, repr=False)
class Reports:
    tables: Tables

    def last(self) -> Report | None:
        """Return the report of the last complete check."""
        item = self.tables.get(SEARCH_STATE, _REPORT)
        return None if item is None else Report.model_validate(item)

    def put(self, report: Report) -> Write:
        """Return the write that stores the report as the last one."""
        item = {**_REPORT, **report.model_dump(by_alias=True, exclude_none=True)}
        return Put(table=SEARCH_STATE, item=item)


@dataclass(eq=False, repr=False)
class SearchWork:
    """Starts jobs, one of each kind at a time. Permissions are checked by the caller."""

    tables: Tables
    jobs: JobService
    audit: AuditService
    clock: Clock
    new_id: NewId = new_uuid

    def last(self, kind: JobKind) -> Job | None:
        """Return the job of a kind that was started last."""
        job_id = (self.tables.get(SEARCH_STATE, _WORK) or {}).get(kind.name)
        return None if job_id is None else self.jobs.find(str(job_id))

    def start(
        self, caller: Identity, kind: JobKind, parameters: Mapping[str, Any]
    ) -> tuple[Job, bool]:
        """Start a job, unless a job of its kind is running.

        Return the job, and whether it was started.

        Raises:
            ReindexUnfinishedError: a reindex failed before it was complete.
            WorkStartedError: another request was faster.
        """
        item = self.tables.get(SEARCH_STATE, _WORK) or {}
        last = item.get(kind.name)
        running = None if last is None else self.jobs.find(str(last))
        if running is not None and not running.is_finished:
            return running, False
        if running is not None and kind is REINDEX_SEARCH and running.state == "failed":
            raise ReindexUnfinishedError(running.job_id, running.state)
        job = self._new(caller, kind, parameters)
        self.tables.transact(
            [
                self.jobs.put(job),
                Update(
                    table=SEARCH_STATE,
                    key=_WORK,
                    set={kind.name: job.job_id},
                    conditions=(absent(kind.name) if last is None else equals(kind.name, last),),
                    refused=WorkStartedError(),
                ),
                self._entry(caller, kind, job),
            ]
        )
        return job, True

    def _new(self, caller: Identity, kind: JobKind, parameters: Mapping[str, Any]) -> Job:
        number = f"{epoch_seconds(self.clock())}-{self.new_id()[:8]}"
        return self.jobs.new(
            kind,
            kind.job_id(number),
            caller=caller,
            database_id=None,
            parameters=dict(parameters),
        )

    def _entry(self, caller: Identity, kind: JobKind, job: Job) -> Write:
        return self.audit.entry(
            caller,
            kind.name,
            audit_entity("search", "indexes"),
            before=None,
            after={"job": job.job_id, **job.parameters},
        )


@dataclass(eq=False, repr=False)
class ScheduledChecks:
    """Starts checks by a schedule; a check that has not ended continues."""

    work: SearchWork

    def run(self) -> dict[str, int]:
        """Return the number of checks that were started."""
        try:
            _, began = self.work.start(SYSTEM, CHECK_SEARCH, {})
        except WorkStartedError:
            began = False
        return {"started": int(began)}
