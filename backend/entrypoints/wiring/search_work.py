"""Wires the start of jobs on the search indexes, by administrators and by a schedule."""

from backend.entrypoints.wiring.context import Context
from backend.entrypoints.wiring.events import Run, scheduled
from backend.entrypoints.wiring.jobs import jobs
from backend.search.maintenance.work import ScheduledChecks, SearchWork


def search_work(context: Context) -> SearchWork:
    return SearchWork(context.tables, jobs(context), context.audit, context.clock)


def search_checks(context: Context) -> Run:
    checks = ScheduledChecks(search_work(context))
    return scheduled(context, lambda _: checks.run())
