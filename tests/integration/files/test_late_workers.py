"""Delayed workers and concurrent creators of versions, on DynamoDB Local and versitygw."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

from backend.aws.objects import S3Objects
from backend.aws.tables import DynamoTables
from backend.domains.asset_versions.repository import VersionRepository
from backend.domains.files.repository.changes import FileChangeRepository
from backend.entrypoints.wiring.file_changes import change_steps
from backend.entrypoints.wiring.jobs import runner
from tests.factories.assets import ADMIN, created_asset
from tests.factories.lifecycle import Lifecycle, lifecycle
from tests.factories.versions import Versions, versions

FOLDER = {"filePath": "/ä/", "isPrefix": True}
FILES = ("/ä/1 +.glb", "/ä/2.glb", "/ä/2.glb.previewFile.png")


@pytest.fixture
def museum(ports: tuple[DynamoTables, S3Objects]) -> Lifecycle:
    found = lifecycle(*ports)
    for path in FILES:
        found.gallery.put(path)
    return found


def another_has_the_job(museum: Lifecycle) -> None:
    job_id = FileChangeRepository(museum.tables).state("statue").job_id
    assert job_id is not None
    museum.hands.now += timedelta(minutes=5)
    until, changing = museum.hands.now + timedelta(minutes=1), museum.gallery.changing
    job = runner(changing).run(job_id, change_steps(changing).step, until=until)
    assert job is not None
    assert job.state == "done"


@pytest.mark.parametrize("body", [{"filePath": FILES[1]}, FOLDER], ids=["file", "folder"])
def test_files_that_were_restored_are_shown(
    museum: Lifecycle, monkeypatch: pytest.MonkeyPatch, body: dict[str, object]
) -> None:
    delete_many, moments = S3Objects.delete_many, iter([True])

    def late(objects: S3Objects, bucket: str, wanted: Sequence[tuple[str, str | None]]) -> None:
        if next(moments, False):
            another_has_the_job(museum)
            answer = museum.gallery.change("POST", "unarchiveFile", {"filePath": FILES[1]})
            assert answer.status == 200, answer.body
        delete_many(objects, bucket, wanted)

    monkeypatch.setattr(S3Objects, "delete_many", late)
    assert museum.gallery.change("DELETE", "archiveFile", body).status == 200
    assert museum.files() == {
        FILES[0]: "isPrefix" in body,
        FILES[1]: False,
        FILES[2]: False,
    }


@pytest.mark.parametrize("body", [{"filePath": FILES[1]}, FOLDER], ids=["file", "folder"])
def test_markers_that_another_worker_met_stay(
    museum: Lifecycle, monkeypatch: pytest.MonkeyPatch, body: dict[str, object]
) -> None:
    delete_many, moments = S3Objects.delete_many, iter([True])

    def awake(objects: S3Objects, bucket: str, wanted: Sequence[tuple[str, str | None]]) -> None:
        delete_many(objects, bucket, wanted)
        if next(moments, False):
            another_has_the_job(museum)

    monkeypatch.setattr(S3Objects, "delete_many", awake)
    assert museum.gallery.change("DELETE", "archiveFile", body).status == 200
    assert museum.files() == {FILES[0]: "isPrefix" in body, FILES[1]: True, FILES[2]: True}


@pytest.fixture
def versioned(ports: tuple[DynamoTables, S3Objects]) -> Versions:
    found = versions(*ports)
    for path in FILES:
        found.lifecycle.gallery.put(path)
    return found


def test_creators_at_once_draw_numbers_of_their_own_and_the_highest_is_current(
    versioned: Versions,
) -> None:
    asset, repository = versioned.lifecycle.gallery.asset, versioned.creation.repository
    with ThreadPoolExecutor(8) as pool:
        drawn = list(pool.map(repository.draw_number, [asset] * 40))
        assert sorted(map(int, drawn)) == list(range(1, 41))
        answers = list(pool.map(versioned.create, [f"number {n}" for n in range(12)]))
    for answer in answers:
        assert answer.status == 200, answer.body
    # They waited for the others, or the others changed the asset all the time.
    versioned.work_off_all(answer.body["jobId"] for answer in answers if "jobId" in answer.body)
    listed = versioned.listed()
    assert [one["Version"] for one in listed] == [*map(str, range(52, 40, -1)), "0"]
    assert [one["isCurrent"] for one in listed] == [True, *([False] * 12)]
    assert [one["fileCount"] for one in listed] == [*([2] * 12), 0]
    changed = versioned.lifecycle.asset()
    assert changed is not None
    assert changed.current_version.version == "52"


def test_a_worker_that_wakes_up_late_writes_under_its_own_number(
    versioned: Versions, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_files, moments, museum = VersionRepository.put_files, iter([True]), versioned.lifecycle

    def late(self: VersionRepository, asset: Any, number: str, files: Any) -> None:
        if next(moments, False):
            museum.hands.now += timedelta(minutes=5)
            museum.work_off(museum.delete())
            created_asset(museum.gallery.assets)
            museum.gallery.put("/new.glb")
            assert versioned.made() == "2"
        put_files(self, asset, number, files)

    monkeypatch.setattr(VersionRepository, "put_files", late)
    job_id = versioned.create().body["jobId"]
    assert versioned.work_off(job_id).state == "failed"
    museum.jobs.resume_job(ADMIN, job_id)
    assert versioned.work_off(job_id).state == "failed"
    assert versioned.files("2").keys() == {"/new.glb"}
    assert [one["Version"] for one in versioned.listed()] == ["2", "0"]
