"""A version is created within its request; one that takes longer has its number all the same."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any
from unittest.mock import patch

import pytest

from backend.aws.tables import DynamoTables
from backend.core.deadlines import OutcomeUnknownError
from backend.core.errors import UnavailableError
from backend.core.paging import PageRequest
from backend.core.transactions import Update
from backend.domains.asset_versions.service.commands import REQUEST_TIME
from backend.domains.jobs.models import Job
from backend.spec.functions.apis import ASSET_VERSIONS_API
from backend.spec.tables.assets import ASSET_FILE_METADATA_VERSIONS, ASSETS
from tests.factories.assets import ADMIN
from tests.factories.versions import Versions, named
from tests.unit.domains.asset_versions.world import (
    put_records,
)

A_REPLY = timedelta(seconds=29)
STATUE = {"databaseId": "museum", "assetId": "statue"}


def put_numbered(museum: Versions, count: int, body: bytes) -> dict[str, str]:
    paths = [f"/{number:04}.glb" for number in range(count)]
    return {path: museum.lifecycle.gallery.put(path, body) for path in paths}


def slowed(
    museum: Versions, monkeypatch: pytest.MonkeyPatch, seconds: float, *methods: str
) -> None:
    """Let each row that these methods of the repository write take time."""
    kind = type(museum.creation.repository)
    for method in methods:
        whole: Callable[..., Any] = getattr(kind, method)

        def slow(*args: Any, whole: Callable[..., Any] = whole, **more: Any) -> Any:
            rows: Sequence[object] = args[-1]
            museum.lifecycle.hands.now += timedelta(seconds=seconds * len(rows))
            return whole(*args, **more)

        monkeypatch.setattr(kind, method, slow)


def test_a_version_of_500_files_on_a_slow_machine_is_created_within_its_request(
    museum: Versions, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_numbered(museum, 500, b"x")
    slowed(museum, monkeypatch, 0.03, "put_files")  # 15 s in all
    answer = museum.create()
    assert answer.body.get("jobId") is None
    assert answer.body["assetVersionId"] == "1"
    assert [one["Version"] for one in museum.listed()] == ["1", "0"]
    assert museum.listed()[0]["fileCount"] == 500


@pytest.mark.parametrize("operation", ["create", "create of named files", "revert"])
def test_a_request_whose_job_still_runs_returns_the_number_of_its_version(
    museum: Versions, monkeypatch: pytest.MonkeyPatch, operation: str
) -> None:
    count = 60 if operation == "revert" else 110
    files = put_numbered(museum, count, b"x")
    if operation == "revert":
        museum.made()
        put_numbered(museum, count, b"y")
    before = len(museum.listed())
    slowed(museum, monkeypatch, 15 / count, "put_files")
    begun = museum.lifecycle.hands.now
    match operation:
        case "revert":
            answer = museum.revert("1")
        case "create":
            answer = museum.create()
        case _:
            answer = museum.create(files=named(files))
    assert museum.lifecycle.hands.now - begun < A_REPLY
    assert (answer.status, answer.body["jobState"]) == (200, "running"), answer.body
    number = answer.body["assetVersionId"]
    assert number == str(before)
    assert number in answer.body["message"]
    assert len(museum.listed()) == before
    done = museum.work_off(answer.body["jobId"])
    assert (done.result or {})["assetVersionId"] == number
    assert museum.listed()[0]["Version"] == number
    assert museum.listed()[0]["fileCount"] == count


def test_the_parts_of_a_small_version_are_one_step_that_no_worker_begins_before_the_request(
    museum: Versions, tables: DynamoTables
) -> None:
    put_numbered(museum, 3, b"x")
    put_records(tables, [("/", "metadata", 2), ("/0000.glb", "attribute", 3)])
    ran: list[Job | None] = []
    kind = type(museum.creation.repository)
    real = kind.start

    def start(*args: Any) -> None:
        real(*args)
        (job,) = museum.stored_jobs()
        ran.append(museum.run_once(job.job_id))

    with patch.object(kind, "start", start):
        assert museum.made() == "1"
    assert ran == [None]
    (job,) = museum.stored_jobs()
    assert job.step == 2  # and the commit
    rows = tables.scan(ASSET_FILE_METADATA_VERSIONS, PageRequest(100)).items
    assert len(rows) == 2 + 3


def test_a_request_that_dies_before_its_first_step_leaves_the_job_to_its_worker(
    museum: Versions,
) -> None:
    put_numbered(museum, 1, b"x")
    run = patch.object(type(museum.creation), "_run", side_effect=KeyboardInterrupt)
    with run, pytest.raises(KeyboardInterrupt):
        museum.create()
    (job,) = museum.stored_jobs()
    assert job.state == "queued"  # so that the stream sends its first message
    assert (museum.work_off(job.job_id).result or {})["assetVersionId"] == "1"


@pytest.mark.parametrize("method", ["start", "put_named"])
@pytest.mark.parametrize("done", [True, False])
def test_the_error_of_an_uncertain_start_names_where_to_look(
    museum: Versions, method: str, *, done: bool
) -> None:
    files = put_numbered(museum, 1, b"x")
    kind = type(museum.creation.repository)
    whole = getattr(kind, method)

    def fails(*args: Any) -> None:
        if done:
            whole(*args)
        raise UnavailableError("DynamoDB does not respond")

    with patch.object(kind, method, fails):
        answer = museum.create(files=named(files))
    assert (answer.status, answer.body["code"]) == (503, "OutcomeUnknown")
    jobs = museum.stored_jobs()
    assert len(jobs) == (done or method == "put_named")
    for job in jobs:
        fact = f"Version 1 may be created all the same: the job {job.job_id}"
        assert fact in answer.body["message"]


@pytest.mark.parametrize("operation", ["create", "revert"])
def test_a_step_that_the_time_of_the_request_ends_leaves_the_rest_to_its_job(
    museum: Versions, operation: str
) -> None:
    put_numbered(museum, 3, b"x")
    if operation == "revert":
        museum.made()
        put_numbered(museum, 3, b"y")
    number = str(len(museum.listed()))
    late = OutcomeUnknownError("too late")
    with patch.object(type(museum.creation.repository), "put_files", side_effect=late):
        answer = museum.create() if operation == "create" else museum.revert("1")
    assert (answer.status, answer.body["assetVersionId"]) == (200, number)
    museum.lifecycle.hands.now += timedelta(seconds=60)
    done = museum.work_off(answer.body["jobId"])
    assert (done.result or {})["assetVersionId"] == number
    assert museum.listed()[0]["fileCount"] == 3


def test_the_function_may_run_for_longer_than_the_job_within_a_request() -> None:
    left = timedelta(seconds=ASSET_VERSIONS_API.timeout_seconds) - REQUEST_TIME
    assert left >= timedelta(seconds=8)  # in which the last step ends


def test_a_revert_notes_the_primary_types_that_it_restores(museum: Versions) -> None:
    body = {"filePath": "/0000.glb", "primaryType": "primary"}
    gallery = museum.lifecycle.gallery
    put_numbered(museum, 2, b"x")
    assert gallery.change("PUT", "setPrimaryFile", body).status == 200
    museum.made()
    put_numbered(museum, 2, b"y")
    # As for an asset whose row does not name the path.
    museum.tables.write(Update(table=ASSETS, key=STATUE, set={"typedFiles": []}))
    assert museum.revert("1").body["assetVersionId"] == "2"
    rows = gallery.list_files().body["items"]
    assert [row["primaryType"] for row in rows] == ["primary", ""]


@pytest.mark.parametrize("end", ["done", "cancelled"])
@pytest.mark.parametrize("operation", ["create", "revert"])
def test_versions_are_made_in_the_order_of_their_replies(
    museum: Versions, monkeypatch: pytest.MonkeyPatch, operation: str, end: str
) -> None:
    files = put_numbered(museum, 60, b"x")
    museum.made("first")
    put_numbered(museum, 60, b"y")
    museum.made("second")
    with monkeypatch.context() as slow:
        slowed(museum, slow, 0.25, "put_files")
        first = museum.revert("1")
        assert first.body["jobState"] == "running", first.body
        put_numbered(museum, 1, b"z")
        second = museum.revert("2") if operation == "revert" else museum.create()
        third = museum.create()
    earlier, later, last = (answer.body["jobId"] for answer in (first, second, third))
    assert [version["Version"] for version in museum.listed()] == ["2", "1", "0"]
    # Their workers come in another order.
    for job_id in (last, later, last):
        museum.lifecycle.hands.now += timedelta(minutes=5)
        job = museum.run_once(job_id)
        assert job is not None
        assert not job.is_finished
    if end == "cancelled":
        museum.lifecycle.jobs.cancel_job(ADMIN, earlier)
    assert museum.work_off(earlier).state == end
    assert [museum.work_off(job_id).state for job_id in (later, last)] == ["done", "done"]
    numbers = [version["Version"] for version in museum.listed()]
    assert numbers == (
        ["5", "4", "3", "2", "1", "0"] if end == "done" else ["5", "4", "2", "1", "0"]
    )
    assert museum.files("5") == museum.files("4")
    assert museum.files("4") != files
