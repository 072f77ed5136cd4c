"""Executions as tests make and run them."""

import json
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

from backend.core.clock import iso
from backend.domains.assets.service import AssetService
from backend.domains.executions.models import Execution, PipelineSnapshot
from backend.domains.executions.repository import ActiveRepository, ExecutionRepository
from backend.domains.executions.service.admission import Admission
from backend.domains.executions.service.consumers import StartConsumer, StatusConsumer
from backend.domains.executions.service.payload import Payloads
from backend.domains.executions.service.progress import ExecutionProgress
from backend.domains.executions.service.reconciliation import Reconciliation
from backend.domains.metadata.service import RecordService
from backend.spec import keys
from backend.spec.metrics import Metric
from backend.spec.tables.operations import RESERVATIONS
from tests.factories.assets import NOON, asset_service, created_asset, created_database
from tests.factories.metadata import record_service
from tests.fakes.objects import MemoryObjects
from tests.fakes.queues import MemoryQueues
from tests.fakes.runs import FakeRuns
from tests.fakes.tables import MemoryTables

CREATED_AT = iso(NOON)
BUCKET = "assetbucket"
AUXILIARY = "auxiliarybucket"


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
    """Executions over tables, queues and Step Functions in memory; `now` passes by `wait`."""

    limit: int = 50
    now: datetime = NOON
    tables: MemoryTables = field(default_factory=MemoryTables)
    objects: MemoryObjects = field(default_factory=MemoryObjects)
    queues: MemoryQueues = field(default_factory=MemoryQueues)
    runs: FakeRuns = field(default_factory=FakeRuns)
    kept: list[tuple[str, object, str]] = field(default_factory=list[tuple[str, object, str]])
    alarms: list[Metric] = field(default_factory=list[Metric])

    def __post_init__(self) -> None:
        created_database(self.assets)
        created_asset(self.assets)

    @cached_property
    def assets(self) -> AssetService:
        return asset_service(self.tables, self.objects, clock=self.clock)

    @cached_property
    def executions(self) -> ExecutionRepository:
        return ExecutionRepository(self.tables)

    @cached_property
    def active(self) -> ActiveRepository:
        return ActiveRepository(self.tables)

    @cached_property
    def progress(self) -> ExecutionProgress:
        return ExecutionProgress(self.executions, self.active, self.queues, self.clock)

    @cached_property
    def records(self) -> RecordService:
        return record_service(self.assets, self.tables, clock=self.clock)

    @cached_property
    def admission(self) -> Admission:
        payloads = Payloads(self.assets, self.records, self.objects, lambda: AUXILIARY)
        return Admission(
            executions=self.executions,
            active=self.active,
            progress=self.progress,
            payloads=payloads,
            runs=self.runs,
            clock=self.clock,
            limit=lambda: self.limit,
        )

    @cached_property
    def starter(self) -> StartConsumer:
        return StartConsumer(self.admission, self.queues, self.alarms.append)

    @cached_property
    def status(self) -> StatusConsumer:
        return StatusConsumer(self.progress, self.queues, self._keep, self.alarms.append)

    @cached_property
    def reconciliation(self) -> Reconciliation:
        return Reconciliation(self.active, self.progress, self.runs, self.clock, lambda: 300)

    def clock(self) -> datetime:
        return self.now

    def wait(self, **time: float) -> None:
        self.now += timedelta(**time)

    def create(self, execution_id: str = "e1", **more: Any) -> Execution:
        """An execution that waits; nothing has looked at it yet."""
        execution = new_execution(execution_id, **more)
        self.executions.create(execution, self.active.waiting_write(execution))
        return execution

    def create_many(self, count: int) -> list[str]:
        """Executions of as many files, all of them waiting."""
        ids = [f"e{number:04}" for number in range(count)]
        for one in ids:
            self.create(one, input_asset_file_key=f"statue/{one}.glb")
        return ids

    def start(self) -> dict[str, Any]:
        """Have the starter look."""
        return self.starter.consume({"Records": [{"messageId": "m", "body": "{}"}]})

    def report(self, *messages: Any) -> dict[str, Any]:
        """Deliver status events."""
        records = [
            {"messageId": f"m{number}", "body": json.dumps(body)}
            for number, body in enumerate(messages)
        ]
        return self.status.consume({"Records": records})

    def status_of(self, execution_id: str = "e1") -> str:
        found = self.executions.find(execution_id)
        assert found is not None
        return found.execution_status

    @property
    def counted(self) -> int:
        """How many executions the counter says are admitted."""
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
    """Return an event as the developer guide of Step Functions shows it."""
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
