"""Executions in tests, and the functions that run them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cached_property
from types import SimpleNamespace
from typing import Any

from backend.core.authorization import Secured
from backend.core.clock import iso
from backend.core.identity import Identity
from backend.core.objects import ObjectHead
from backend.domains.executions.models import Execution, PipelineSnapshot
from backend.domains.executions.repository.active import ActiveRepository
from backend.domains.executions.repository.rows import ExecutionRepository
from backend.domains.executions.service.admission import Admission
from backend.domains.executions.service.commands import ExecutionCommands
from backend.domains.executions.service.consumers import StartConsumer
from backend.domains.executions.service.progress import ExecutionProgress
from backend.domains.executions.service.queries import ExecutionQueries
from backend.domains.executions.service.reconciliation import Reconciliation
from backend.domains.facts.models import Inspection, Source
from backend.domains.facts.service.commands import FactCommands
from backend.domains.metadata.service.records import RecordService
from backend.domains.pipelines.models import Pipeline, Resource
from backend.domains.quarantine.models import ScannedVersion
from backend.domains.workflows.models import (
    SpecifiedPipelines,
    Workflow,
    WorkflowFunction,
    own_function,
)
from backend.entrypoints.wiring.assets import assets
from backend.entrypoints.wiring.context import Context
from backend.entrypoints.wiring.events import Run
from backend.entrypoints.wiring.execution_workers import admission, reconciliation, status, triggers
from backend.entrypoints.wiring.executions import execution_commands, execution_queries, progress
from backend.entrypoints.wiring.metadata import records
from backend.spec import keys
from backend.spec.functions.executions import UPLOAD_TRIGGER
from backend.spec.metrics import Metric
from backend.spec.routes import Action, Route
from backend.spec.shipped import INSPECT
from backend.spec.tables.operations import RESERVATIONS
from backend.spec.tables.workflows import PIPELINES, WORKFLOW_EXECUTIONS, WORKFLOWS
from tests.factories.assets import NOON, created_asset, created_database
from tests.factories.buckets import stored_bucket
from tests.fakes.objects import MemoryObjects
from tests.fakes.queues import MemoryQueues
from tests.fakes.runs import FakeRuns
from tests.fakes.tables import MemoryTables
from tests.model.deployment import in_memory_settings


@dataclass
class Rights:
    """The permission port: everything is allowed, except for what is denied.

    `denied` contains object type, id and action; an id or action may be `*`.
    """

    denied: set[tuple[str, str, str]] = field(default_factory=set[tuple[str, str, str]])

    def may_use(self, caller: Identity, route: Route, path: Mapping[str, str]) -> bool:
        return True

    def may(self, caller: Identity, action: Action, target: Secured) -> bool:
        fields = target.fields
        name = fields.get("pipelineId") or fields.get("workflowId") or fields.get("assetName")
        kind = target.object_type
        wanted = {(kind, item, element) for item in (str(name), "*") for element in (action, "*")}
        return not wanted & self.denied


CREATED_AT = iso(NOON)
BUCKET = "assetbucket"
AUXILIARY = "assetauxiliarybucket"


def pipeline_snapshot(pipeline_id: str = "convert", **more: Any) -> PipelineSnapshot:
    """A Lambda pipeline of the database `museum`."""
    values: dict[str, Any] = {
        "pipeline_id": pipeline_id,
        "database_id": "museum",
        "pipeline_execution_type": "Lambda",
        "resource": f"arn:aws:lambda:us-east-1:123456789012:function:{pipeline_id}",
        "task_timeout": 3600,
        "task_heartbeat_timeout": 600,
    }
    return PipelineSnapshot(**values | more)


def stored_pipeline(pipeline_id: str, database_id: str, **more: Any) -> Pipeline:
    """A Lambda pipeline, as stored in its row."""
    resource = Resource(resource_id=f"vitrine-{pipeline_id}", resource_type="Lambda")
    values: dict[str, Any] = {
        "database_id": database_id,
        "pipeline_id": pipeline_id,
        "pipeline_type": "standardFile",
        "pipeline_execution_type": "Lambda",
        "description": "Converts models",
        "asset_type": ".obj",
        "user_provided_resource": resource.text,
        "date_created": CREATED_AT,
        "date_updated": CREATED_AT,
    }
    return Pipeline.model_validate(values | more)


def new_execution(execution_id: str = "e1", **more: Any) -> Execution:
    """An execution of the workflow `convert-all` on a file of the asset `statue`."""
    values: dict[str, Any] = {
        "database_id": "museum",
        "asset_id": "statue",
        "execution_id": execution_id,
        "workflow_database_id": "museum",
        "workflow_id": "convert-all",
        "input_asset_file_key": "statue/a.glb",
        "input_version_id": "v1",
        "created_at": CREATED_AT,
        "started_by": "ann",
        "chain": ["museum:convert-all"],
        "pipelines": [pipeline_snapshot()],
    }
    return Execution(**values | more)


@dataclass
class Runner:
    """Executions over tables, queues and Step Functions in memory; `wait` advances `now`."""

    limit: int = 50
    now: datetime = NOON
    tables: MemoryTables = field(default_factory=MemoryTables)
    objects: MemoryObjects = field(default_factory=MemoryObjects)
    queues: MemoryQueues = field(default_factory=MemoryQueues)
    runs: FakeRuns = field(default_factory=FakeRuns)
    rights: Rights = field(default_factory=Rights)
    kept: list[tuple[str, object, str]] = field(default_factory=list[tuple[str, object, str]])
    alarms: list[Metric] = field(default_factory=list[Metric])

    def __post_init__(self) -> None:
        stored_bucket(self.tables)
        created_database(assets(self.context))
        created_asset(assets(self.context))

    @cached_property
    def context(self) -> Context:
        """The services of the functions of executions, over ports in memory."""
        return Context(
            UPLOAD_TRIGGER,
            self.clock,
            settings=in_memory_settings(SETTING_MALWARE_SCAN="1"),
            tables=self.tables,
            objects=self.objects,
            queues=self.queues,
            runs=self.runs,
            authorization=self.rights,
            rules=self.rights,
            failures=SimpleNamespace(store=self._keep),
            count_metric=self.alarms.append,
        )

    @cached_property
    def triggers(self) -> Run:
        return triggers(self.context)

    @property
    def queries(self) -> ExecutionQueries:
        return execution_queries(self.context)

    @property
    def commands(self) -> ExecutionCommands:
        return execution_commands(self.context)

    @property
    def executions(self) -> ExecutionRepository:
        return ExecutionRepository(self.tables)

    @property
    def active(self) -> ActiveRepository:
        return ActiveRepository(self.tables)

    @property
    def progress(self) -> ExecutionProgress:
        return progress(self.context)

    @property
    def records(self) -> RecordService:
        return records(self.context)

    @property
    def reconciliation(self) -> Reconciliation:
        return reconciliation(self.context)

    @cached_property
    def admission(self) -> Admission:
        return replace(admission(self.context), limit=lambda: self.limit)

    def define(
        self,
        workflow_id: str = "publish",
        *,
        database_id: str = "museum",
        pipelines: Sequence[tuple[str, str]] = (("museum", "convert"),),
        triggers: str = "",
        stored_by: str | None = "curator",
        **pipeline: Any,
    ) -> None:
        """Store a workflow, and those of its pipelines that are missing, by database and id."""
        functions: list[WorkflowFunction] = []
        for place, name in pipelines:
            stored = stored_pipeline(name, place, **pipeline)
            self.tables.put_many(PIPELINES, [stored.model_dump(by_alias=True, exclude_none=True)])
            functions.append(WorkflowFunction.of(stored))
        workflow = Workflow(
            database_id=database_id,
            workflow_id=workflow_id,
            description="Publishes models",
            specified_pipelines=SpecifiedPipelines(functions=functions),
            auto_trigger_on_file_extensions_upload=triggers,
            date_created=CREATED_AT,
            date_modified=CREATED_AT,
            stored_by=stored_by,
            stored_at=None if stored_by is None else CREATED_AT,
        )
        self.tables.put_many(WORKFLOWS, [workflow.model_dump(by_alias=True, exclude_none=True)])

    def define_inspection(self, **other: Any) -> None:
        """Store the shipped workflow that inspects files, as bootstrap does."""
        values: dict[str, Any] = {
            "database_id": "GLOBAL",
            "pipelines": [("GLOBAL", INSPECT.id)],
            "triggers": INSPECT.triggers,
            "user_provided_resource": own_function(INSPECT.function).text,
        }
        self.define(INSPECT.id, **values | other)

    def list_executions(self) -> list[Execution]:
        """Return all executions, the oldest first."""
        rows = self.tables.rows(WORKFLOW_EXECUTIONS)
        return sorted(map(Execution.model_validate, rows), key=lambda row: row.execution_id)

    def record_inspection(self, path: str, readers_version: int | None, **more: Any) -> None:
        """Store what the readers found in the current version of a file."""
        head = self.objects.head(BUCKET, f"statue{path}")
        assert isinstance(head, ObjectHead)
        source = Source(version_id=head.version.version_id)
        result = Inspection(version=1, source=source, readers_version=readers_version, **more)
        facts = FactCommands(assets(self.context), self.records, self.objects)
        assert facts.record("museum", "statue", path, result)

    def upload(self, key: str = "statue/a.glb", body: bytes = b"model", **metadata: str) -> str:
        """Write an object; return its version."""
        named = {name.replace("_", "-"): value for name, value in metadata.items()}
        written = self.objects.put(
            BUCKET, key, body, content_type="application/octet-stream", metadata=named
        )
        return written.version_id

    def quarantine_version(self, version: ScannedVersion, verdict: Mapping[str, str]) -> None:
        """Deliver a malware scan result with a threat in a version."""
        key = keys.quarantine(version.bucket, version.version_id, version.key)
        self.tables.put_many(RESERVATIONS, [{"reservationKey": key, **verdict}])

    def trigger(self, *objects: str, bucket: str = BUCKET) -> dict[str, Any]:
        """Deliver events of new versions of objects."""
        records = [
            {
                "messageId": f"m{number}",
                "receiptHandle": f"r{number}",
                "body": json.dumps(
                    {"detail": {"bucket": {"name": bucket}, "object": {"key": key, "size": 5}}}
                ),
            }
            for number, key in enumerate(objects)
        ]
        return self.triggers({"Records": records})

    def clock(self) -> datetime:
        return self.now

    def wait(self, **time: float) -> None:
        self.now += timedelta(**time)

    def create(self, execution_id: str = "e1", **more: Any) -> Execution:
        """An execution that waits; the starter has not run yet."""
        execution = new_execution(execution_id, **more)
        self.executions.create(execution, self.active.waiting_write(execution))
        return execution

    def create_many(self, count: int) -> list[str]:
        """Executions of this many files, all of them waiting."""
        ids = [f"e{number:04}" for number in range(count)]
        for item in ids:
            self.create(item, input_asset_file_key=f"statue/{item}.glb")
        return ids

    def start(self, *, received: int = 1) -> dict[str, Any]:
        """Run the starter."""
        attributes = {"ApproximateReceiveCount": str(received)}
        message = {"messageId": "m", "body": "{}", "attributes": attributes}
        starter = StartConsumer(self.admission, self.queues, self.alarms.append)
        return starter.consume({"Records": [message]})

    def report(self, *messages: Any) -> dict[str, Any]:
        """Deliver status events."""
        records = [
            {"messageId": f"m{number}", "body": json.dumps(body)}
            for number, body in enumerate(messages)
        ]
        return status(self.context)({"Records": records})

    def execution(self, execution_id: str = "e1") -> Execution:
        execution = self.executions.find(execution_id)
        assert execution is not None
        return execution

    def status_of(self, execution_id: str = "e1") -> str:
        return self.execution(execution_id).execution_status

    def outcome(self, execution_id: str = "e1") -> tuple[str, str | None]:
        """Return the status of an execution, and the code of its error."""
        execution = self.execution(execution_id)
        return execution.execution_status, execution.error and execution.error.code

    def admit_waiting(self) -> None:
        """Admit the execution that waits, by a process that dies before it starts it."""
        (waiting,) = self.active.oldest_waiting(1)
        self.active.admit(waiting, at=CREATED_AT, limit=50)

    @property
    def counted(self) -> int:
        """The number of admitted executions, by their counter."""
        item = self.tables.get(RESERVATIONS, {"reservationKey": keys.ADMITTED_EXECUTIONS})
        return 0 if item is None else int(item["count"])

    def _keep(self, name: str, body: object, reason: str) -> None:
        self.kept.append((name, body, reason))


def status_event(
    execution_id: str = "e1",
    status: str = "SUCCEEDED",
    *,
    error: str | None = None,
    cause: str | None = None,
) -> dict[str, Any]:
    """Return an event in the form of Step Functions' developer guide."""
    machine = "arn:aws:states:us-east-1:123456789012:stateMachine:vitrine-dev-executions"
    arn = f"{machine.replace('stateMachine', 'execution')}:{execution_id}"
    started = int(NOON.timestamp() * 1000)
    return {
        "version": "0",
        "id": "315c1398-40ff-a850-213b-158f73e60175",
        "detail-type": "Step Functions Execution Status Change",
        "source": "aws.states",
        "account": "123456789012",
        "time": "2026-03-01T12:00:05Z",
        "region": "us-east-1",
        "resources": [arn],
        "detail": {
            "executionArn": arn,
            "stateMachineArn": machine,
            "name": execution_id,
            "status": status,
            "startDate": started,
            "stopDate": None if status == "RUNNING" else started + 5000,
            "input": "{}",
            "output": None,
            "error": error,
            "cause": cause,
        },
    }
