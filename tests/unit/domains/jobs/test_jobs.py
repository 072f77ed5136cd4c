"""The routes of jobs: who sees them, what may be cancelled and resumed."""

from dataclasses import replace

import pytest

from backend.core.authorization import Secured
from backend.core.errors import StateForbidsError
from backend.core.tables import Tables
from backend.domains.asset_lifecycle.models import DeletedAsset
from backend.domains.assets.models import Location
from backend.domains.audit.service.commands import AuditService
from backend.domains.jobs.models import Job
from backend.domains.jobs.repository import JobRepository
from backend.domains.jobs.routes import build_router
from backend.domains.jobs.service.commands import JobService
from backend.spec.jobs import (
    ARCHIVE_ASSET,
    DELETE_ASSET,
    IMPORT_BUCKET,
    REINDEX_SEARCH,
    WITHDRAW_TAG,
)
from tests.factories.access import OnlyUser
from tests.factories.audit import entries
from tests.factories.http import Client, Response
from tests.factories.jobs import ADMIN
from tests.factories.search import NOON

ID = "archiveAsset.museum.pump.2"


@pytest.fixture
def service(tables: Tables, audit: AuditService) -> JobService:
    return JobService(JobRepository(tables), OnlyUser(), audit, lambda: NOON)


@pytest.fixture
def client(service: JobService) -> Client:
    return Client(build_router(service))


def store(service: JobService, **changes: object) -> Job:
    job = service.new(
        ARCHIVE_ASSET, ID, caller=ADMIN, database_id="museum", asset_id="pump", items_total=40
    )
    job = job.model_copy(update=changes)
    service.jobs.tables.write(service.put(job))
    return job


def call(client: Client, verb: str = "", job_id: str = ID) -> Response:
    path = f"/jobs/{job_id}{verb}"
    method = "POST" if verb else "GET"
    return client.send(method, path, parameters={"jobId": job_id})


def test_a_job_shows_its_state_and_progress(client: Client, service: JobService) -> None:
    store(service, state="running", items_done=12, problems=["a.glb is locked"])
    found = call(client)
    assert (found.status, found.body) == (
        200,
        {
            "jobId": ID,
            "kind": "archiveAsset",
            "state": "running",
            "databaseId": "museum",
            "assetId": "pump",
            "itemsDone": 12,
            "itemsTotal": 40,
            "problems": ["a.glb is locked"],
            "cancellable": True,
            "createdBy": "admin",
            "createdAt": "2026-03-01T12:00:00.000000Z",
            "updatedAt": "2026-03-01T12:00:00.000000Z",
        },
    )


def test_a_job_is_cancelled_and_resumed(client: Client, service: JobService) -> None:
    store(service, step=3, cursor={"page": 3})
    assert call(client, "/cancel").body["state"] == "cancelled"
    assert call(client, "/resume").body["state"] == "queued"
    job = service.find(ID)
    assert job is not None
    assert (job.step, job.cursor) == (3, {"page": 3})


def test_a_job_that_failed_is_resumed_with_all_its_tries(
    client: Client, service: JobService
) -> None:
    store(service, state="failed", tries=20)
    assert call(client, "/resume").status == 200
    job = service.find(ID)
    assert job is not None
    assert job.tries == 0


@pytest.mark.parametrize(
    ("state", "verb", "fact"),
    [
        ("cancelled", "/cancel", "has already ended: it is cancelled"),
        ("done", "/cancel", "has already ended: it is done"),
        ("failed", "/cancel", "has already ended: it is failed"),
        ("queued", "/resume", "is queued and cannot be resumed"),
        ("running", "/resume", "is running and cannot be resumed"),
        ("done", "/resume", "is done and cannot be resumed"),
    ],
)
def test_a_request_that_the_state_forbids_is_a_conflict_with_a_reason(
    client: Client, service: JobService, state: str, verb: str, fact: str
) -> None:
    store(service, state=state)
    refused = call(client, verb)
    assert (refused.status, refused.body["code"]) == (409, "JobStateForbids")
    assert refused.body["message"] == f"Job {ID} {fact}"


def test_a_job_that_takes_back_what_it_did_is_cancelled_once(
    service: JobService, tables: Tables
) -> None:
    client = Client(build_router(service))
    store(service, kind=REINDEX_SEARCH.name, state="running", step=3)
    assert call(client, "/cancel").body["state"] == "queued"
    refused = call(client, "/cancel")
    assert (refused.status, refused.body["code"]) == (409, "JobStateForbids")
    assert "is already being cancelled" in refused.body["message"]
    assert len(entries(tables)) == 1
    failed = service.find(ID)
    assert failed is not None
    service.jobs.change(failed, {"state": "failed"})
    assert call(client, "/cancel").body["state"] == "queued"


