"""The product in process: its own wiring, over ports in memory or of real engines."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, cast

from backend.aws.items import to_wire
from backend.aws.settings import Settings
from backend.core.authorization import SystemOnly
from backend.core.objects import Objects
from backend.core.queues import Queues
from backend.core.search_engine import SearchEngine
from backend.core.tables import Tables
from backend.domains.asset_lifecycle.repository import LifecycleRepository
from backend.domains.asset_lifecycle.service.jobs import ArchiveSteps
from backend.domains.files.repository import FileRepository
from backend.domains.files.service.origin_records import OriginRecords
from backend.domains.jobs.service.consumers import JobStarter
from backend.domains.metadata.repository import MetadataRepository
from backend.entrypoints.wiring.assets import assets
from backend.entrypoints.wiring.audit_streams import creations
from backend.entrypoints.wiring.bucket_workers import sync_events
from backend.entrypoints.wiring.context import Context
from backend.entrypoints.wiring.events import Run
from backend.entrypoints.wiring.failures import failures
from backend.entrypoints.wiring.indexing import fan_out, object_events, settling, table_changes
from backend.entrypoints.wiring.job_workers import job_consumer
from backend.entrypoints.wiring.lifecycle_steps import lifecycle_steps
from backend.entrypoints.wiring.metadata import records
from backend.entrypoints.wiring.rebuilds import reindexing
from backend.search.indexing.indexes import ensure_indexes
from backend.search.indexing.state import SearchState
from backend.spec.buckets import BUCKETS, FAILURE_BUCKET
from backend.spec.functions import Function, apis, workers
from backend.spec.jobs import DELETE_ASSET
from backend.spec.queues import LIFECYCLE, QUEUES
from backend.spec.secrets import SECRETS
from backend.spec.settings import SETTINGS
from backend.spec.tables import TABLES
from backend.spec.topics import TOPICS
from tests.factories.access import OnlyUser
from tests.factories.search import NOON, rebuilder
from tests.factories.workflows import ALLOWED_ARNS
from tests.fakes.tables import Change

Event = Mapping[str, Any]
Handler = Callable[[Event], Mapping[str, Any]]

LIFE_SECONDS = 60
"""Time after which a worker is killed."""
LAG_SECONDS = 30
"""Maximum lag of the tables' indexes."""
SETTLE_SECONDS = LIFE_SECONDS + LAG_SECONDS + 10


@dataclass
class Time:
    """The clock of a deployment; tests advance it."""

    seconds: int = 0

    def now(self) -> int:
        return self.seconds

    def clock(self) -> datetime:
        return NOON + timedelta(seconds=self.seconds)


@dataclass(frozen=True)
class Ports:
    tables: Tables
    objects: Objects
    queues: Queues
    engine: SearchEngine
    settings: Settings
    clock: Callable[[], datetime]
    catch_up: Callable[[], None] = lambda: None
    """Lets indexes catch up, for a request that waits for them."""


def in_memory_settings(**more: str) -> Settings:
    """Names for all declared resources; `more` are variables with other values."""
    environment = {f"TABLE_{table.name}": table.name for table in TABLES}
    environment |= {f"BUCKET_{bucket.name}": bucket.name.lower() for bucket in BUCKETS}
    environment |= {f"QUEUE_{queue.name}": queue.name for queue in QUEUES}
    environment |= {f"TOPIC_{topic.name}": topic.name for topic in TOPICS}
    environment |= {f"SECRET_{secret.name}": secret.name for secret in SECRETS}
    return Settings(environment | settings_of_functions() | {"AWS_REGION": "us-east-1"} | more)


def settings_of_functions() -> dict[str, str]:
    values = {setting.variable: str(setting.default) for setting in SETTINGS}
    values["SETTING_SETTLE_DELAY_SECONDS"] = str(SETTLE_SECONDS)
    values["SETTING_UPLOAD_RATE_PER_MINUTE"] = "10000"
    values["EXECUTIONS_STATE_MACHINE_ARN"] = "arn:aws:states:us-east-1:1:stateMachine:executions"
    values["SETTING_ALLOWED_PIPELINES"] = ",".join(ALLOWED_ARNS)
    return values


