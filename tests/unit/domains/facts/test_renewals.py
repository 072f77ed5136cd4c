"""Renewals of facts: what an older version of the readers stored is inspected again, once."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import pytest

from backend.core.transactions import Item, Key
from backend.domains.executions.rules import INTERRUPTED, MAX_REPEATS
from backend.domains.facts.service.renewals import MOST_WAITING, PAGE
from backend.domains.jobs.models import Job, Progress
from backend.entrypoints.wiring.bucket_workers import fact_renewal
from backend.spec.facts import READERS_VERSION
from backend.spec.jobs import RENEW_FACTS
from backend.spec.queues import UPLOAD_TRIGGERS
from backend.spec.shipped import INSPECT
from backend.spec.tables.assets import ASSETS
from backend.spec.tables.metadata import FILE_ATTRIBUTES
from backend.spec.tables.model import Table
from tests.factories.executions import BUCKET, Runner, status_event
from tests.factories.jobs import ADMIN, JobWorld, KilledError
from tests.fakes.tables import MemoryTables


@dataclass
class RenewalSetup:
    """An asset whose files were inspected, the job, and the workflows that it starts."""

    runner: Runner = field(default_factory=Runner)
    dies_after: int | None = None
    jobs: int = 0

    def __post_init__(self) -> None:
        self.runner.define_inspection()
        self.runner.define("publish", triggers=".all")

    @cached_property
    def world(self) -> JobWorld:
        return JobWorld(self._step, kind=RENEW_FACTS, tables=self.runner.tables)

    def add(self, path: str, readers: int | None = None, *, refused: str | None = None) -> None:
        """Upload a file, and store what these readers read."""
        self.runner.upload(f"statue{path}")
        self.record(path, readers, refused=refused)

    def record(self, path: str, readers: int | None, *, refused: str | None = None) -> None:
        facts = {"triangles": 1} if refused is None else {}
        self.runner.record_inspection(path, readers, facts=facts, refused=refused)

    def renew(self, **parameters: object) -> Job:
        """Run a job to its end, and deliver what it sends. Return the job."""
        self.jobs += 1
        job_id = RENEW_FACTS.job_id(self.jobs)
        new = self.world.jobs.new(
            RENEW_FACTS, job_id, caller=ADMIN, database_id=None, parameters=parameters
        )
        self.world.tables.write(self.world.jobs.put(new))
        self.world.drain()
        self.deliver()
        return self.world.job(job_id)

    def inspect(self, path: str) -> None:
        self.runner.trigger(f"statue{path}")

    def end_all(self, status: str) -> None:
        """Start the executions that wait, and end all that run."""
        self.runner.start()
        active = [run.execution_id for run in self.runner.list_executions() if run.is_active]
        self.runner.report(*(status_event(item, status) for item in active))
        self.deliver()
        assert not any(run.is_active for run in self.runner.list_executions())

    def deliver(self) -> None:
        queues = self.runner.queues
        records = queues.receive([m for m in queues.messages if m.queue == UPLOAD_TRIGGERS.name])
        queues.messages.clear()
        if records:
            consumed = self.runner.triggers({"Records": records})
            assert consumed == {"batchItemFailures": []}

    @property
    def renewed(self) -> list[str]:
        return sorted(
            run.input_asset_file_key.removeprefix("statue") for run in self.runner.list_executions()
        )

    def _step(self, job: Job) -> Progress:
        progress = fact_renewal(self.runner.context)(job)
        if self.dies_after is not None and job.step >= self.dies_after:
            self.dies_after = None
            raise KilledError
        return progress


@pytest.fixture
def renewing() -> RenewalSetup:
    return RenewalSetup()


def test_files_of_older_readers_are_inspected_again_by_the_product(renewing: RenewalSetup) -> None:
    renewing.add("/first.glb")  # the first version stored none
    renewing.add("/old.glb", READERS_VERSION - 1)
    renewing.add("/refused.glb", refused="truncated")
    renewing.add("/current.glb", READERS_VERSION)
    renewing.runner.upload("statue/never.glb")
    job = renewing.renew()
    assert (job.state, job.items_done) == ("done", 3)
    assert renewing.renewed == ["/first.glb", "/old.glb", "/refused.glb"]
    executions = {
        (run.workflow_id, run.trigger, run.started_by) for run in renewing.runner.list_executions()
    }
    assert executions == {(INSPECT.id, "renewal", "SYSTEM")}


def test_a_second_renewal_starts_nothing_during_the_first_or_after_it(
    renewing: RenewalSetup,
) -> None:
    renewing.add("/a.glb")
    renewing.renew()
    (first,) = renewing.runner.list_executions()
    renewing.renew()
    renewing.runner.start()
    renewing.record("/a.glb", READERS_VERSION)
    renewing.runner.report(status_event(first.execution_id))
    renewing.deliver()
    assert renewing.renew().items_done == 0
    assert [run.execution_id for run in renewing.runner.list_executions()] == [first.execution_id]


def test_a_failed_inspection_is_started_again_by_the_next_renewal(renewing: RenewalSetup) -> None:
    renewing.add("/a.glb")
    renewing.renew()
    renewing.runner.start()
    renewing.runner.report(
        status_event(renewing.runner.list_executions()[0].execution_id, "FAILED")
    )
    renewing.deliver()
    renewing.renew()
    assert renewing.renewed == ["/a.glb", "/a.glb"]


def test_a_file_whose_only_inspection_failed_is_inspected_by_the_next_renewal(
    renewing: RenewalSetup,
) -> None:
    for path in ("/a.glb", "/read.glb", "/other.obj"):
        renewing.runner.upload(f"statue{path}")
        renewing.inspect(path)
    renewing.end_all("FAILED")
    renewing.record("/read.glb", READERS_VERSION)  # by an execution after it
    assert renewing.renew(databaseId="other").items_done == 0
    assert renewing.renew(formats=["glb"]).items_done == 1
    renewals = [run for run in renewing.runner.list_executions() if run.trigger == "renewal"]
    assert [renewal.input_asset_file_key for renewal in renewals] == ["statue/a.glb"]
    for status in ("TIMED_OUT", "ABORTED"):
        renewing.end_all(status)
        assert renewing.renew(formats=["glb"]).items_done == 1
    renewing.end_all("SUCCEEDED")
    renewing.record("/a.glb", READERS_VERSION)
    assert renewing.renew(formats=["glb"]).items_done == 0


def test_a_file_whose_inspections_were_all_interrupted_is_inspected_by_the_next_renewal(
    renewing: RenewalSetup,
) -> None:
    renewing.runner.upload("statue/a.glb")
    renewing.inspect("/a.glb")
    for _ in range(MAX_REPEATS + 1):
        renewing.runner.start()
        active = [run.execution_id for run in renewing.runner.list_executions() if run.is_active]
        renewing.runner.report(
            *(status_event(item, "FAILED", error=INTERRUPTED) for item in active)
        )
        renewing.deliver()
        renewing.runner.wait(seconds=1)
    assert not any(run.is_active for run in renewing.runner.list_executions())
    assert renewing.renew().items_done == 1
    (renewal,) = [run for run in renewing.runner.list_executions() if run.is_active]
    assert (renewal.trigger, renewal.repeats) == ("renewal", 0)


def test_a_renewal_continues_where_its_worker_died_and_starts_each_file_once() -> None:
    renewing = RenewalSetup(dies_after=1)
    paths = [f"/{number:04}.glb" for number in range(PAGE + PAGE // 2)]
    for path in paths:
        renewing.add(path)
    job = renewing.renew()
    assert renewing.dies_after is None
    assert (job.state, job.items_done) == ("done", len(paths))
    assert renewing.renewed == paths


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({"databaseId": "museum"}, ["/a.glb", "/b.DAE"]),
        ({"databaseId": "muse"}, []),
        ({"formats": ["dae"]}, ["/b.DAE"]),
        ({"databaseId": "museum", "formats": ["glb", "stl"]}, ["/a.glb"]),
    ],
)
def test_a_renewal_may_be_of_a_database_or_of_formats(
    parameters: dict[str, object], expected: list[str], renewing: RenewalSetup
) -> None:
    renewing.add("/a.glb")
    renewing.add("/b.DAE")
    renewing.renew(**parameters)
    assert renewing.renewed == expected


def test_files_that_no_reader_read_are_inspected_if_their_format_is_chosen(
    renewing: RenewalSetup,
) -> None:
    renewing.add("/current.glb", READERS_VERSION)
    paths = [f"/{number:04}.GLB" for number in range(PAGE + PAGE // 2)]
    for path in (*paths, "/other.dae", "/glb"):
        renewing.runner.upload(f"statue{path}")
    assert renewing.renew(databaseId="other", formats=["glb"]).items_done == 0
    assert renewing.renew(databaseId="museum").items_done == 0
    renewing.dies_after = 2
    job = renewing.renew(formats=["glb"])
    assert renewing.dies_after is None
    assert (job.state, job.items_done, renewing.renewed) == ("done", len(paths), paths)
    assert {run.trigger for run in renewing.runner.list_executions()} == {"renewal"}


def test_files_that_are_archived_deleted_or_of_an_archived_asset_are_left_out(
    renewing: RenewalSetup,
) -> None:
    renewing.add("/a.glb")
    renewing.runner.objects.delete(BUCKET, "statue/a.glb")
    assert renewing.renew().state == "done"
    assert renewing.runner.list_executions() == []
    names = FILE_ATTRIBUTES.key_names
    row = dict(zip(names, ("fact_sourceVersionId", "museum:gone:/a.glb"), strict=True))
    renewing.runner.tables.put_many(FILE_ATTRIBUTES, [{**row, "attributeValue": "v1"}])
    job = renewing.renew()
    assert (job.state, job.items_done, renewing.runner.list_executions()) == ("done", 1, [])


def test_a_step_reads_each_asset_once(
    renewing: RenewalSetup, monkeypatch: pytest.MonkeyPatch
) -> None:
    renewing.runner.upload("statue/unread.glb")
    parameters = {"formats": ["glb"]}
    job = renewing.world.jobs.new(
        RENEW_FACTS, "job", caller=ADMIN, database_id=None, parameters=parameters
    )
    read: list[Table] = []
    get_many = MemoryTables.get_many

    def counted(
        tables: MemoryTables, wanted: Sequence[tuple[Table, Key]], *, consistent: bool = True
    ) -> list[tuple[Table, Item]]:
        read.extend({table.name: table for table, _ in wanted}.values())
        return get_many(tables, wanted, consistent=consistent)

    monkeypatch.setattr(MemoryTables, "get_many", counted)
    walked = job.model_copy(update={"cursor": {"walked": []}})
    assert fact_renewal(renewing.runner.context)(walked).items == 1
    assert read.count(ASSETS) == 1


def test_a_renewal_waits_while_many_executions_wait(renewing: RenewalSetup) -> None:
    renewing.add("/a.glb")
    waiting = renewing.runner.create_many(MOST_WAITING)
    before = renewing.world.now

    def admit() -> None:
        for item in waiting[:1]:
            renewing.runner.progress.end(item, "ABORTED")

    steps: list[int] = []
    original = renewing.world.step

    def step(job: Job) -> Progress:
        steps.append(job.step)
        if len(steps) == 3:
            admit()
        return original(job)

    renewing.world.step = step
    job = renewing.renew()
    assert (job.items_done, len(steps)) == (1, 3)
    assert (renewing.world.now - before).total_seconds() >= 30
