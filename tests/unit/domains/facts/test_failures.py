"""A failed inspection leaves its reason as the facts of the file, however the execution ended."""

from collections.abc import Callable
from typing import Any

import pytest

from backend.core.errors import UnavailableError
from backend.core.objects import ObjectHead
from backend.domains.executions.errors import PipelineNotAllowedError
from backend.domains.executions.models import Execution
from backend.domains.executions.rules import INTERRUPTED, MAX_REPEATS, STOPPED
from backend.domains.facts.models import Inspection, Source
from backend.domains.facts.service.commands import FactCommands
from backend.domains.metadata.models import Entity
from backend.domains.workflows.models import own_function
from backend.entrypoints.wiring.assets import assets
from backend.entrypoints.wiring.metadata import records
from backend.spec.facts import READERS_VERSION
from backend.spec.queues import UPLOAD_TRIGGERS
from backend.spec.shipped import INSPECT
from backend.spec.tables.workflows import WORKFLOW_EXECUTIONS
from tests.factories.execution_api import Api
from tests.factories.executions import BUCKET, Runner, status_event

KEY = "statue/a.glb"
STALLED = "The inspection failed: it had no processor"
Facts = dict[str, str]


class Bench:
    """A file that is being inspected, and what its facts are."""

    def __init__(self) -> None:
        self.runner = Runner()
        self.runner.define(
            INSPECT.id,
            database_id="GLOBAL",
            pipelines=[("GLOBAL", INSPECT.id)],
            triggers=INSPECT.triggers,
            user_provided_resource=own_function(INSPECT.function).text,
        )
        self.upload()

    def upload(self, *, start: bool = True) -> None:
        """Store a version, and start its inspection or leave it waiting."""
        self.version = self.runner.upload(KEY)
        self.runner.trigger(KEY)
        if start:
            self.runner.start()

    @property
    def runs(self) -> list[Execution]:
        rows = self.runner.tables.rows(WORKFLOW_EXECUTIONS)
        found = [Execution.model_validate(row) for row in rows]
        return sorted(found, key=lambda one: one.execution_id)

    def active(self) -> str:
        (found,) = [run.execution_id for run in self.runs if run.is_active]
        return found

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
        head = self.runner.objects.head(BUCKET, KEY)
        assert isinstance(head, ObjectHead)
        found = Inspection(
            version=1,
            source=Source(version_id=head.version.version_id),
            readers_version=READERS_VERSION,
            facts=dict(facts),
        )
        context = self.runner.context
        commands = FactCommands(assets(context), records(context), self.runner.objects)
        assert commands.record("museum", "statue", "/a.glb", found)

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
def bench() -> Bench:
    return Bench()


@pytest.mark.parametrize("status", ["FAILED", "TIMED_OUT", "ABORTED"])
def test_the_reason_of_a_failed_inspection_is_a_fact_of_the_file(bench: Bench, status: str) -> None:
    bench.report(status)
    assert bench.facts() == bench.failure(STALLED)
    assert bench.runs[-1].execution_status == status


def test_a_success_leaves_no_reason(bench: Bench) -> None:
    bench.report("SUCCEEDED")
    assert bench.facts() == {}


def test_what_readers_find_later_replaces_the_reason(bench: Bench) -> None:
    bench.report()
    bench.record(triangles=12)
    assert bench.facts() == bench.read(triangles=12)


def test_a_later_failure_replaces_the_reason(bench: Bench) -> None:
    bench.report()
    Api(bench.runner).started(workflowDatabaseId="GLOBAL", workflow_id=INSPECT.id)
    bench.runner.start()
    bench.report(cause="out of memory")
    assert bench.facts() == bench.failure("The inspection failed: out of memory")


def test_facts_that_readers_found_in_this_version_remain(bench: Bench) -> None:
    """Another workflow may read the file at the same time, or a renewal may fail."""
    bench.record(triangles=12)
    bench.report()
    assert bench.facts() == bench.read(triangles=12)


