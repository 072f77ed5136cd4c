"""The steps of the jobs that check the search indexes and repair them."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from backend.core.clock import Clock
from backend.core.errors import UnavailableError
from backend.core.tables import Tables
from backend.core.transactions import Write
from backend.domains.jobs.errors import JobSettledError
from backend.domains.jobs.models import Job, Progress
from backend.domains.jobs.service.commands import JobService
from backend.search.indexing.rebuild import Rebuilder, StoredVersionAheadError
from backend.search.indexing.references import Reference, from_message
from backend.search.indexing.state import SearchState
from backend.search.maintenance.checks import Check, Checker, CheckState, Stepped, moment
from backend.search.maintenance.walk import Scope
from backend.search.maintenance.work import Report, Reports, report_of
from backend.spec.search_indexes import SEARCH_INDEXES

# As many as fan-outs rebuild in a step.
REFERENCES_A_STEP = 500


@dataclass(eq=False, repr=False)
class WorkSteps:
    """`measure` receives the report of each check that has ended."""

    tables: Tables
    state: SearchState
    checker: Checker
    rebuilder: Rebuilder
    jobs: JobService
    measure: Callable[[Report], None]
    clock: Clock

    def check(self, job: Job) -> Progress:
        """Run a step of a job of the kind `checkSearch`.

        Raises:
            UnavailableError: a service is unavailable; the step is repeated.
        """
        last = Reports(self.tables).last()
        since = None if last is None else moment(last.started_at)
        stepped = self._walk(job, at_once=False, scope=Scope(), types_since=since)
        if stepped.state.finished:
            report = report_of(job, stepped.state.counts, self.clock())
            self._settle(job, report, [Reports(self.tables).put(report)])
            self.measure(report)
        return _progress(stepped)

    def repair(self, job: Job) -> Progress:
        """Run a step of a job of the kind `repairSearch` (raises as `check`)."""
        if "references" in job.parameters:  # builds the documents that the job names
            begin = int(job.cursor.get("begin", 0))
            end = begin + REFERENCES_A_STEP
            entries = cast("list[Any]", job.parameters["references"])
            some: set[Reference] = from_message({"references": entries[begin:end]})
            try:
                self.rebuilder.rebuild(some)
            except StoredVersionAheadError as error:
                raise UnavailableError(error.message) from error
            return Progress({"begin": end}, items=len(some), finished=end >= len(entries))
        scope = Scope(job.parameters.get("databaseId"), job.parameters.get("assetId"))
        stepped = self._walk(job, at_once=True, scope=scope)
        if stepped.state.finished:
            self._settle(job, report_of(job, stepped.state.counts, self.clock()), [])
        return _progress(stepped)

    def _walk(
        self, job: Job, *, at_once: bool, scope: Scope, types_since: datetime | None = None
    ) -> Stepped:
        pointer = self.state.pointer()
        names = {index.alias: pointer.current(index) for index in SEARCH_INDEXES}
        state = CheckState.model_validate(job.cursor)
        if not job.cursor:
            state.at = list(scope.start)
        try:
            check = Check(
                names=names, scope=scope, at_once=at_once, types=True, types_since=types_since
            )
            return self.checker.step(check, state)
        except StoredVersionAheadError as error:
            raise UnavailableError(error.message) from error

    def _settle(self, job: Job, report: Report, others: list[Write]) -> None:
        """Store the job's result together with the report; no effect if repeated."""
        result = report.model_dump(by_alias=True, exclude_none=True)
        try:
            self.tables.transact([self.jobs.result_write(job, result), *others])
        except JobSettledError:
            return


def _progress(stepped: Stepped) -> Progress:
    return Progress(
        stepped.state.model_dump(by_alias=True, exclude_none=True),
        items=stepped.items,
        finished=stepped.state.finished,
        wait_seconds=stepped.wait_seconds,
    )
