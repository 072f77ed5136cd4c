"""Facts of files as they are stored, or why an inspection failed; they are the product's."""

import base64
import json
import struct
from collections.abc import Callable
from typing import Any

import pytest

from backend.core.errors import InvalidInputError
from backend.domains.executions.errors import PipelineNotAllowedError
from backend.domains.executions.rules import INTERRUPTED, MAX_REPEATS, STOPPED
from backend.domains.metadata.models import MAX_RECORDS, Entity, NewRecord
from backend.domains.metadata_schemas.models import CreateSchemaBody
from backend.domains.metadata_schemas.service import MetadataSchemaService
from backend.spec.facts import READERS_VERSION
from backend.spec.queues import UPLOAD_TRIGGERS
from backend.spec.shipped import INSPECT
from tests.factories.assets import ADMIN
from tests.factories.audit import entries
from tests.factories.execution_api import Api
from tests.factories.executions import BUCKET, Runner, status_event
from tests.factories.outages import unavailable
from tests.unit.domains.facts.inspections import ATTRIBUTES, PATH, SHAPE, InspectionSetup, bench


def new(*keys: str) -> list[NewRecord]:
    return [NewRecord(metadata_key=key, metadata_value="v") for key in keys]


@pytest.fixture
def museum() -> InspectionSetup:
    return bench()


def test_facts_are_those_of_the_latest_result(museum: InspectionSetup) -> None:
    assert museum.record(version := museum.put())
    assert museum.facts() == {
        "fact_format": "glTF2",
        "fact_triangles": "12",
        "fact_area": "1.5",
        "fact_watertight": "true",
        "fact_sourceVersionId": version,
    }
    version = museum.put()
    museum.record(version)
    before = museum.records.metadata.set_of(ATTRIBUTES)
    assert museum.record(version)
    assert museum.records.metadata.set_of(ATTRIBUTES) == before
    museum.record(museum.put(), descriptor=SHAPE)
    version = museum.put()
    museum.record(version, facts={}, refused="The file ends early")
    assert museum.facts() == {
        "fact_refused": "The file ends early",
        "fact_sourceVersionId": version,
    }
    assert museum.records.metadata.set_of(ATTRIBUTES).total == 2
    old, latest = museum.put(), museum.put()
    assert museum.record(latest)
    assert not museum.record(old, facts={"triangles": 999})
    assert museum.facts()["fact_triangles"] == "12"


@pytest.mark.parametrize(
    "taken",
    ["2024-13-01T10:00:00", "0000-01-01T00:00:00", "9999-12-31", "yesterday", "", "\0", 2024, True],
)
def test_a_date_that_is_none_is_left_out(museum: InspectionSetup, taken: str | int) -> None:
    version = museum.put()
    assert museum.record(version, facts={"taken": taken, "camera": "Canon"})
    assert museum.facts() == {"fact_camera": "Canon", "fact_sourceVersionId": version}


def test_numbers_texts_and_shapes_are_bounded_and_cleaned(museum: InspectionSetup) -> None:
    version = museum.put()
    assert museum.record(version, facts={"area": 10**400}, descriptor=[10**400] * len(SHAPE))
    assert museum.facts() == {"fact_sourceVersionId": version}
    museum.record(museum.put(), facts={"generator": "a\ud800\u0000" + "x" * 5000})
    assert museum.facts()["fact_generator"] == "a\ufffd\ufffd" + "x" * 997
    museum.record(museum.put(), descriptor=SHAPE)
    stored = base64.b64decode(museum.facts()["fact_shape"])
    assert struct.unpack("<75f", stored) == pytest.approx(SHAPE)
    for wrong in ([1.0] * 74, [1.0] * 74 + [float("nan")], ["1"] * 75, [1e300] * 75):
        museum.record(museum.put(), descriptor=wrong)
        assert "fact_shape" not in museum.facts()
    references = [{"path": f"t{n}.png", "kind": "texture", "state": "found"} for n in range(1200)]
    museum.record(museum.put(), references=references)
    stored = json.loads(museum.facts()["fact_references"])
    assert (len(stored["references"]), stored["omitted"]) == (1000, 200)
    long = [{"path": "x" * 5000, "kind": "other", "state": "missing"}] * 500
    museum.record(museum.put(), references=long)
    assert len(museum.facts()["fact_references"]) < 101_000


