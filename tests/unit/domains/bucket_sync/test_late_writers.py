"""Who read an asset while it was active may write after its archiving met the last file."""

from collections.abc import Callable
from functools import partial

import pytest

from backend.spec.queues import BUCKET_EVENTS as QUEUE
from tests.factories.bucket_sync import SyncWorld
from tests.factories.files import BUCKET
from tests.factories.lifecycle import interrupt
from tests.factories.versions import Versions, versions
from tests.fakes.objects import MemoryObjects
from tests.fakes.tables import MemoryTables

FILE, LATE = "statue/a.glb", "statue/late.glb"
ALL_DONE: dict[str, list[str]] = {"batchItemFailures": []}
Writer = Callable[[Versions], str]


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> SyncWorld:
    monkeypatch.setattr("backend.core.parallel.WORKERS", 1)
    return SyncWorld(tables=MemoryTables(), objects=MemoryObjects())


@pytest.fixture
def museum(world: SyncWorld) -> Versions:
    """An asset with a file, and a version of it that is not what the file is now."""
    made = versions(world.tables, world.objects)
    made.lifecycle.gallery.put("/a.glb", b"old")
    assert made.made() == "1"
    made.lifecycle.gallery.put("/a.glb", b"new")
    return made


def at_the_write(world: SyncWorld, operation: str, then: Callable[[], object]) -> None:
    """Do something right before the next write of a kind, after all that its writer has read."""

    def before(now: str) -> None:
        if now == operation:
            world.objects.before = lambda _: None
            then()

    world.objects.before = before


def revert(museum: Versions) -> str:
    answer = museum.revert("1")
    assert answer.body.get("code") == "AssetVersionOvertaken", answer.body
    return FILE


def upload(museum: Versions) -> str:
    gallery = museum.lifecycle.gallery
    started = gallery.initialise({"relativeKey": "/late.glb", "file_size": 0}).body
    file = {"relativeKey": "/late.glb", "uploadIdS3": started["files"][0]["uploadIdS3"]}
    gallery.complete(started["uploadId"], {**file, "parts": []})
    return LATE


def other_client(museum: Versions) -> str:
    museum.lifecycle.objects.put(BUCKET, LATE, b"x", content_type="model/gltf", metadata={})
    return LATE


@pytest.mark.parametrize(
    ("writer", "operation"), [(revert, "copy"), (upload, "put"), (other_client, "put")]
)
def test_what_is_written_after_the_last_pass_is_hidden_and_comes_back(
    world: SyncWorld, museum: Versions, writer: Writer, operation: str
) -> None:
    kept, jobs = museum.lifecycle, list[str]()
    at_the_write(world, operation, lambda: jobs.append(kept.archive()))
    key = writer(museum)
    path = "/" + key.removeprefix("statue/")
    assert kept.files()[path] is False  # the archiving has ended, and did not meet it
    assert world.deliver_events(key) == ALL_DONE
    assert kept.work_off(jobs[0]).state == "done"
    assert all(kept.files().values())
    kept.unarchive()
    assert not any(kept.files().values())


def test_events_of_what_is_hidden_start_nothing(world: SyncWorld, museum: Versions) -> None:
    job_id = museum.lifecycle.archive()
    before = museum.lifecycle.jobs.find(job_id)
    world.objects.put(BUCKET, "statue/folder/", b"", content_type="x/y", metadata={})
    assert world.deliver_events(FILE, "statue/folder/", "statue/absent.glb") == ALL_DONE
    assert museum.lifecycle.jobs.find(job_id) == before


@pytest.mark.parametrize("state", ["cancelled", "failed"])
def test_what_an_archiving_that_was_stopped_shows_is_left_to_people(
    world: SyncWorld, museum: Versions, state: str
) -> None:
    kept = museum.lifecycle
    job = kept.jobs.find(kept.archive())
    assert job is not None
    stopped = kept.jobs.jobs.change(job, {"state": state})
    other_client(museum)
    assert world.deliver_events(LATE) == ALL_DONE
    assert kept.jobs.find(job.job_id) == stopped


def test_events_during_the_archiving_are_handled_after_it(
    world: SyncWorld, museum: Versions
) -> None:
    kept = museum.lifecycle
    job = kept.jobs.find(kept.archive())
    assert job is not None
    running = kept.jobs.jobs.change(job, {"state": "running"})
    other_client(museum)
    reply = world.deliver_events(LATE, FILE)
    assert reply["batchItemFailures"] == [{"itemIdentifier": "message-0"}]
    assert [name for name, *_ in world.queues.postponed] == [QUEUE.name]
    kept.jobs.jobs.change(running, {"state": "done"})
    world.deliver_events(LATE)
    assert kept.work_off(job.job_id).state == "done"
    assert kept.files()["/late.glb"]


def test_no_file_is_hidden_of_an_asset_that_comes_back_at_the_same_time(
    world: SyncWorld, museum: Versions, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = museum.lifecycle
    job_id = kept.archive()
    other_client(museum)
    # The event comes right after the request has seen that the archiving is done.
    event = partial(world.deliver_events, LATE)
    interrupt(monkeypatch, type(kept.jobs), "find", event, after=True)
    assert kept.refused("unarchive") == (409, "AssetBusy")
    monkeypatch.undo()
    assert kept.work_off(job_id).state == "done"
    kept.unarchive()
    assert not any(kept.files().values())


def test_an_event_that_comes_after_the_return_hides_nothing(
    world: SyncWorld, museum: Versions
) -> None:
    kept = museum.lifecycle
    kept.archive()
    other_client(museum)
    kept.unarchive()
    assert world.deliver_events(LATE) == ALL_DONE
    assert not any(kept.files().values())
