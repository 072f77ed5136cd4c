"""Queues, and the subscriptions that deliver changes to the functions that index them."""

import json

from backend.spec.buckets import ASSET_BUCKET, TEMP_UPLOADS_PREFIX, Bucket
from backend.spec.tables import assets, metadata, operations
from backend.spec.tables.model import Table
from backend.values import frozen


@frozen
class Queue:
    """A standard SQS queue with a dead-letter queue `<name>DeadLetters`.

    `max_receives` is high, because messages must survive an outage of the search engine. If the
    function dies each time, at least half of the retention remains to find the message among the
    dead letters: SQS counts a message's age from when it was first sent.

    `time_outs_hidden`: a message whose function dies is delivered again after this many function
    time-outs. AWS advises six, for functions that may be throttled.
    """

    name: str
    description: str
    # A message is hidden for six time-outs, 12 minutes of the longest: 800 times are 6.7 days.
    max_receives: int = 800
    # SQS's maximum.
    retention_days: int = 14
    time_outs_hidden: int = 6
    with_events: tuple[str, ...] = ()
    """The values of the setting `EVENTS` with which it is deployed; empty: all."""


def _of_jobs(name: str, description: str) -> Queue:
    """Declare a queue of jobs, which hides a message as long as the longest lease lasts."""
    # AWS advises six times the function's time-out, for messages that are delivered again after a
    # throttled call. Such a message finds the lease here and waits: no work is done twice.
    return Queue(name, description, time_outs_hidden=2)


OBJECT_EVENTS = Queue("ObjectEvents", "Object events of the asset buckets, by EventBridge.")
BUCKET_EVENTS = Queue(
    "BucketEvents",
    "The same events again, for objects written by other programs: they become assets and files.",
)
SCAN_RESULTS = Queue(
    "ScanResults", "Results of malware scans of the asset buckets, by EventBridge."
)
SETTLE = Queue("Settle", "Documents to rebuild once global indexes are up to date.")
FAN_OUT = _of_jobs("FanOut", "Jobs that rebuild the documents of an asset's files.")
LIFECYCLE = _of_jobs("Lifecycle", "Jobs that archive, restore, delete and clean up.")
PURGES = _of_jobs("Purges", "Jobs that purge deleted databases.")
LARGE_FILES = _of_jobs("LargeFiles", "Jobs that assemble large uploaded files.")
BUCKET_IMPORTS = _of_jobs(
    "BucketImports", "Jobs that import existing objects of a bucket, or renew facts of files."
)
READS = Queue("Reads", "Reads to record in the audit log.")
EXECUTION_STARTS = Queue(
    "ExecutionStarts", "Requests to start waiting executions as the limit allows."
)
EXECUTION_STATUS = Queue(
    "ExecutionStatus", "Changes of executions' status, as Step Functions reports them."
)
UPLOAD_TRIGGERS = Queue(
    "UploadTriggers",
    "Files with new versions, from BucketSync, or with old facts: workflows are started on them. "
    "And files whose inspection failed.",
)
OUTGOING_EVENTS = Queue(
    "OutgoingEvents", "Changes of assets to publish as events.", with_events=("bus", "queue")
)
EVENT_FEED = Queue(
    "EventFeed", "Events in place of a bus, for programs of the deployer.", with_events=("queue",)
)
SEARCH_WORK = _of_jobs("SearchWork", "Jobs that check, repair and rebuild the search indexes.")

QUEUES = (
    OBJECT_EVENTS,
    BUCKET_EVENTS,
    SCAN_RESULTS,
    SETTLE,
    FAN_OUT,
    LIFECYCLE,
    PURGES,
    LARGE_FILES,
    BUCKET_IMPORTS,
    SEARCH_WORK,
    READS,
    EXECUTION_STARTS,
    EXECUTION_STATUS,
    UPLOAD_TRIGGERS,
    OUTGOING_EVENTS,
)
"""Queues whose messages the product receives."""


@frozen
class StreamSubscription:
    """A table's stream that invokes a function (named by its logical id).

    `pattern` is an event pattern in JSON; records that do not match it invoke nothing.
    """

    source: Table
    consumer: str
    # Changes of one document within a batch, or its window of a second, are built once.
    batch_size: int = 500
    window_seconds: int = 1
    bisect: bool = True
    max_record_age_seconds: int = 86_400  # the time for which a stream keeps a record
    pattern: str | None = None
    pattern_with_events: str | None = None
    """The pattern in its place if the setting `EVENTS` is not `off`."""


@frozen
class QueueSubscription:
    """A queue that invokes a function."""

    source: Queue
    consumer: str
    batch_size: int = 100
    window_seconds: int = 1
    max_concurrency: int = 10


OBJECT_EVENT_TYPES = ("Object Created", "Object Deleted", "Object Storage Class Changed")