def test_a_result_of_a_file_or_asset_that_was_deleted_is_ignored(museum: InspectionSetup) -> None:
    version = museum.put()
    museum.objects.delete("assetbucket", "statue" + PATH)
    assert not museum.record(version)
    assert not museum.record(version, path="/never.glb")
    assert museum.facts() == {}


@pytest.mark.parametrize(
    "facts",
    [
        {"triangles": float("nan")},
        {"area": float("inf")},
        {"triangles": 2**63},
        {"triangles": "12"},
        {"triangles": True},
        {"watertight": 1},
        {"format": 12},
        {"unknown": "fact"},
        {"triangles": None},
    ],
)
def test_a_value_that_is_none_of_the_fact_is_left_out(museum: InspectionSetup, facts: Any) -> None:
    museum.record(museum.put(), facts=facts)
    assert museum.facts().keys() == {"fact_sourceVersionId"}


@pytest.mark.parametrize("key", ["fact_triangles", "FACT_triangles", "Fact_mine"])
def test_no_user_creates_or_changes_a_fact(museum: InspectionSetup, key: str) -> None:
    museum.record(museum.put())
    for write in (museum.records.add_records, museum.records.change_records):
        with pytest.raises(InvalidInputError, match=f"'{key}' is reserved") as refused:
            write(ADMIN, ATTRIBUTES, new("mine", key))
        assert refused.value.fields[0].field == "metadata.1.metadataKey"
    assert museum.facts()["fact_triangles"] == "12"
    assert "mine" not in museum.facts()


def test_attributes_are_deleted_and_replaced_beside_facts(museum: InspectionSetup) -> None:
    museum.record(museum.put())
    museum.records.add_records(ADMIN, ATTRIBUTES, new("mine"))
    result = museum.records.remove_records(ADMIN, ATTRIBUTES, ["fact_triangles", "mine"])
    assert result.done == ("mine",)
    assert result.failed[0][0] == "fact_triangles"
    assert "only the product writes" in result.failed[0][1]
    assert museum.facts()["fact_triangles"] == "12"
    museum.records.add_records(ADMIN, ATTRIBUTES, new("old"))
    museum.records.change_records(ADMIN, ATTRIBUTES, new("new"), update_type="replace_all")
    assert museum.facts().keys() & {"old", "new", "fact_triangles"} == {"new", "fact_triangles"}
    counted = museum.records.metadata.set_of(ATTRIBUTES)
    assert (counted.size, counted.facts) == (1, 5)


def test_facts_do_not_count_to_the_limit_of_records(museum: InspectionSetup) -> None:
    entity = Entity("museum", "statue", PATH)
    assert museum.records.add_records(ADMIN, entity, new("fact_mine")).done == ("fact_mine",)
    museum.record(museum.put())
    museum.records.add_records(ADMIN, ATTRIBUTES, new(*(f"k{n:03}" for n in range(MAX_RECORDS))))
    assert museum.records.metadata.set_of(ATTRIBUTES).size == MAX_RECORDS
    museum.record(museum.put(), facts={"triangles": 1, "points": 2})
    assert museum.facts()["fact_points"] == "2"


def test_schemas_do_not_govern_facts(museum: InspectionSetup) -> None:
    museum.record(version := museum.put())
    schemas: MetadataSchemaService = museum.records.schemas
    schemas.create_schema(
        ADMIN,
        CreateSchemaBody.model_validate(
            {
                "databaseId": "museum",
                "metadataSchemaEntityType": "fileAttribute",
                "schemaName": "Strict",
                "fields": {
                    "fields": [
                        {
                            "metadataFieldKeyName": "fact_points",
                            "metadataFieldValueType": "string",
                            "required": True,
                        }
                    ]
                },
            }
        ),
    )
    assert museum.record(version, facts={"triangles": 13})
    assert museum.records.add_records(ADMIN, ATTRIBUTES, new("mine")).done == ("mine",)
    assert museum.records.fields(ATTRIBUTES) == {}


