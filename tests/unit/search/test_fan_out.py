"""Fan-outs: every file of an asset is built again, once for each change, in bounded steps."""

from datetime import timedelta

import pytest

from backend.aws.objects import S3Objects
from backend.core.errors import UnavailableError
from backend.core.tables import Tables
from backend.domains.buckets.service import BucketRegistry
from backend.domains.jobs.models import Job
from backend.domains.jobs.repository import JobRepository
from backend.domains.jobs.service.runner import JobRunner
from backend.search.indexing.changes import FanOut
from backend.search.indexing.consumers import StreamConsumer
from backend.search.indexing.fan_out import FanOuts, FanOutStep, job_id
from backend.search.indexing.rebuild import Rebuilder
from backend.spec.tables.operations import JOBS
from tests.factories.jobs import job_service
from tests.factories.search import NOON, store_asset, stream_record
from tests.fakes.search_engine import MemorySearchEngine

ASSET_KEY = {"databaseId": "museum", "assetId": "pump"}
RENAMED = {"inheritedRevision": {"N": "2"}}
RENAMING = "fanOut.museum.pump.2"


@pytest.fixture
def streams(indexing: Rebuilder, tables: Tables) -> StreamConsumer:
    return StreamConsumer(indexing, indexing.failures, FanOuts(tables, job_service(tables)))


@pytest.fixture
def step(indexing: Rebuilder, tables: Tables, objects: S3Objects) -> FanOutStep:
    return FanOutStep(tables, objects, BucketRegistry(tables), indexing)


def fill(objects: S3Objects, count: int) -> None:
    for number in range(count):
        objects.put(
            "assetbucket", f"pump/{number:04}.glb", b"x", content_type="text/plain", metadata={}
        )


def run(tables: Tables, step: FanOutStep, *, seconds: int = 60) -> Job:
    """One delivery of the job's message."""
    runner = JobRunner(JobRepository(tables), lambda: NOON)
    job = runner.run(RENAMING, step, until=NOON + timedelta(seconds=seconds))
    assert job is not None
    return job


def test_an_inherited_change_reaches_every_file_page_by_page(
    streams: StreamConsumer,
    step: FanOutStep,
    tables: Tables,
    objects: S3Objects,
    engine: MemorySearchEngine,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("backend.search.indexing.fan_out.PAGE_VERSIONS", 10)
    store_asset(tables, assetName="New name", inheritedRevision=2)
    fill(objects, 25)
    streams.consume({"Records": [stream_record(ASSET_KEY, RENAMED)]})
    rounds = [run(tables, step, seconds=0) for _ in range(3)]
    assert [(job.state, job.items_done) for job in rounds] == [
        ("running", 10),
        ("running", 20),
        ("done", 25),
    ]
    files = [body for body in engine.live().values() if body["_rectype"] == "file"]
    assert len(files) == 25
    assert {body["str_assetname"] for body in files} == {"New name"}


def test_the_files_of_an_archived_asset_are_archived_in_the_index(
    streams: StreamConsumer,
    step: FanOutStep,
    tables: Tables,
    objects: S3Objects,
    engine: MemorySearchEngine,
) -> None:
    store_asset(tables, archived=True, inheritedRevision=2)
    fill(objects, 3)
    key = {**ASSET_KEY, "databaseId": "museum#deleted"}
    streams.consume({"Records": [stream_record(key, RENAMED)]})
    assert run(tables, step).state == "done"
    files = [body for body in engine.live().values() if body["_rectype"] == "file"]
    assert [body["bool_archived"] for body in files] == [True] * 3


def test_a_fan_out_is_started_once_for_each_change(streams: StreamConsumer, tables: Tables) -> None:
    store_asset(tables)
    for revision in ("2", "2", "2", "3"):
        image = {"inheritedRevision": {"N": revision}}
        streams.consume({"Records": [stream_record(ASSET_KEY, image)]})
    jobs = [job_id(FanOut("museum", "pump", revision)) for revision in (2, 3)]
    assert [(tables.get(JOBS, {"jobId": name}) or {})["state"] for name in jobs] == ["queued"] * 2
    job = job_service(tables).find(RENAMING)
    assert job is not None
    assert (job.created_by, job.parameters) == ("SYSTEM", {"inheritedRevision": 2})


def test_a_change_that_comes_again_leaves_its_fan_out_as_it_is(
    streams: StreamConsumer, step: FanOutStep, tables: Tables
) -> None:
    store_asset(tables)
    streams.consume({"Records": [stream_record(ASSET_KEY, RENAMED)]})
    done = run(tables, step)
    streams.consume({"Records": [stream_record(ASSET_KEY, RENAMED)]})
    assert run(tables, step) == done


def test_a_page_that_failed_in_an_outage_is_built_again(
    streams: StreamConsumer,
    step: FanOutStep,
    tables: Tables,
    objects: S3Objects,
    engine: MemorySearchEngine,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("backend.search.indexing.fan_out.PAGE_VERSIONS", 2)
    store_asset(tables)
    fill(objects, 4)
    streams.consume({"Records": [stream_record(ASSET_KEY, RENAMED)]})
    files = engine.indexes.pop("files-1")
    with pytest.raises(UnavailableError):
        run(tables, step)
    job = job_service(tables).find(RENAMING)
    assert job is not None
    assert (job.state, job.step) == ("running", 0)
    engine.indexes["files-1"] = files
    assert run(tables, step).items_done == 4


def test_a_fan_out_waits_until_the_ticket_counter_is_put_right(
    streams: StreamConsumer,
    step: FanOutStep,
    tables: Tables,
    objects: S3Objects,
    engine: MemorySearchEngine,
) -> None:
    store_asset(tables)
    fill(objects, 1)
    streams.consume({"Records": [stream_record(ASSET_KEY, RENAMED)]})
    run(tables, step)
    index = engine.indexes["files-1"]
    ahead = {name: (version + 10**15, body) for name, (version, body) in index.items()}
    engine.indexes["files-1"] = ahead
    streams.consume({"Records": [stream_record(ASSET_KEY, {"inheritedRevision": {"N": "3"}})]})
    runner = JobRunner(JobRepository(tables), lambda: NOON)
    with pytest.raises(UnavailableError, match="set n"):
        runner.run("fanOut.museum.pump.3", step, until=NOON)
    engine.indexes["files-1"] = index
    done = runner.run("fanOut.museum.pump.3", step, until=NOON)
    assert done is not None
    assert done.state == "done"


def test_a_fan_out_of_a_deleted_asset_is_done(
    step: FanOutStep, tables: Tables, engine: MemorySearchEngine
) -> None:
    FanOuts(tables, job_service(tables)).start([FanOut("museum", "pump", 2)])
    job = run(tables, step)
    assert (job.state, job.items_done) == ("done", 0)
    assert engine.bulks == []
