"""The metrics that the functions count themselves; each has an alarm for each function of it."""

from dataclasses import dataclass

NAMESPACE = "Vitrine"


@dataclass(frozen=True, slots=True)
class Metric:
    """One event counted; a single one within five minutes rings."""

    name: str
    description: str


INDEXING_POISON = Metric(
    "IndexingPoison",
    "put something into the failure bucket: find the reason there, then replay it",
)
SEARCH_TICKETS_BEHIND = Metric(
    "SearchTicketsBehind",
    "met documents of a later ticket than any it was given: the ticket counter went back",
)

JOB_FAILED = Metric(
    "JobFailed",
    "gave a job up: its problems say why; mend the cause, then resume it",
)

OBJECTS_SKIPPED = Metric(
    "ObjectsSkipped",
    "met objects of a bucket that belong to no asset; the dimension `reason` says why",
)
"""Has no alarm: what needs somebody is kept with the failures too, and rings there."""

INDEXING_METRICS = (INDEXING_POISON, SEARCH_TICKETS_BEHIND)
JOB_METRICS = (JOB_FAILED,)


def dimensions(function: str) -> dict[str, str]:
    """By what a metric of a function is told apart; `service` is the logger's name for it."""
    return {"consumer": function, "service": function}