def test_facts_are_in_no_audit_entry(museum: InspectionSetup) -> None:
    museum.record(museum.put())
    museum.records.add_records(ADMIN, ATTRIBUTES, new("mine"))
    entry_of = museum.records.entries(ADMIN, "copy", ATTRIBUTES)
    museum.records.write_as_is(ATTRIBUTES, [], entry_of)
    assert museum.facts() == {}
    result = [entry for entry in entries(museum.tables) if "attribute" in json.dumps(entry)]
    assert len(result) == 2
    assert "fact_" not in json.dumps(result)


KEY = "statue/a.glb"
STALLED = "The inspection failed: it had no processor"
Facts = dict[str, str]


class Bench:
    """A file that is being inspected, and what its facts are."""

    def __init__(self) -> None:
        self.runner = Runner()
        self.runner.define_inspection()
        self.upload()

    def upload(self, *, start: bool = True) -> None:
        """Store a version, and start its inspection or leave it waiting."""
        self.version = self.runner.upload(KEY)
        self.runner.trigger(KEY)
        if start:
            self.runner.start()

    def active(self) -> str:
        (item,) = [run.execution_id for run in self.runner.list_executions() if run.is_active]
        return item

    def report(self, status: str = "FAILED", cause: str = "it had no processor") -> None:
        """Report the end of the inspection, and deliver what that sends."""
        event = status_event(self.active(), status, error="ReadingStalledError", cause=cause)
        self.runner.report(event)
        self.deliver()

    def deliver(self) -> None:
        """Deliver the messages to the consumer of uploads, each of them twice."""
        queues = self.runner.queues
        for _ in range(2):
            waiting = [
                message for message in queues.messages if message.queue == UPLOAD_TRIGGERS.name
            ]
            reply = self.runner.triggers({"Records": queues.receive(waiting)})
            assert reply == {"batchItemFailures": []}
        queues.take(UPLOAD_TRIGGERS)

    def record(self, **facts: int) -> None:
        """Store what the readers found in the current version."""
        self.runner.record_inspection("/a.glb", READERS_VERSION, facts=dict(facts))

    def facts(self) -> Facts:
        records = self.runner.records.records_of(Entity("museum", "statue", "/a.glb", "attribute"))
        return {record.metadata_key: record.metadata_value for record in records}

    def failure(self, reason: str) -> Facts:
        return {"fact_refused": reason, "fact_sourceVersionId": self.version}

    def read(self, **facts: int) -> Facts:
        return {
            **{f"fact_{name}": str(value) for name, value in facts.items()},
            "fact_readersVersion": str(READERS_VERSION),
            "fact_sourceVersionId": self.version,
        }


@pytest.fixture
def inspected() -> Bench:
    return Bench()


@pytest.mark.parametrize("status", ["FAILED", "TIMED_OUT", "ABORTED"])
def test_the_reason_of_a_failed_inspection_is_a_fact_of_the_file(
    inspected: Bench, status: str
) -> None:
    inspected.report(status)
    assert inspected.facts() == inspected.failure(STALLED)
    assert inspected.runner.list_executions()[-1].execution_status == status


def test_a_success_leaves_no_reason_and_a_later_failure_no_facts(inspected: Bench) -> None:
    inspected.report("SUCCEEDED")
    assert inspected.facts() == {}
    inspected.record(triangles=12)
    inspected.upload()
    inspected.report()
    assert inspected.facts() == inspected.failure(STALLED)


def test_later_failures_and_results_replace_the_reason(inspected: Bench) -> None:
    inspected.report()
    Api(inspected.runner).started(workflowDatabaseId="GLOBAL", workflow_id=INSPECT.id)
    inspected.runner.start()
    inspected.report(cause="out of memory")
    assert inspected.facts() == inspected.failure("The inspection failed: out of memory")
    inspected.record(triangles=12)
    assert inspected.facts() == inspected.read(triangles=12)


def test_facts_that_readers_found_in_this_version_remain(inspected: Bench) -> None:
    """Another workflow may read the file at the same time, or a renewal may fail."""
    inspected.record(triangles=12)
    inspected.report()
    assert inspected.facts() == inspected.read(triangles=12)