@frozen
class ObjectSubscription:
    """A bucket whose object events go to a queue, by an EventBridge rule.

    The rule ignores events of keys that begin with `ignored_prefix`. No asset has such a key: a
    base prefix never begins with a reserved folder. For base prefixes that are registered later,
    the consumer drops events that it does not index.
    """

    source: Bucket
    queue: Queue
    ignored_prefix: str = TEMP_UPLOADS_PREFIX
    events: tuple[str, ...] = OBJECT_EVENT_TYPES


def _entries_of(*prefixes: str) -> str:
    """Return the pattern of new audit entries whose entity begins so."""
    entity = {"S": [{"prefix": prefix} for prefix in prefixes]}
    pattern = {"eventName": ["INSERT"], "dynamodb": {"Keys": {"entity": entity}}}
    return json.dumps(pattern, separators=(",", ":"))


STREAM_SUBSCRIPTIONS = (
    StreamSubscription(assets.ASSETS, "IndexChanges"),
    StreamSubscription(assets.ASSET_LINKS, "IndexChanges"),
    StreamSubscription(metadata.ASSET_FILE_METADATA, "IndexChanges"),
    StreamSubscription(metadata.FILE_ATTRIBUTES, "IndexChanges"),
    StreamSubscription(
        operations.JOBS,
        "JobStarter",
        batch_size=100,
        window_seconds=0,
        pattern='{"dynamodb":{"NewImage":{"state":{"S":["queued"]}}}}',
    ),
    # Archiving or restoring an asset also creates a new row, with a later revision.
    StreamSubscription(
        assets.ASSETS,
        "AuditCreations",
        pattern='{"eventName":["INSERT"],"dynamodb":{"NewImage":{"revision":{"N":["1"]}}}}',
    ),
    StreamSubscription(
        operations.AUDIT,
        "AuditArchiver",
        window_seconds=5,  # a longer one results in fewer, larger objects; no user waits for them
        pattern=(
            '{"eventName":["REMOVE"],"userIdentity":'
            '{"type":["Service"],"principalId":["dynamodb.amazonaws.com"]}}'
        ),
    ),
    # Changes of an asset or its files. A longer window results in fewer notifications with more
    # changes.
    StreamSubscription(
        operations.AUDIT,
        "Notifier",
        window_seconds=5,
        pattern=_entries_of("asset:", "file:"),
        pattern_with_events=_entries_of("asset:", "file:", "execution:"),
    ),
)
QUEUE_SUBSCRIPTIONS = (
    QueueSubscription(OBJECT_EVENTS, "IndexObjects"),
    QueueSubscription(BUCKET_EVENTS, "BucketSync"),
    QueueSubscription(SCAN_RESULTS, "Quarantine", batch_size=10),
    # A message names up to some hundred documents: only few fit the time-out at once.
    QueueSubscription(SETTLE, "IndexSettle", batch_size=10),
    # A message takes up to twenty seconds.
    QueueSubscription(FAN_OUT, "IndexFanOut", batch_size=1, window_seconds=0),
    QueueSubscription(LIFECYCLE, "LifecycleWorker", batch_size=1, window_seconds=0),
    QueueSubscription(PURGES, "PurgeWorker", batch_size=1, window_seconds=0, max_concurrency=2),
    QueueSubscription(LARGE_FILES, "LargeFileWorker", batch_size=1, window_seconds=0),
    QueueSubscription(BUCKET_IMPORTS, "BucketImportWorker", batch_size=1, window_seconds=0),
    QueueSubscription(SEARCH_WORK, "SearchWorker", batch_size=1, window_seconds=0),
    # A message names up to a thousand assets: only few fit the time-out at once.
    QueueSubscription(READS, "ReadEntries", batch_size=10),
    # Starters share one counter: more of them at once would not be faster.
    QueueSubscription(
        EXECUTION_STARTS, "ExecutionStarter", batch_size=10, window_seconds=0, max_concurrency=2
    ),
    QueueSubscription(EXECUTION_STATUS, "ExecutionFollower", batch_size=10, window_seconds=0),
    QueueSubscription(UPLOAD_TRIGGERS, "UploadTrigger", batch_size=10, window_seconds=0),
    # Publishers share the counter of an asset: more of them at once would not be faster.
    QueueSubscription(OUTGOING_EVENTS, "EventPublisher", max_concurrency=2),
)
OBJECT_SUBSCRIPTIONS = (
    ObjectSubscription(ASSET_BUCKET, OBJECT_EVENTS),
    ObjectSubscription(ASSET_BUCKET, BUCKET_EVENTS),
)
STATUS_QUEUES = (EXECUTION_STATUS,)
"""Queues that receive the state machine's status events from an EventBridge rule."""
SCAN_SUBSCRIPTIONS = (ObjectSubscription(ASSET_BUCKET, SCAN_RESULTS),)
"""Buckets whose malware scan results are sent to a queue, if the stage enables scans."""

UNCONSUMED_STREAMS: dict[str, str] = {
    assets.DATABASES.name: "of a database, documents contain only the id",
    assets.ASSET_LINKS_METADATA.name: "documents contain no metadata of links",
    metadata.DATABASE_METADATA.name: "documents contain no metadata of databases",
}
"""Streams without a consumer, each with the reason."""