def test_facts_that_are_stored_at_the_same_moment_remain(bench: Bench) -> None:
    bench.runner.report(status_event(bench.active(), "FAILED", error="E"))
    tables, waiting = bench.runner.tables, [True]

    def faster(operation: str) -> None:
        if operation == "write" and waiting:
            waiting.clear()
            bench.record(triangles=12)

    tables.before = faster
    bench.deliver()
    assert not waiting
    assert bench.facts() == bench.read(triangles=12)


def test_facts_of_an_earlier_version_do_not_remain(bench: Bench) -> None:
    bench.record(triangles=12)
    bench.report("SUCCEEDED")
    bench.upload()
    bench.report()
    assert bench.facts() == bench.failure(STALLED)


def test_the_failure_of_an_earlier_version_is_ignored(bench: Bench) -> None:
    first = bench.active()
    bench.runner.upload(KEY)
    bench.runner.report(status_event(first, "FAILED", error="E"))
    bench.deliver()
    assert bench.facts() == {}


def test_the_failure_of_a_deleted_file_is_ignored(bench: Bench) -> None:
    bench.runner.objects.delete(BUCKET, KEY)
    bench.report()
    assert bench.facts() == {}


def test_pipelines_of_users_leave_no_facts() -> None:
    runner = Runner()
    runner.define()
    runner.upload()
    started = Api(runner).started()
    runner.start()
    runner.report(status_event(started, "FAILED", error="MeshBroken"))
    assert runner.queues.take(UPLOAD_TRIGGERS) == []


def test_an_interrupted_inspection_is_a_fact_once_it_is_not_repeated(bench: Bench) -> None:
    for _ in range(MAX_REPEATS + 1):
        assert bench.facts() == {}
        bench.runner.report(status_event(bench.active(), "FAILED", error=INTERRUPTED, cause="lost"))
        bench.deliver()
        bench.runner.wait(seconds=1)
        bench.runner.start()
    assert bench.facts() == bench.failure("The inspection failed: lost")


def lost(bench: Bench) -> None:
    """The schedule finds that Step Functions has reported no end."""
    one = bench.active()
    bench.runner.runs.end(one, "FAILED", error="States.Runtime", cause="too much data")
    bench.runner.wait(minutes=6)
    bench.runner.reconciliation.run()


def stopped(bench: Bench) -> None:
    """A user stops it."""
    reply = Api(bench.runner).send(
        "DELETE", "executions/{executionId}", {"executionId": bench.active()}
    )
    assert reply.status == 200


def stopped_before_its_start(bench: Bench) -> None:
    bench.report("SUCCEEDED")
    bench.upload(start=False)
    stopped(bench)


def denied(bench: Bench) -> None:
    """The deployment no longer allows the function."""
    bench.report("SUCCEEDED")
    bench.runner.runs.refused.add(INSPECT.function)
    bench.upload()


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
    bench: Bench, end: Callable[[Bench], Any], reason: str
) -> None:
    end(bench)
    bench.deliver()
    assert bench.facts() == bench.failure(reason)


def test_an_end_whose_reason_cannot_be_sent_is_stored_later(bench: Bench) -> None:
    def away(_: str) -> None:
        raise UnavailableError("SQS does not respond")

    first = bench.active()
    bench.runner.queues.before = away
    event = status_event(first, "FAILED", error="E", cause="it had no processor")
    assert bench.runner.report(event)["batchItemFailures"]
    assert bench.runner.status_of(first) == "RUNNING"
    bench.runner.queues.before = lambda _: None
    bench.report()
    assert bench.facts() == bench.failure(STALLED)


def test_a_stop_that_an_event_reports_is_no_failure(bench: Bench) -> None:
    bench.runner.report(status_event(bench.active(), "ABORTED", error=STOPPED, cause="by ann"))
    bench.deliver()
    assert bench.facts() == bench.failure("The inspection was stopped")