def test_facts_that_are_stored_at_the_same_moment_remain(inspected: Bench) -> None:
    inspected.runner.report(status_event(inspected.active(), "FAILED", error="E"))
    tables, waiting = inspected.runner.tables, [True]

    def faster(operation: str) -> None:
        if operation == "write" and waiting:
            waiting.clear()
            inspected.record(triangles=12)

    tables.before = faster
    inspected.deliver()
    assert not waiting
    assert inspected.facts() == inspected.read(triangles=12)


def test_the_failure_of_an_earlier_version_is_ignored(inspected: Bench) -> None:
    first = inspected.active()
    inspected.runner.upload(KEY)
    inspected.runner.report(status_event(first, "FAILED", error="E"))
    inspected.deliver()
    assert inspected.facts() == {}


def test_the_failure_of_a_deleted_file_is_ignored(inspected: Bench) -> None:
    inspected.runner.objects.delete(BUCKET, KEY)
    inspected.report()
    assert inspected.facts() == {}


def test_an_interrupted_inspection_is_a_fact_once_it_is_not_repeated(inspected: Bench) -> None:
    for _ in range(MAX_REPEATS + 1):
        assert inspected.facts() == {}
        inspected.runner.report(
            status_event(inspected.active(), "FAILED", error=INTERRUPTED, cause="lost")
        )
        inspected.deliver()
        inspected.runner.wait(seconds=1)
        inspected.runner.start()
    assert inspected.facts() == inspected.failure("The inspection failed: lost")


def lost(inspected: Bench) -> None:
    """The schedule finds that Step Functions has reported no end."""
    active = inspected.active()
    inspected.runner.runs.end(active, "FAILED", error="States.Runtime", cause="too much data")
    inspected.runner.wait(minutes=6)
    inspected.runner.reconciliation.run()


def stopped(inspected: Bench) -> None:
    """A user stops it."""
    reply = Api(inspected.runner).send(
        "DELETE", "executions/{executionId}", {"executionId": inspected.active()}
    )
    assert reply.status == 200


def stopped_before_its_start(inspected: Bench) -> None:
    inspected.report("SUCCEEDED")
    inspected.upload(start=False)
    stopped(inspected)


def denied(inspected: Bench) -> None:
    """The deployment no longer allows the function."""
    inspected.report("SUCCEEDED")
    inspected.runner.runs.refused.add(INSPECT.function)
    inspected.upload()


@pytest.mark.parametrize(
    ("end", "reason"),
    [
        (lost, "The inspection failed: too much data"),
        (stopped, "The inspection was stopped"),
        (stopped_before_its_start, "The inspection was stopped"),
        (denied, f"The inspection failed: {PipelineNotAllowedError(INSPECT.id).message}"),
    ],
)
def test_ends_that_no_event_reports_leave_their_reason(
    inspected: Bench, end: Callable[[Bench], Any], reason: str
) -> None:
    end(inspected)
    inspected.deliver()
    assert inspected.facts() == inspected.failure(reason)


def test_an_end_whose_reason_cannot_be_sent_is_stored_later(inspected: Bench) -> None:
    first = inspected.active()
    inspected.runner.queues.before = unavailable
    event = status_event(first, "FAILED", error="E", cause="it had no processor")
    assert inspected.runner.report(event)["batchItemFailures"]
    assert inspected.runner.status_of(first) == "RUNNING"
    inspected.runner.queues.before = lambda _: None
    inspected.report()
    assert inspected.facts() == inspected.failure(STALLED)


def test_stopped_inspections_and_pipelines_of_users_are_no_failures(inspected: Bench) -> None:
    inspected.runner.report(
        status_event(inspected.active(), "ABORTED", error=STOPPED, cause="by ann")
    )
    inspected.deliver()
    assert inspected.facts() == inspected.failure("The inspection was stopped")
    runner = Runner()
    runner.define()
    runner.upload()
    started = Api(runner).started()
    runner.start()
    runner.report(status_event(started, "FAILED", error="MeshBroken"))
    assert runner.queues.take(UPLOAD_TRIGGERS) == []
