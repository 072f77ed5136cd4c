"""The routes of jobs: who sees and lists them, what may be cancelled and resumed."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from backend.core.authorization import Secured
from backend.core.errors import StateForbidsError
from backend.core.identity import SYSTEM, Identity
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
    FAN_OUT,
    IMPORT_BUCKET,
    JOB_KINDS,
    REINDEX_SEARCH,
    WITHDRAW_TAG,
    JobKind,
)
from backend.spec.routes import Action, Route
from backend.spec.tables.operations import JOBS
from tests.factories.access import OnlyUser
from tests.factories.audit import audit_service, entries
from tests.factories.http import Client, Response
from tests.factories.jobs import ADMIN
from tests.factories.search import NOON
from tests.fakes.objects import MemoryObjects
from tests.fakes.tables import MemoryTables

ID = "archiveAsset.museum.pump.2"


class RecordingUser(OnlyUser):
    """The permission port; records what is required."""

    def __init__(self) -> None:
        super().__init__()
        self.requests: list[tuple[object, Secured]] = []

    def may(self, caller: object, action: object, target: Secured) -> bool:
        self.requests.append((action, target))
        return True


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
    reply = call(client)
    assert reply.status == 200
    assert reply.body == {
        "jobId": ID,
        "kind": "archiveAsset",
        "state": "running",
        "databaseId": "museum",
        "assetId": "pump",
        "itemsDone": 12,
        "itemsTotal": 40,
        "problems": ["a.glb is locked"],
        "cancellable": True,
        "resumable": False,
        "createdBy": "admin",
        "createdAt": "2026-03-01T12:00:00.000000Z",
        "updatedAt": "2026-03-01T12:00:00.000000Z",
    }


def test_a_job_is_cancelled_and_resumed(client: Client, service: JobService) -> None:
    store(service, step=3, cursor={"page": 3}, tries=20)
    cancelled = call(client, "/cancel").body
    allowed = (cancelled["state"], cancelled["cancellable"], cancelled["resumable"])
    assert allowed == ("cancelled", False, True)
    assert call(client, "/resume").body["state"] == "queued"
    job = service.find(ID)
    assert job is not None
    assert (job.step, job.cursor) == (3, {"page": 3})
    service.jobs.change(job, {"state": "failed"})
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
    failed = service.jobs.change(failed, {"state": "failed"})
    assert call(client).body["resumable"]
    assert call(client, "/cancel").body["state"] == "queued"


@pytest.mark.parametrize("kind", [kind.name for kind in JOB_KINDS.values() if kind.undoes])
def test_a_cancelled_job_whose_changes_were_undone_is_started_again(
    client: Client, service: JobService, kind: str
) -> None:
    store(service, kind=kind, state="cancelled", undo=True)
    assert call(client).body["resumable"] is False
    refused = call(client, "/resume")
    assert (refused.status, refused.body["code"]) == (409, "JobStateForbids")
    assert "was cancelled; start a new one" in refused.body["message"]


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
    user = RecordingUser()
    pump = Secured("asset", {"databaseId": "museum", "assetName": "Pump"})
    named = DeletedAsset(bucket_id="scans-id", asset_location=Location(key="pump/"))
    store(service, parameters=named.model_dump(by_alias=True))
    assets: dict[str | None, Secured] = {"pump": pump}
    noting = JobService(
        service.jobs,
        user,
        service.audit,
        service.clock,
        subject=lambda job: assets.get(job.asset_id),
    )
    noting.get_job(ADMIN, ID)
    assets.clear()
    noting.get_job(ADMIN, ID)
    assert [target for _, target in user.requests] == [
        pump,
        Secured("database", {"databaseId": "museum"}),
    ]


@pytest.mark.parametrize(
    ("kind", "parameters", "required"),
    [
        (
            WITHDRAW_TAG,
            {"tagName": "old", "tagTypeName": "age"},
            (
                "GET",
                Secured("tag", {"tagName": "old", "tagTypeName": "age", "databaseId": "GLOBAL"}),
            ),
        ),
        (
            IMPORT_BUCKET,
            {"bucketId": "scans-id"},
            ("POST", Secured("bucket", {"bucketId": "scans-id"})),
        ),
    ],
    ids=["of a tag, that on the tag", "of a bucket, that to import it"],
)
def test_a_job_requires_the_permission_on_its_subject(
    service: JobService, kind: JobKind, parameters: dict[str, str], required: tuple[str, Secured]
) -> None:
    job = service.new(kind, "x.1", caller=ADMIN, database_id=None, parameters=parameters)
    service.jobs.tables.write(service.put(job))
    user = RecordingUser()
    replace(service, authorization=user).get_job(ADMIN, "x.1")
    assert user.requests == [required]


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

    result = JobService(
        service.jobs,
        VisibleJobs(),
        service.audit,
        service.clock,
        subject=lambda job: Secured("asset", {"assetName": job.asset_id or ""}),
    )
    assert result.get_job(ADMIN, ID).problems == [problem]
    seen.remove("idol")
    withheld = ["Details are visible only to users who may see the files to copy"]
    assert result.get_job(ADMIN, ID).problems == withheld
    assert result.resume_job(ADMIN, ID).problems == withheld
    assert service.get_job(ADMIN, ID).problems == [problem]


ANN, BOB = Identity("ann"), Identity("bob")


class JobLists:
    """Jobs of several users. Assets named `hidden` are visible to no user."""

    def __init__(self) -> None:
        self.tables, self.now = MemoryTables(), NOON
        self.looked_up: list[str] = []
        self.service = JobService(
            JobRepository(self.tables),
            self,
            audit_service(MemoryObjects()),
            self.clock,
            subject=self._subject,
        )

    def clock(self) -> datetime:
        return self.now

    def may_use(self, caller: Identity, route: Route, path: Any) -> bool:
        return True

    def may(self, caller: Identity, action: Action, target: Secured) -> bool:
        return target.fields.get("assetName") != "hidden"

    def _subject(self, job: Job) -> Secured:
        self.looked_up.append(str(job.asset_id))
        return Secured("asset", {"assetName": str(job.asset_id)})

    def start(self, caller: Identity, name: str, asset: str = "statue") -> None:
        self.now += timedelta(seconds=1)
        kind = FAN_OUT if caller == SYSTEM else ARCHIVE_ASSET
        job = self.service.new(kind, name, caller=caller, database_id="museum", asset_id=asset)
        self.tables.write(self.service.put(job))

    def get(self, caller: Identity = ANN, **query: str) -> Response:
        client = Client(build_router(self.service), user_id=caller.user_id, authorization=self)
        return client.send("GET", "/jobs", query=query)


@pytest.fixture
def office() -> JobLists:
    return JobLists()


def ids(answer: Response) -> list[str]:
    assert answer.status == 200, answer.body
    return [item["jobId"] for item in answer.body["items"]]


def test_jobs_of_users_are_listed_to_each_newest_first(office: JobLists) -> None:
    for caller, name in ((ANN, "a1"), (BOB, "b1"), (SYSTEM, "s1"), (ANN, "a2")):
        office.start(caller, name)
    assert ids(office.get()) == ["a2", "a1"]
    assert ids(office.get(BOB)) == ["b1"]
    (newest, _) = office.get().body["items"]
    single = Client(build_router(office.service), user_id="ann", authorization=office).send(
        "GET", "/jobs/a2", parameters={"jobId": "a2"}
    )
    assert newest == single.body
    token = office.get(pageSize="1").body["NextToken"]
    assert office.get(BOB, pageSize="1", startingToken=token).status == 400
    rows = {row["jobId"]: row.get("userId") for row in office.tables.rows(JOBS)}
    assert rows == {"s1": None, "a1": "ann", "a2": "ann", "b1": "bob"}


def test_jobs_whose_asset_is_no_longer_visible_are_left_out_of_full_pages(office: JobLists) -> None:
    for number in range(6):
        office.start(ANN, f"j{number}", "hidden" if number % 2 else f"a{number}")
    assert ids(office.get(pageSize="2")) == ["j4", "j2"]


def test_the_asset_of_many_jobs_is_read_once(office: JobLists) -> None:
    for number in range(20):
        office.start(ANN, f"j{number}")
    assert len(ids(office.get())) == 20
    assert office.looked_up == ["statue"]


def test_a_job_that_was_removed_is_left_out(office: JobLists) -> None:
    office.start(ANN, "j1")
    office.start(ANN, "j2")
    real = office.tables.get_many
    gone: Callable[[Any], Any] = lambda wanted: [  # noqa: E731 - the index lags behind the table
        item for item in real(wanted) if item[1]["jobId"] != "j2"
    ]
    office.tables.get_many = gone  # type: ignore[method-assign]
    assert ids(office.get()) == ["j1"]
