"""The product in process: its own wiring, over ports in memory or of real engines."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, TypeVar, cast

from backend.aws.items import to_wire
from backend.aws.settings import Settings
from backend.core.authorization import SystemOnly
from backend.core.objects import Objects
from backend.core.queues import Queues
from backend.core.search_engine import SearchEngine
from backend.core.tables import Tables
from backend.domains.asset_lifecycle.repository import LifecycleRepository
from backend.domains.asset_lifecycle.service import ArchiveSteps
from backend.domains.metadata.repository import MetadataRepository
from backend.entrypoints.audit_streams import AuditingWiring
from backend.entrypoints.bucket_sync import SyncWiring
from backend.entrypoints.indexing import IndexingWiring
from backend.entrypoints.job_workers import WorkerWiring
from backend.entrypoints.lifecycle import LifecycleWiring
from backend.entrypoints.wiring import Wiring
from backend.search.indexing.indexes import ensure_indexes
from backend.search.indexing.state import SearchState
from backend.spec.buckets import BUCKETS, FAILURE_BUCKET
from backend.spec.functions import Function, apis, workers
from backend.spec.jobs import DELETE_ASSET, WITHDRAW_TAG
from backend.spec.queues import LIFECYCLE, QUEUES
from backend.spec.secrets import SECRETS
from backend.spec.settings import SETTINGS
from backend.spec.tables import TABLES
from backend.spec.topics import TOPICS
from tests.factories.access import OnlyUser
from tests.factories.http import Context
from tests.factories.search import NOON, rebuilder
from tests.factories.workflows import ALLOWED_ARNS
from tests.fakes.tables import Change

Event = Mapping[str, Any]
Handler = Callable[[Event], Mapping[str, Any]]
W = TypeVar("W", bound=Wiring)

LIFE_SECONDS = 60
"""After this a worker is killed."""
LAG_SECONDS = 30
"""By so much indexes of tables lag behind at the most."""
SETTLE_SECONDS = LIFE_SECONDS + LAG_SECONDS + 10


@dataclass
class Time:
    """The time of a deployment; it passes when it is told to."""

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
    """Has indexes see everything, for a request that waits until they do."""


def in_memory_settings(**more: str) -> Settings:
    """Names for everything that is declared; `more` are variables with other values."""
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
        self.services = self.wired(IndexingWiring, workers.INDEX_CHANGES)
        self.lifecycle_api = self.lifecycle(apis.LIFECYCLE_API)
        self.consumers = {name: self._handler(name) for name in CONSUMERS}

    def wired(self, kind: type[W], function: Function) -> W:
        """The product's own wiring of a function, with these ports in place of those of AWS."""
        wiring = kind(function, self.ports.clock)
        ports = self.ports
        parts = {
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
        vars(wiring).update(parts)  # parts that are there are not built
        metadata = MetadataRepository(ports.tables, pause=lambda _: ports.catch_up())
        vars(wiring)["records"] = replace(wiring.records, metadata=metadata)
        return wiring

    def lifecycle(self, function: Function) -> LifecycleWiring:
        """The verbs of archiving and deleting, whose jobs take one file a step."""
        wiring = self.wired(LifecycleWiring, function)
        steps = ArchiveSteps(
            repository=LifecycleRepository(self.ports.tables),
            assets=wiring.assets,
            objects=self.ports.objects,
            reindexing=wiring.reindexing,
            files=1,
        )
        vars(wiring)["_archive_steps"] = steps
        return wiring

    def _handler(self, name: str) -> Handler:
        made = CONSUMERS[name](self)
        return lambda event: made(dict(event), Context())


def _lifecycle_worker(on: Deployment) -> Callable[[dict[str, Any], Any], Any]:
    """The worker as it is deployed, but with jobs cut into smaller steps."""
    wiring = on.lifecycle(workers.LIFECYCLE_WORKER)
    steps = {WITHDRAW_TAG.name: wiring.tag_withdrawal, **wiring.lifecycle_steps}
    deletion = cast("Any", steps[DELETE_ASSET.name]).__self__
    steps[DELETE_ASSET.name] = replace(deletion, versions=2).delete
    return wiring.consumer_handler(LIFECYCLE, steps)


def _bucket_sync(on: Deployment) -> Callable[[dict[str, Any], Any], Any]:
    """As it is deployed: nobody asks it, and it acts as the product itself."""
    wiring = on.wired(SyncWiring, workers.BUCKET_SYNC)
    vars(wiring)["authorization"] = SystemOnly()
    return wiring.events_handler


CONSUMERS: dict[str, Callable[[Deployment], Callable[[dict[str, Any], Any], Any]]] = {
    "IndexChanges": lambda on: on.wired(IndexingWiring, workers.INDEX_CHANGES).changes_handler,
    "IndexObjects": lambda on: on.wired(IndexingWiring, workers.INDEX_OBJECTS).objects_handler,
    "IndexSettle": lambda on: on.wired(IndexingWiring, workers.INDEX_SETTLE).settle_handler,
    "IndexFanOut": lambda on: on.wired(IndexingWiring, workers.INDEX_FAN_OUT).fan_out_handler,
    "JobStarter": lambda on: on.wired(WorkerWiring, workers.JOB_STARTER).starter_handler,
    "LifecycleWorker": _lifecycle_worker,
    "BucketSync": _bucket_sync,
    "AuditCreations": lambda on: (
        on.wired(AuditingWiring, workers.AUDIT_CREATIONS).creations_handler
    ),
}
"""How the function of each subscription is made."""
LEFT_OUT = {
    "AuditArchiver": "no time to live ends in a history",
    "BucketImportWorker": "no history imports; the sync makes the same decisions",
    "ExecutionFollower": "no history runs a workflow; executions have tests of their own",
    "ExecutionStarter": "as ExecutionFollower",
    "LargeFileWorker": "histories have small files",
    "PurgeWorker": "no history purges a database; tests of its own kill it at each write",
    "ReadEntries": "it writes entries of the audit trail and nothing that is indexed",
    "SearchWorker": "no history asks for a check or a reindex; both have histories of their own",
    "Notifier": "nobody subscribes in a history; it tells people and changes nothing",
    "Quarantine": "no history scans; it changes no asset and no document",
    "UploadTrigger": "as ExecutionFollower: no workflow starts on an upload",
}
"""Functions of subscriptions that no history wakes, each with the reason."""


def stream_record(change: Change, number: int) -> dict[str, Any]:
    """The record that a stream tells a change by."""
    told: dict[str, Any] = {"Keys": to_wire(change.key), "SequenceNumber": str(number)}
    for name, item in (("NewImage", change.new), ("OldImage", change.old)):
        if item is not None and (name == "NewImage" or change.table.stream != "NEW_IMAGE"):
            told[name] = to_wire(item)
    kind = "REMOVE" if change.new is None else "INSERT" if change.old is None else "MODIFY"
    return {"eventID": str(number), "eventName": kind, "dynamodb": told}


def object_event(bucket: str, key: str) -> dict[str, Any]:
    """The event that EventBridge puts into a queue for an object."""
    return {
        "source": "aws.s3",
        "detail-type": "Object Created",
        "detail": {"bucket": {"name": bucket}, "object": {"key": key}},
    }


def is_wanted(record: Mapping[str, Any], pattern: str | None) -> bool:
    """Whether a record passes the filter of its subscription, as far as ours go."""
    return pattern is None or _fits(record, json.loads(pattern))


def _fits(value: Any, pattern: Any) -> bool:
    if isinstance(pattern, list):
        return value in pattern
    inner = cast("dict[str, Any]", pattern)
    return all(name in (value or {}) and _fits(value[name], inner[name]) for name in inner)