def test_a_job_that_has_to_end_cannot_be_cancelled(client: Client, service: JobService) -> None:
    store(service, kind=DELETE_ASSET.name)
    refused = call(client, "/cancel")
    assert (refused.status, refused.body["code"]) == (409, "JobStateForbids")
    assert "jobs of the kind deleteAsset must complete" in refused.body["message"]
    assert call(client).body["cancellable"] is False


def test_a_job_whose_asset_is_deleted_is_not_resumed(service: JobService) -> None:
    def gone(job: Job) -> None:
        raise StateForbidsError(f"Asset {job.asset_id} is gone")

    store(service, state="cancelled")
    strict = replace(service, resumable={ARCHIVE_ASSET.name: gone})
    refused = call(Client(build_router(strict)), "/resume")
    assert (refused.status, refused.body["message"]) == (409, "Asset pump is gone")


@pytest.mark.parametrize("job_id", ["a#b", "x" * 401, "a?b"])
def test_what_cannot_be_the_id_of_a_job_is_refused(client: Client, job_id: str) -> None:
    refused = client.send("GET", "/jobs/x", parameters={"jobId": job_id})
    assert (refused.status, refused.body["errors"][0]["field"]) == (400, "jobId")


def test_the_required_permission_is_that_of_the_asset_while_it_exists(service: JobService) -> None:
    requests: list[Secured] = []

    class RecordingUser(OnlyUser):
        def may(self, caller: object, action: object, target: Secured) -> bool:
            requests.append(target)
            return True

    pump = Secured("asset", {"databaseId": "museum", "assetName": "Pump"})
    named = DeletedAsset(bucket_id="scans-id", asset_location=Location(key="pump/"))
    store(service, parameters=named.model_dump(by_alias=True))
    assets: dict[str | None, Secured] = {"pump": pump}
    noting = JobService(
        service.jobs,
        RecordingUser(),
        service.audit,
        service.clock,
        subject=lambda job: assets.get(job.asset_id),
    )
    noting.get_job(ADMIN, ID)
    assets.clear()
    noting.get_job(ADMIN, ID)
    assert requests == [pump, Secured("database", {"databaseId": "museum"})]


def test_the_required_permission_for_a_job_of_a_tag_is_the_tags(service: JobService) -> None:
    requests: list[Secured] = []

    class RecordingUser(OnlyUser):
        def may(self, caller: object, action: object, target: Secured) -> bool:
            requests.append(target)
            return True

    job = service.new(
        WITHDRAW_TAG,
        "withdrawTag.1",
        caller=ADMIN,
        database_id=None,
        parameters={"tagName": "old", "tagTypeName": "age"},
    )
    service.jobs.tables.write(service.put(job))
    replace(service, authorization=RecordingUser()).get_job(ADMIN, "withdrawTag.1")
    assert requests == [Secured("tag", {"tagName": "old", "tagTypeName": "age"})]


def test_the_problems_of_a_copy_are_returned_to_those_who_see_its_source(
    service: JobService,
) -> None:
    change = {"operation": "copyFile", "sourceDatabaseId": "vault", "sourceAssetId": "idol"}
    problem = "The version of idol/key.txt to copy was deleted before the copy was complete"
    store(service, state="failed", problems=[problem], parameters={"change": change})
    seen = {"idol", "pump"}

    class VisibleJobs(OnlyUser):
        def may(self, caller: object, action: object, target: Secured) -> bool:
            return target.fields.get("assetName") in seen

    found = JobService(
        service.jobs,
        VisibleJobs(),
        service.audit,
        service.clock,
        subject=lambda job: Secured("asset", {"assetName": job.asset_id or ""}),
    )
    assert found.get_job(ADMIN, ID).problems == [problem]
    seen.remove("idol")
    withheld = ["Details are visible only to users who may see the files to copy"]
    assert found.get_job(ADMIN, ID).problems == withheld
    assert found.resume_job(ADMIN, ID).problems == withheld
    assert service.get_job(ADMIN, ID).problems == [problem]


def test_a_job_of_a_bucket_is_for_those_who_may_import_it(service: JobService) -> None:
    requests: list[tuple[object, Secured]] = []

    class RecordingUser(OnlyUser):
        def may(self, caller: object, action: object, target: Secured) -> bool:
            requests.append((action, target))
            return True

    job = service.new(
        IMPORT_BUCKET,
        "importBucket.1",
        caller=ADMIN,
        database_id=None,
        parameters={"bucketId": "scans-id"},
    )
    service.jobs.tables.write(service.put(job))
    replace(service, authorization=RecordingUser()).get_job(ADMIN, "importBucket.1")
    assert requests == [("POST", Secured("bucket", {"bucketId": "scans-id"}))]
