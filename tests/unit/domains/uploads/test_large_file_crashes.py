"""Workers of large files that die, repeat, or meet outages: nothing is lost or done twice."""

from datetime import timedelta
from unittest.mock import patch

import pytest

from backend.aws.objects import S3Objects
from backend.core.errors import NotFoundError, UnavailableError
from backend.core.tables import Tables
from tests.factories.files import GLB
from tests.factories.lifecycle import KilledError
from tests.unit.domains.uploads.calls import (
    World,
    asset_type,
    dying,
    head,
    sent,
    states,
    stored_head,
    temporary,
)

STEPS = (
    *("list_parts", "complete_multipart", "read_start"),
    *("create_multipart", "copy_part", "delete_version"),
)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("call", [1, 2])
def test_a_worker_that_dies_anywhere_is_continued(
    step: str, moment: str, call: int, world: World
) -> None:
    upload_id, _, job_id = world.hand_over()
    with dying(step, after=moment == "after", call=call):
        try:
            world.run(job_id)
        except KilledError:
            assert world.run(job_id) is None  # its lease still holds the job
    world.now += timedelta(minutes=5)
    world.drain()
    assert states(world.museum, upload_id) == {"/a.glb": "done"}
    assert world.versions() == 1
    assert asset_type(world.museum) == ".glb"
    # Of a copy that was begun and never noted nobody knows; a lifecycle rule removes it.
    forgotten = (step, moment, call) == ("create_multipart", "after", 1)
    assert temporary() == (["statue/a.glb"] if forgotten else [])


@pytest.mark.parametrize("write", ["lease", "release"])
def test_a_worker_that_dies_before_it_writes_the_outcome_writes_it_later(
    write: str, world: World
) -> None:
    upload_id, _, job_id = world.hand_over()
    uploads = type(world.museum.uploads.context.uploads)
    with patch.object(uploads, write, side_effect=KilledError), pytest.raises(KilledError):
        world.run(job_id)
    world.now += timedelta(minutes=5)
    world.drain()
    assert (states(world.museum, upload_id), world.versions()) == ({"/a.glb": "done"}, 1)


def test_the_mark_and_the_job_are_written_together_or_not_at_all(
    world: World, tables: Tables
) -> None:
    museum = world.museum
    upload_id, done = sent(museum, {"/a.glb": GLB})
    outage = UnavailableError("DynamoDB does not answer")
    with patch.object(type(tables), "transact", side_effect=outage):
        assert museum.complete(upload_id, *done).status == 503
    assert world.job_ids() == []
    assert states(museum, upload_id) == {"/a.glb": "open"}
    world.now += timedelta(minutes=1)
    assert museum.complete(upload_id, *done).status == 200
    assert len(world.job_ids()) == 1
    world.drain()
    assert states(museum, upload_id) == {"/a.glb": "done"}


def test_a_message_or_a_complete_that_comes_twice_does_nothing_twice(world: World) -> None:
    museum = world.museum
    upload_id, done = sent(museum, {"/a.glb": GLB})
    first = museum.complete(upload_id, *done)
    again = museum.complete(upload_id, *done)
    assert (again.status, again.body) == (first.status, first.body)
    (job_id,) = world.job_ids()
    world.drain()
    for _ in range(2):
        job = world.run(job_id)
        assert job is not None
        assert job.state == "done"
    assert world.versions() == 1
    after = museum.complete(upload_id, *done)
    assert after.status == 200
    assert after.body["fileResults"][0]["largeFileAsynchronousHandling"] is True
    assert len(world.job_ids()) == 1


@pytest.mark.parametrize(
    ("effect", "error", "times"),
    [
        ("copy_part", UnavailableError("S3 does not answer"), 100),
        # parts that were deleted once they were put together are looked for again
        ("read_start", NotFoundError("S3 holds no such object or upload"), 1),
    ],
)
def test_an_outage_is_waited_for_and_is_no_failure(
    world: World, effect: str, error: Exception, times: int
) -> None:
    upload_id, _, job_id = world.hand_over()
    with patch.object(S3Objects, effect, side_effect=error):
        for _ in range(times):
            with pytest.raises(UnavailableError):
                world.run(job_id)
            world.now += timedelta(minutes=10)
    assert states(world.museum, upload_id) == {"/a.glb": "working"}
    world.drain()
    assert states(world.museum, upload_id) == {"/a.glb": "done"}
    assert (world.versions(), world.open_multiparts()) == (1, [])


def test_a_file_that_kills_every_worker_ends_with_a_reason_and_can_be_tried_again(
    world: World,
) -> None:
    museum = world.museum
    upload_id, done, job_id = world.hand_over()
    with patch.object(S3Objects, "copy_part", side_effect=KilledError):
        for _ in range(30):
            try:
                world.run(job_id)
            except KilledError:
                world.now += timedelta(minutes=10)
    assert world.job(job_id).state == "failed"
    (reply,) = museum.upload(upload_id).body["files"]
    assert (reply["state"], reply["errorKind"]) == ("failed", "failure")
    assert "tried 20 times" in reply["error"]
    assert museum.complete(upload_id, *done).body["largeFileAsynchronousHandling"]
    world.drain()
    assert states(museum, upload_id) == {"/a.glb": "done"}
    assert world.versions() == 1


def test_a_newer_file_of_the_same_name_is_not_overwritten_by_a_repetition(world: World) -> None:
    museum = world.museum
    upload_id, _, job_id = world.hand_over()
    with dying("delete_version"), pytest.raises(KilledError):
        world.run(job_id)
    museum.put("/a.glb", b"newer")
    world.now += timedelta(minutes=5)
    world.drain()
    assert stored_head(museum, "/a.glb").version.size == len(b"newer")
    assert (states(museum, upload_id), temporary()) == ({"/a.glb": "done"}, [])


def test_a_request_that_works_on_the_upload_is_waited_for(world: World) -> None:
    museum = world.museum
    upload_id, done = sent(museum, {"/a.glb": GLB, "/b.glb": GLB})
    museum.complete(upload_id, done[0])
    row = museum.uploads.context.uploads.get(upload_id)
    assert row is not None
    museum.uploads.context.lease(row)
    (job_id,) = world.job_ids()
    job = world.run(job_id)
    assert job is not None
    assert job.state == "running"
    assert head(museum, "/a.glb") is not None
    world.now += timedelta(seconds=36)
    world.drain()
    assert states(world.museum, upload_id) == {"/a.glb": "done", "/b.glb": "open"}
