"""Versions whose makers die, or whose assets change state under them."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from backend.core.paging import PageRequest
from backend.core.tables import Tables
from backend.domains.asset_versions.models.jobs import Capture
from backend.domains.jobs.errors import JobChangedError
from backend.domains.jobs.models import Job
from backend.spec.tables.operations import JOBS
from tests.factories.assets import ADMIN
from tests.factories.files import BUCKET
from tests.factories.lifecycle import KilledError
from tests.factories.versions import Versions, named
from tests.unit.domains.asset_versions.test_making import put, snapshot_rows


def killed_at(museum: Versions, monkeypatch: pytest.MonkeyPatch, method: str, call: int) -> None:
    """Let the process die after the n-th call of a method of the repository."""
    kind = type(museum.creation.repository)
    whole = getattr(kind, method)
    calls: list[int] = []

    def dying(*args: Any, **more: Any) -> Any:
        answer = whole(*args, **more)
        calls.append(1)
        if len(calls) == call:
            monkeypatch.setattr(kind, method, whole)
            raise KilledError
        return answer

    monkeypatch.setattr(kind, method, dying)


@pytest.mark.parametrize("method", ["start", "put_files", "put_records", "count_files", "commit"])
def test_a_version_whose_request_died_is_made_once_by_its_job(
    museum: Versions, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    files = put(museum, "/a.glb", "/b.glb")
    killed_at(museum, monkeypatch, method, 1)
    with pytest.raises(KilledError):
        museum.create("once", versionAlias="v1")
    museum.lifecycle.hands.now += timedelta(seconds=300)
    (job,) = jobs_of(museum)
    done = museum.work_off(job.job_id)
    assert (done.state, (done.result or {})["assetVersionId"]) == ("done", "1")
    assert [one["Version"] for one in museum.listed()] == ["1", "0"]
    assert museum.files("1") == files


def test_a_request_that_dies_over_its_number_starts_nothing(
    museum: Versions, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed_at(museum, monkeypatch, "draw_number", 1)
    with pytest.raises(KilledError):
        museum.create("once", versionAlias="v1")
    assert jobs_of(museum) == []
    assert museum.made(versionAlias="v1") == "2"
    assert [one["Version"] for one in museum.listed()] == ["2", "0"]


def died_making(museum: Versions, monkeypatch: pytest.MonkeyPatch) -> Job:
    """The job of a version whose first worker died over its files."""
    put(museum, "/a.glb")
    killed_at(museum, monkeypatch, "put_files", 1)
    with pytest.raises(KilledError):
        museum.create()
    museum.lifecycle.hands.now += timedelta(seconds=300)
    (job,) = jobs_of(museum)
    return job


def jobs_of(museum: Versions) -> list[Job]:
    rows = museum.tables.scan(JOBS, PageRequest(100)).items
    return [Job.model_validate(item) for item in rows]


def test_an_asset_that_is_archived_meanwhile_keeps_no_rows(
    museum: Versions, tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = died_making(museum, monkeypatch)
    museum.lifecycle.archive()
    assert snapshot_rows(tables, "1") == 1
    done = museum.work_off(job.job_id)
    assert done.state == "failed"
    assert snapshot_rows(tables, "1") == 0


def test_a_worker_that_died_while_it_swept_is_followed_by_one_that_sweeps_the_rest(
    museum: Versions, tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = died_making(museum, monkeypatch)
    museum.lifecycle.archive()
    killed_at(museum, monkeypatch, "delete_named_rows", 1)
    with pytest.raises(KilledError):
        museum.work_off(job.job_id)
    assert snapshot_rows(tables, "1") == 1
    museum.lifecycle.hands.now += timedelta(seconds=300)
    museum.lifecycle.unarchive()
    done = museum.work_off(job.job_id)
    assert done.state == "failed"
    assert Capture.model_validate(done.cursor) == Capture(again=True)
    assert done.problems == [
        "Asset statue was archived or deleted while the version was being created"
    ]
    assert snapshot_rows(tables, "1") == 0
    museum.lifecycle.jobs.resume_job(ADMIN, job.job_id)
    assert (museum.work_off(job.job_id).result or {})["assetVersionId"] == "2"


def test_a_request_that_died_over_its_files_makes_no_version(
    museum: Versions, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = put(museum, "/a.glb")

    def dying(*_: object) -> None:
        raise KilledError

    with monkeypatch.context() as patch:
        patch.setattr(type(museum.creation.repository), "put_named", dying)
        with pytest.raises(KilledError):
            museum.create(files=named(files))
    museum.lifecycle.hands.now += timedelta(seconds=300)
    (job,) = jobs_of(museum)
    assert museum.work_off(job.job_id).state == "failed"
    assert museum.made() == "2"


def asleep_before_its_first_copy(
    museum: Versions, monkeypatch: pytest.MonkeyPatch, meanwhile: Callable[[], object]
) -> None:
    """Let another worker end the job of a revert, and others do more, before a copy is made."""
    kind = type(museum.lifecycle.objects)
    copy, moments = kind.copy, iter([True])

    def late(objects: Any, *args: Any, **more: Any) -> Any:
        if next(moments, False):
            museum.lifecycle.hands.now += timedelta(seconds=300)
            (job,) = (one for one in jobs_of(museum) if not one.is_finished)
            assert museum.work_off(job.job_id).state == "done"
            meanwhile()
        return copy(objects, *args, **more)

    monkeypatch.setattr(kind, "copy", late)


def test_a_worker_that_wakes_up_after_a_revert_hides_nothing_that_was_put_since(
    museum: Versions, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(museum, "/a.glb")
    museum.made()
    museum.lifecycle.gallery.put("/a.glb", b"newer")
    gallery, objects = museum.lifecycle.gallery, museum.lifecycle.objects
    asleep_before_its_first_copy(museum, monkeypatch, lambda: gallery.put("/a.glb", b"newest"))
    museum.revert("1")
    assert objects.read_start(BUCKET, "statue/a.glb", length=9) == b"newest"
    assert museum.files("2").keys() == {"/a.glb"}


def test_a_worker_that_wakes_up_after_a_version_was_made_and_the_asset_archived_removes_no_rows(
    museum: Versions, tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    stale = died_making(museum, monkeypatch)
    assert museum.work_off(stale.job_id).state == "done"
    rows = snapshot_rows(tables, "1")
    museum.lifecycle.archive()
    with pytest.raises(JobChangedError):
        museum.creation.steps.make(stale)
    assert snapshot_rows(tables, "1") == rows > 0