@dataclass
class Deployment:
    """The services behind the API, and the functions that consume streams and queues, by name."""

    ports: Ports
    consumers: dict[str, Handler] = field(init=False)

    def __post_init__(self) -> None:
        ensure_indexes(self.ports.engine, SearchState(self.ports.tables, self.ports.clock))
        self.services = self.wired(workers.INDEX_CHANGES)
        self.lifecycle_api = self.lifecycle(apis.LIFECYCLE_API)
        self.consumers = {name: self._handler(name) for name in CONSUMERS}

    def wired(self, function: Function, **parts: Any) -> Context:
        """The context of a function, with these ports instead of those of AWS."""
        ports = self.ports
        result: dict[str, Any] = {
            "settings": ports.settings,
            "tables": ports.tables,
            "objects": ports.objects,
            "queues": ports.queues,
            "authorization": OnlyUser(),
            "rebuilder": rebuilder(
                ports.tables,
                ports.objects,
                ports.queues,
                ports.engine,
                clock=ports.clock,
                failure_bucket=ports.settings.bucket(FAILURE_BUCKET),
                settle_delay_seconds=SETTLE_SECONDS,
            ),
        }
        context = Context(function, ports.clock, **(result | parts))
        metadata = MetadataRepository(ports.tables, pause=lambda _: ports.catch_up())
        vars(context)["records"] = replace(records(context), metadata=metadata)
        return context

    def lifecycle(self, function: Function) -> Context:
        """The requests that archive and delete, whose jobs process one file per step."""
        context = self.wired(function)
        vars(context)["archive_steps"] = ArchiveSteps(
            repository=LifecycleRepository(self.ports.tables),
            assets=assets(context),
            objects=self.ports.objects,
            reindexing=reindexing(context),
            origins=OriginRecords(FileRepository(self.ports.tables)),
            files=1,
        )
        return context

    def _handler(self, name: str) -> Handler:
        return CONSUMERS[name](self)


def _lifecycle_worker(on: Deployment) -> Run:
    """The worker as deployed, but with smaller steps of jobs."""
    context = on.lifecycle(workers.LIFECYCLE_WORKER)
    steps = dict(lifecycle_steps(context))
    deletion = cast("Any", steps[DELETE_ASSET.name]).__self__
    steps[DELETE_ASSET.name] = replace(deletion, versions=2).delete
    return job_consumer(context, LIFECYCLE, steps)


def _bucket_sync(on: Deployment) -> Run:
    """As deployed: without a caller, it acts as the product itself."""
    return sync_events(on.wired(workers.BUCKET_SYNC, authorization=SystemOnly()))


def _creations(on: Deployment) -> Run:
    context = on.wired(workers.AUDIT_CREATIONS)
    return creations(context, failures(context).store)


CONSUMERS: dict[str, Callable[[Deployment], Run]] = {
    "IndexChanges": lambda on: table_changes(on.wired(workers.INDEX_CHANGES)),
    "IndexObjects": lambda on: object_events(on.wired(workers.INDEX_OBJECTS)),
    "IndexSettle": lambda on: settling(on.wired(workers.INDEX_SETTLE)),
    "IndexFanOut": lambda on: fan_out(on.wired(workers.INDEX_FAN_OUT)),
    "JobStarter": lambda on: JobStarter(on.wired(workers.JOB_STARTER).queues).consume,
    "LifecycleWorker": _lifecycle_worker,
    "BucketSync": _bucket_sync,
    "AuditCreations": _creations,
}
"""The function of each subscription, and how it is created."""
LEFT_OUT = {
    "AuditArchiver": "no time to live ends in a history",
    "BucketImportWorker": "no history imports; the sync makes the same decisions",
    "ExecutionFollower": "no history runs a workflow; executions have tests of their own",
    "ExecutionStarter": "as ExecutionFollower",
    "LargeFileWorker": "histories have small files",
    "PurgeWorker": "no history purges a database; tests of its own kill it at each write",
    "ReadEntries": "it writes entries of the audit trail and nothing that is indexed",
    "SearchWorker": "no history asks for a check or a reindex; both have histories of their own",
    "EventPublisher": "as Notifier",
    "Notifier": "nobody subscribes in a history; it tells people and changes nothing",
    "Quarantine": "no history scans; it changes no asset and no document",
    "UploadTrigger": "as ExecutionFollower: no workflow starts on an upload",
}
"""Functions of subscriptions that no history invokes, each with the reason."""


def stream_record(change: Change, number: int) -> dict[str, Any]:
    """The stream record of a change."""
    fields: dict[str, Any] = {"Keys": to_wire(change.key), "SequenceNumber": str(number)}
    for name, item in (("NewImage", change.new), ("OldImage", change.old)):
        if item is not None and (name == "NewImage" or change.table.stream != "NEW_IMAGE"):
            fields[name] = to_wire(item)
    kind = "REMOVE" if change.new is None else "INSERT" if change.old is None else "MODIFY"
    return {"eventID": str(number), "eventName": kind, "dynamodb": fields}


def object_event(bucket: str, key: str) -> dict[str, Any]:
    """The queue message of an object event, in EventBridge's form."""
    return {
        "source": "aws.s3",
        "detail-type": "Object Created",
        "detail": {"bucket": {"name": bucket}, "object": {"key": key}},
    }


def is_wanted(record: Mapping[str, Any], pattern: str | None) -> bool:
    """Return whether a record passes the filter of its subscription, as far as they are used."""
    return pattern is None or _fits(record, json.loads(pattern))


def _fits(value: Any, pattern: Any) -> bool:
    if isinstance(pattern, list):
        return value in pattern
    inner = cast("dict[str, Any]", pattern)
    return all(name in (value or {}) and _fits(value[name], inner[name]) for name in inner)
