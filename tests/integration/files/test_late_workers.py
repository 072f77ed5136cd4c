"""A worker that wakes up late after an archiving of files, on DynamoDB Local and versitygw."""

from collections.abc import Sequence
from datetime import timedelta

import pytest

from backend.aws.objects import S3Objects
from backend.aws.tables import DynamoTables
from backend.domains.files.repository import FileChangeRepository
from tests.factories.lifecycle import Lifecycle, lifecycle

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
    job = changing.wiring.runner.run(job_id, changing.steps.step, until=until)
    assert job is not None
    assert job.state == "done"


@pytest.mark.parametrize("body", [{"filePath": FILES[1]}, FOLDER], ids=["file", "folder"])
def test_files_that_were_brought_back_are_shown(
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
