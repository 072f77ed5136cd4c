"""The metrics that the functions count themselves; each has an alarm for each function of it."""

from backend.values import frozen

NAMESPACE = "Vitrine"


@frozen
class Metric:
    """A counted event. By default, a single one within five minutes raises an alarm.

    For an alarm on lasting problems, one event is required in each of `periods` consecutive
    periods.
    """

    name: str
    description: str
    periods: int = 1

    @property
    def title(self) -> str:
        """Return the name in letters and digits only, as CloudFormation requires for resources."""
        return "".join(part[:1].upper() + part[1:] for part in self.name.split("_"))


INDEXING_POISON = Metric(
    "IndexingPoison",
    "wrote to the failure bucket: find the reason in the entry, then replay it",
)
BATCHES_GIVEN_BACK = Metric(
    "BatchesGivenBack",
    "returned messages for fifteen minutes because a service it needs is unavailable",
    periods=3,
)
"""Counts batches of queue messages that met an outage. CloudWatch's own age of a queue's oldest
message leaves out what was received more than three times, so it is silent in an outage. What is
given back comes again after two minutes at most, and so at least once in each period."""

SEARCH_TICKETS_BEHIND = Metric(
    "SearchTicketsBehind",
    "found a document version above the last ticket issued: the ticket counter was reset",
)

JOB_FAILED = Metric(
    "JobFailed",
    "had a job fail: see its problems, correct the cause, then resume it",
)
"""Counts no jobs that somebody's change overtook (`VitrineError.needs_operator`)."""

REPLAYS_GIVEN_UP = Metric(
    "ReplaysGivenUp",
    "stopped replaying a batch automatically: see its failure, correct the cause, then replay it",
)
"""Counts a batch when its last try has failed, or it cannot be read at all."""

OBJECTS_SKIPPED = Metric(
    "ObjectsSkipped",
    "skipped objects of a bucket that belong to no asset; see the dimension `reason`",
)
"""Has no alarm: what needs an operator is also a stored failure, which has one."""

CALLERS_REFUSED = Metric(
    "CallersRefused", "rejected credentials; see the dimension `reason` and the log"
)
"""Has no alarm: strangers try all the time."""

ACCESS_DENIED = Metric(
    "AccessDenied",
    "denied requests of known callers; the dimension `reason` is route, object or invisible",
)
"""Has no alarm: people ask for what they may not have every day. All functions count as one."""

FIELDS_IGNORED = Metric(
    "FieldsIgnored", "ignored unknown fields of a request body; the reply names them"
)
"""Has no alarm: clients of VAMS send such. All functions count as one."""

DENIALS_NOT_ENTERED = Metric(
    "DenialsNotEntered",
    "denied requests without an audit entry, because the table did not respond",
)
"""All functions count as one, and have one alarm."""

DRIFT_MISSING = Metric("drift_missing", "found assets or files that are missing in the index")
DRIFT_STALE = Metric("drift_stale", "found documents that differ from their sources")
DRIFT_EXTRA = Metric("drift_extra", "found documents whose sources do not exist")
OLDEST_UNINDEXED = Metric(
    "oldest_unindexed_seconds", "took longer than the limit to index a change"
)
CHECK_METRICS = (DRIFT_MISSING, DRIFT_STALE, DRIFT_EXTRA, OLDEST_UNINDEXED)
"""What a check of the search indexes measures; above zero is an alarm; a repair corrects it."""

QUEUE_METRICS = (BATCHES_GIVEN_BACK,)
INDEXING_METRICS = (INDEXING_POISON, SEARCH_TICKETS_BEHIND)
JOB_METRICS = (JOB_FAILED,)
REPLAY_METRICS = (REPLAYS_GIVEN_UP,)


OF_API = {"consumer": "Api", "service": "Api"}
"""The dimensions of what all functions behind the API count as one."""


def dimensions(function: str) -> dict[str, str]:
    """Return the dimensions of a metric of a function; the logger calls the function `service`."""
    return {"consumer": function, "service": function}
