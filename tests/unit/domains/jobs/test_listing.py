"""The jobs that a caller has started, newest first."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from backend.core.authorization import Secured
from backend.core.identity import SYSTEM, Identity
from backend.domains.jobs.models import Job
from backend.domains.jobs.repository import JobRepository
from backend.domains.jobs.routes import build_router
from backend.domains.jobs.service.commands import JobService
from backend.spec.jobs import ARCHIVE_ASSET, FAN_OUT
from backend.spec.routes import Action, Route
from backend.spec.tables.operations import JOBS
from tests.factories.audit import audit_service
from tests.factories.http import Client, Response
from tests.factories.search import NOON
from tests.fakes.objects import MemoryObjects
from tests.fakes.tables import MemoryTables

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
    return [one["jobId"] for one in answer.body["items"]]


def test_a_caller_gets_its_own_jobs_newest_first(office: JobLists) -> None:
    for caller, name in ((ANN, "a1"), (BOB, "b1"), (SYSTEM, "s1"), (ANN, "a2")):
        office.start(caller, name)
    assert ids(office.get()) == ["a2", "a1"]
    assert ids(office.get(BOB)) == ["b1"]
    (newest, _) = office.get().body["items"]
    single = Client(build_router(office.service), user_id="ann", authorization=office).send(
        "GET", "/jobs/a2", parameters={"jobId": "a2"}
    )
    assert newest == single.body


def test_a_token_is_of_one_caller(office: JobLists) -> None:
    for name in ("j1", "j2"):
        office.start(ANN, name)
    token = office.get(pageSize="1").body["NextToken"]
    assert office.get(BOB, pageSize="1", startingToken=token).status == 400


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
        found for found in real(wanted) if found[1]["jobId"] != "j2"
    ]
    office.tables.get_many = gone  # type: ignore[method-assign]
    assert ids(office.get()) == ["j1"]


def test_only_jobs_that_a_user_started_are_in_the_index(office: JobLists) -> None:
    office.start(SYSTEM, "s1")
    office.start(ANN, "a1")
    rows = {row["jobId"]: row.get("userId") for row in office.tables.rows(JOBS)}
    assert rows == {"s1": None, "a1": "ann"}
