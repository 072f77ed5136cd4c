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
# CloudWatch's age of the oldest message ignores messages that were received more than three times,
# so it does not show an outage. Returned messages are received again within two minutes.
BATCHES_GIVEN_BACK = Metric(
    "BatchesGivenBack",
    "returned messages for fifteen minutes because a service it needs is unavailable",
    periods=3,
)
"""Counts batches of queue messages that were returned to their queue because of an outage."""

SEARCH_TICKETS_BEHIND = Metric(
    "SearchTicketsBehind",
    "found a document version above the last ticket issued: the ticket counter was reset",
)

JOB_FAILED = Metric(
    "JobFailed",
    "had a job fail: see its problems, correct the cause, then resume it",
)
"""Counts failed jobs, except those that conflicted with a user's change
(`VitrineError.needs_operator`)."""

REPLAYS_GIVEN_UP = Metric(
    "ReplaysGivenUp",
    "stopped replaying a batch automatically: see its failure, correct the cause, then replay it",
)
"""Counts batches whose last replay failed, and batches that cannot be read."""

# No alarm: objects that need an operator are also stored as failure entries, which have an alarm.
OBJECTS_SKIPPED = Metric(
    "ObjectsSkipped",
    "skipped objects of a bucket that belong to no asset; see the dimension `reason`",
)
"""Counts objects that belong to no asset."""

# No alarm: any public API receives such requests.
CALLERS_REFUSED = Metric(
    "CallersRefused", "rejected credentials; see the dimension `reason` and the log"
)
"""Counts requests with invalid credentials."""

# No alarm: denials are part of normal use.
ACCESS_DENIED = Metric(
    "AccessDenied",
    "denied requests of known callers; the dimension `reason` is route, object or invisible",
)
"""Counts denied requests of known callers, for all functions together."""

# No alarm: VAMS clients send such fields.
FIELDS_IGNORED = Metric(
    "FieldsIgnored", "ignored unknown fields of a request body; the reply names them"
)
"""Counts requests with unknown fields, for all functions together."""

# No alarm: the alarm on server errors subtracts it.
ROUTES_NOT_SERVED = Metric(
    "RoutesNotServed", "responded 501 to requests of clients of a later VAMS release"
)
"""Counts responses 501, for all functions together."""

DENIALS_NOT_ENTERED = Metric(
    "DenialsNotEntered",
    "denied requests without an audit entry, because the table did not respond",
)
"""Counts denials that could not be written to the audit log, for all functions together."""

DRIFT_MISSING = Metric("drift_missing", "found assets or files that are missing in the index")
DRIFT_STALE = Metric("drift_stale", "found documents that differ from their sources")
DRIFT_EXTRA = Metric("drift_extra", "found documents whose sources do not exist")
OLDEST_UNINDEXED = Metric(
    "oldest_unindexed_seconds", "took longer than the limit to index a change"
)
CHECK_METRICS = (DRIFT_MISSING, DRIFT_STALE, DRIFT_EXTRA, OLDEST_UNINDEXED)
"""Results of a check of the search indexes. Each raises an alarm above zero; a repair corrects
it."""

QUEUE_METRICS = (BATCHES_GIVEN_BACK,)
INDEXING_METRICS = (INDEXING_POISON, SEARCH_TICKETS_BEHIND)
JOB_METRICS = (JOB_FAILED,)
REPLAY_METRICS = (REPLAYS_GIVEN_UP,)


OF_API = {"consumer": "Api", "service": "Api"}
"""The dimensions of metrics that all functions behind the API share."""


def dimensions(function: str) -> dict[str, str]:
    """Return the dimensions of a metric of a function; the logger calls the function `service`."""
    return {"consumer": function, "service": function}
