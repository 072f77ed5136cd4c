"""The metrics that the functions count themselves; each has an alarm for each function of it."""

from backend.values import frozen

NAMESPACE = "Vitrine"


@frozen
class Metric:
    """One event counted; a single one within five minutes rings.

    Where it is to ring for what lasts, one is needed in each of so many `periods` in a row.
    """

    name: str
    description: str
    periods: int = 1

    @property
    def title(self) -> str:
        """The name in letters and digits only, as CloudFormation wants those of resources."""
        return "".join(part[:1].upper() + part[1:] for part in self.name.split("_"))


INDEXING_POISON = Metric(
    "IndexingPoison",
    "put something into the failure bucket: find the reason there, then replay it",
)
BATCHES_GIVEN_BACK = Metric(
    "BatchesGivenBack",
    "has given messages back for a quarter of an hour: something that it needs is down",
    periods=3,
)
"""Counts batches of queue messages that met an outage. CloudWatch's own age of a queue's oldest
message leaves out what was received more than three times, so it is silent in an outage. What is
given back comes again after two minutes at most, and so at least once in each period."""

SEARCH_TICKETS_BEHIND = Metric(
    "SearchTicketsBehind",
    "met documents of a later ticket than any it was given: the ticket counter went back",
)

JOB_FAILED = Metric(
    "JobFailed",
    "gave a job up: its problems say why; mend the cause, then resume it",
)
"""Counts no jobs that somebody's change overtook (`VitrineError.needs_operator`)."""

REPLAYS_GIVEN_UP = Metric(
    "ReplaysGivenUp",
    "leaves a batch of a stream to you: its failure says why; mend the cause, then replay it",
)
"""Counts a batch when its last try has failed, or it cannot be read at all."""

OBJECTS_SKIPPED = Metric(
    "ObjectsSkipped",
    "met objects of a bucket that belong to no asset; the dimension `reason` says why",
)
"""Has no alarm: what needs somebody is kept with the failures too, and rings there."""

CALLERS_REFUSED = Metric(
    "CallersRefused", "refused credentials; the dimension `reason` says why, as its log does"
)
"""Has no alarm: strangers try all the time."""

ACCESS_DENIED = Metric(
    "AccessDenied",
    "refused known callers; the dimension `reason` says what: a route, an object, one not told of",
)
"""Has no alarm: people ask for what they may not have every day. All functions count as one."""

FIELDS_IGNORED = Metric(
    "FieldsIgnored", "ignored fields of a body that they do not know; the reply names them"
)
"""Has no alarm: clients of VAMS send such. All functions count as one."""

DENIALS_NOT_ENTERED = Metric(
    "DenialsNotEntered",
    "refused callers without an entry in the audit trail, because the table did not answer",
)
"""All functions count as one, and have one alarm."""

DRIFT_MISSING = Metric("drift_missing", "found assets or files that are not in the index")
DRIFT_STALE = Metric("drift_stale", "found documents that are not as their sources are")
DRIFT_EXTRA = Metric("drift_extra", "found documents whose sources are gone")
OLDEST_UNINDEXED = Metric(
    "oldest_unindexed_seconds", "found a change that has waited for its indexing so long"
)
CHECK_METRICS = (DRIFT_MISSING, DRIFT_STALE, DRIFT_EXTRA, OLDEST_UNINDEXED)
"""What a check of the search indexes measures; anything above zero rings: a repair mends it."""

QUEUE_METRICS = (BATCHES_GIVEN_BACK,)
INDEXING_METRICS = (INDEXING_POISON, SEARCH_TICKETS_BEHIND)
JOB_METRICS = (JOB_FAILED,)
REPLAY_METRICS = (REPLAYS_GIVEN_UP,)


OF_API = {"consumer": "Api", "service": "Api"}
"""The dimensions of what all functions behind the API count as one."""


def dimensions(function: str) -> dict[str, str]:
    """By what a metric of a function is told apart; `service` is the logger's name for it."""
    return {"consumer": function, "service": function}
