"""Objects of a registered bucket become assets and files, page by page, even if a worker dies."""

from typing import Any

import pytest

from backend.core.identity import Identity
from backend.domains.bucket_sync.routes import build_router
from backend.domains.bucket_sync.service import jobs
from backend.domains.jobs.errors import JobNotFoundError
from backend.domains.jobs.models import Job
from backend.entrypoints.wiring.jobs import jobs as jobs_of
from backend.spec.queues import SETTLE
from tests.factories.audit import entries
from tests.factories.bucket_sync import BUCKET, DATABASE, SyncWorld
from tests.factories.buckets import BUCKET_ID, stored_bucket
from tests.factories.http import Client, Response
from tests.factories.jobs import KilledError
from tests.unit.domains.bucket_sync.test_sync import once, outage_of

ADMIN = Identity("admin")
ROUTE = "POST /admin/buckets/{bucketId}/import"
KEYS = ("hall/a", "hall/b", "hall/c/d", "loose.txt", "pump/x.glb", "temp-uploads/y", "valve/")


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> SyncWorld:
    """A bucket with more objects than a page holds, without events about them."""
    monkeypatch.setattr(jobs, "PAGE", 2)
    world = SyncWorld()
    for key in KEYS:
        world.put(key)
    return world


def start(world: SyncWorld, bucket_id: str = BUCKET_ID) -> Response:
    path, names = f"/admin/buckets/{bucket_id}/import", {"bucketId": bucket_id}
    return Client(build_router(world.starting)).send("POST", path, route=ROUTE, parameters=names)


def started(world: SyncWorld) -> Job:
    answer = start(world)
    assert answer.status == 200
    assert answer.body["bucketId"] == BUCKET_ID
    job = jobs_of(world.api).find(answer.body["jobId"])
    assert job is not None
    return job


def types(world: SyncWorld) -> dict[str, str]:
    result = {name: world.asset(name) for name in ("hall", "pump", "valve", "temp-uploads")}
    return {name: asset.asset_type for name, asset in result.items() if asset is not None}


def rebuilt_keys(world: SyncWorld) -> list[str]:
    """The keys whose documents were requested at once."""
    result = [body for name, body, delay in world.queues.sent if name == SETTLE.name and delay == 0]
    return [entry[-1] for body in result for entry in body["references"]]


def test_all_folders_of_a_bucket_become_assets(world: SyncWorld) -> None:
    before = {key: list(stored) for key, stored in world.objects.buckets[BUCKET].items()}
    job = world.step(started(world))
    assert world.objects.buckets[BUCKET] == before
    assert (job.state, job.items_done, job.created_by) == ("done", len(KEYS), "admin")
    assert types(world) == {"hall": "folder", "pump": ".glb", "valve": "none"}
    (problem,) = job.problems
    assert problem.startswith(f"s3://{BUCKET}/loose.txt was not imported: ")
    (kept,) = world.kept
    assert kept["reason"] == problem
    assert rebuilt_keys(world) == []  # an asset that is made has all of its files indexed by that
    operations = {entry["operation"] for entry in entries(world.tables)}
    assert operations == {"create_database", "import_bucket"}
    assets = dict(world.tables.items["AssetStorageTable"])
    assert world.step(started(world)).state == "done"  # nothing is made twice
    assert world.tables.items["AssetStorageTable"] == assets
    owned = {key for key in KEYS if key.split("/")[0] in {"hall", "pump", "valve"}}
    assert set(rebuilt_keys(world)) == owned


def test_files_of_existing_assets_are_requested(world: SyncWorld) -> None:
    world.deliver_events("hall/a")
    world.step(started(world))
    assert rebuilt_keys(world) == ["hall/a", "hall/b", "hall/c/d"]


def die() -> None:
    raise KilledError


@pytest.mark.parametrize("deadly", range(1, 40, 3))
def test_an_import_continues_after_a_death_anywhere(world: SyncWorld, deadly: int) -> None:
    job = started(world)
    world.tables.before = once(die, deadly)
    try:
        job = world.step(job)
    except KilledError:
        row = world.tables.items["Jobs"]
        for item in row.values():  # the lease of the dead runs out
            item["leaseUntil"] = 0
        job = world.step(job)
    assert (job.state, job.items_done) == ("done", len(KEYS))
    assert types(world) == {"hall": "folder", "pump": ".glb", "valve": "none"}


def test_an_outage_is_no_failure(world: SyncWorld) -> None:
    job = started(world)
    world.objects.before = outage_of("list")
    assert world.step(job).state == "running"
    world.objects.before = lambda operation: None
    assert world.step(job).state == "done"


def test_an_import_below_a_prefix_leaves_the_rest_alone(world: SyncWorld) -> None:
    other: dict[str, Any] = {"bucket_id": "other-id", "default_database_id": "museum"}
    stored_bucket(world.tables, name="other", prefix="scans/", **other)
    for key in ("scans/statue/a", "elsewhere/b"):
        world.objects.put("other", key, b"", content_type="text/plain", metadata={})
    answer = start(world, "other-id")
    job = jobs_of(world.api).find(answer.body["jobId"])
    assert job is not None
    assert world.step(job).items_done == 1
    assert world.asset("statue", "museum") is not None
    assert world.asset("elsewhere", DATABASE) is None


def test_one_import_of_a_bucket_runs_at_a_time(world: SyncWorld) -> None:
    job = started(world)
    again = start(world)
    assert (again.status, again.body["code"]) == (409, "ImportRunning")
    assert job.job_id in again.body["message"]
    jobs_of(world.api).cancel_job(ADMIN, job.job_id)
    assert start(world).status == 200


def test_of_two_requests_at_once_one_starts_an_import(world: SyncWorld) -> None:
    answers: list[Response] = []

    def other(operation: str) -> None:
        if operation == "write" and not answers:
            world.tables.before = lambda operation: None
            answers.append(start(world))

    world.tables.before = other
    answers.append(start(world))
    assert sorted(answer.status for answer in answers) == [200, 409]


def test_a_cancelled_import_can_continue(world: SyncWorld) -> None:
    job = started(world)
    jobs_of(world.api).cancel_job(ADMIN, job.job_id)
    assert world.step(job).state == "cancelled"
    assert types(world) == {}
    jobs_of(world.api).resume_job(ADMIN, job.job_id)
    assert world.step(job).state == "done"


def test_who_may_not_see_the_bucket_does_not_see_its_job(world: SyncWorld) -> None:
    job = started(world)
    assert jobs_of(world.api).get_job(ADMIN, job.job_id).job_id == job.job_id
    with pytest.raises(JobNotFoundError):
        jobs_of(world.api).get_job(Identity("stranger"), job.job_id)
