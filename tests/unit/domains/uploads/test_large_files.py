"""Large files: handed to a worker, finished by it, the outcome on the upload.

Ten bytes are large here, so that most files are copied in one part; some have more.
"""

from datetime import timedelta
from typing import Any

import pytest

from backend.aws.objects import S3Objects
from backend.core.clock import epoch_seconds, iso
from backend.core.paging import PageRequest
from backend.core.tables import Tables
from backend.domains.jobs.repository import JobRepository
from backend.domains.jobs.service.runner import JobRunner
from backend.domains.uploads.service.settlement import UPLOAD_DAYS
from backend.spec.buckets import ABORT_MULTIPART_DAYS, TEMP_UPLOADS_DAYS
from backend.spec.tables.assets import ASSET_UPLOADS
from backend.spec.tables.operations import JOBS
from tests.factories.audit import entries
from tests.factories.files import BUCKET, GLB, sha256
from tests.unit.domains.uploads.calls import (
    ELF,
    MIB,
    World,
    asset_type,
    error_of,
    head,
    named,
    part,
    sent,
    started,
    states,
    stored_head,
    stored_part,
    temporary,
)


def test_a_large_file_is_handed_over_and_then_finished(world: World) -> None:
    museum = world.museum
    upload_id, done = sent(museum, {"/a.glb": GLB, "/small.txt": b"small"})
    answer = museum.complete(upload_id, *done)
    assert answer.status == 200
    assert answer.body["largeFileAsynchronousHandling"] is True
    results = answer.body["fileResults"]
    assert [result["success"] for result in results] == [True, True]
    assert [result["largeFileAsynchronousHandling"] for result in results] == [True, False]
    assert answer.body["overallSuccess"] is True
    assert head(museum, "/a.glb") is None
    assert states(world.museum, upload_id) == {"/a.glb": "working", "/small.txt": "done"}
    assert museum.upload(upload_id).body["state"] == "working"
    world.drain()
    outcome = stored_head(museum, "/a.glb")
    assert (outcome.version.size, outcome.content_type) == (len(GLB), "model/gltf-binary")
    assert outcome.metadata == {"vitrine-upload": upload_id}
    assert museum.file_info("/a.glb").body["changeSource"] == "upload"
    assert states(world.museum, upload_id) == {"/a.glb": "done", "/small.txt": "done"}
    reply = museum.upload(upload_id).body
    assert (reply["state"], reply["largeFileAsynchronousHandling"]) == ("completed", True)
    assert (asset_type(museum), temporary(), world.versions()) == ("folder", [], 2)


def test_the_rows_of_an_upload_outlive_the_wait_for_its_worker(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("backend.domains.uploads.repository._FILES_BYTES", 1)  # a row for each file
    museum = world.museum
    upload_id, done = sent(museum, {"/a.glb": GLB, "/b.glb": GLB, "/small.txt": b"small"})
    world.now += timedelta(days=7, seconds=-1)
    assert museum.complete(upload_id, *done[:1]).status == 200
    page = world.tables.scan(ASSET_UPLOADS, PageRequest(10))
    assert len(page.items) == 3
    assert {row["expiresAt"] for row in page.items} == {
        epoch_seconds(world.now + timedelta(days=UPLOAD_DAYS))
    }
    assert museum.upload(upload_id).body["expiresAt"] == iso(world.now + timedelta(days=7))
    world.now += timedelta(days=6)
    world.drain()
    assert states(world.museum, upload_id)["/a.glb"] == "done"


def test_s3_keeps_what_an_upload_may_still_need() -> None:
    assert ABORT_MULTIPART_DAYS > UPLOAD_DAYS
    assert TEMP_UPLOADS_DAYS > 2 * UPLOAD_DAYS


def test_a_large_file_of_several_parts_is_copied_by_parts(world: World) -> None:
    museum = world.museum
    body = bytes(range(256)) * (12 * MIB // 256)
    upload_id, file = started(museum, "/a.bin", len(body), num_parts=2, checksumSha256=sha256(body))
    done = named(file, part(file, 1, body), part(file, 2, body))
    assert museum.complete(upload_id, done).body["overallSuccess"]
    world.drain()
    head = stored_head(museum, "/a.bin")
    assert head.version.etag.endswith("-3")  # of 5 MiB, and not the two that were sent
    assert head.metadata["vitrine-sha256"] == sha256(body)
    key = museum.asset.asset_location.key + "a.bin"
    assert b"".join(museum.objects.read_chunks(BUCKET, key)) == body


def test_an_executable_ends_with_its_reason_and_nothing_is_left(world: World) -> None:
    museum = world.museum
    upload_id, done = sent(museum, {"/a.glb": ELF, "/b.glb": GLB, "/c.glb": GLB})
    assert museum.complete(upload_id, *done[:2]).body["overallSuccess"]
    museum.complete(upload_id, done[2])
    assert len(world.job_ids()) == 2  # a file that is completed later has a job of its own
    world.drain()
    wrong, *fine = museum.upload(upload_id).body["files"]
    assert (wrong["state"], wrong["errorKind"]) == ("failed", "rule")
    assert ([file["state"] for file in fine], world.versions()) == (["done", "done"], 2)
    assert "ELF" in wrong["error"]
    assert (head(museum, "/a.glb"), temporary(), world.open_multiparts()) == (None, [], [])
    answer = museum.complete(upload_id, *done)
    assert "ELF" in error_of(answer)
    problems = [world.job(job_id).problems for job_id in world.job_ids()]
    assert sorted(problems) == [[], [f"/a.glb: {wrong['error']}"]]


def test_parts_that_are_replaced_after_the_complete_are_not_taken(world: World) -> None:
    museum = world.museum
    upload_id, file = started(museum)
    museum.complete(upload_id, named(file, stored_part(file, 1, GLB)))
    stored_part(file, 1, b"other" * 10)
    world.drain()
    (reply,) = museum.upload(upload_id).body["files"]
    assert (reply["state"], reply["errorKind"]) == ("failed", "failure")
    assert "replaced" in reply["error"]
    assert (head(museum, "/a.glb"), temporary()) == (None, [])


def test_parts_that_were_deleted_end_with_their_reason(world: World) -> None:
    museum = world.museum
    upload_id, done, _ = world.hand_over()
    (key,) = temporary()
    museum.objects.abort_multipart(BUCKET, key, done[0]["uploadIdS3"])
    world.drain()
    (reply,) = museum.upload(upload_id).body["files"]
    assert reply["state"] == "failed"
    assert "the upload no longer exists in S3" in reply["error"]


def test_what_is_being_finished_is_not_renewed_and_can_be_abandoned_without_its_worker(
    world: World,
) -> None:
    museum = world.museum
    upload_id, _, job_id = world.hand_over()
    answer = museum.renew(upload_id, {"relativeKey": "/a.glb"})
    assert (answer.status, answer.body["code"]) == (409, "FileNotOpen")
    assert "is being completed" in answer.body["message"]
    answer = museum.abort(upload_id)
    assert (answer.status, answer.body["code"]) == (409, "FilesBeingFinished")
    world.tables.delete_many(JOBS, [{"jobId": job_id}])
    assert museum.abort(upload_id).status == 200
    assert temporary() == []


@pytest.mark.parametrize("steps", [0, 1])
def test_an_asset_that_is_archived_meanwhile_gets_no_file(world: World, steps: int) -> None:
    museum = world.museum
    upload_id, _, job_id = world.hand_over()
    runner = JobRunner(JobRepository(world.tables), lambda: world.now)
    for _ in range(steps):  # its copy has begun
        runner.run(job_id, museum.large_files.step, until=world.now)
    assert len(world.open_multiparts()) == 1
    world.archive()
    world.now += timedelta(minutes=1)
    world.drain()
    row = museum.uploads.context.uploads.get(upload_id)
    assert row is not None
    assert "archived or deleted" in row.results["/a.glb"].error
    assert (head(museum, "/a.glb"), temporary(), world.open_multiparts()) == (None, [], [])


def test_each_write_of_results_makes_one_entry(world: World) -> None:
    museum = world.museum

    def made() -> list[tuple[str, Any]]:
        return [
            (entry["operation"], entry["changes"].get("files", {}).get("after"))
            for entry in entries(world.tables)
            if upload_id in (entry["entity"] + str(entry["changes"].get("uploadId")))
        ]

    upload_id, done = sent(museum, {"/a.glb": GLB, "/b.txt": b"small", "/c.txt": b"small"})
    museum.complete(upload_id, done[0], done[1])
    assert made() == [("complete_upload", {"/b.txt": "uploaded"})]
    world.drain()
    assert ("complete_upload", {"/a.glb": "uploaded"}) in made()
    museum.abort(upload_id)
    assert [operation for operation, _ in made()].count("abort_upload") == 1
    assert len(made()) == 3


def test_a_copy_continues_over_several_messages_and_copies_no_part_twice(
    tables: Tables, objects: S3Objects, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Parts of 1 MiB, of which moto takes any; a step has time for one group of eight."""
    monkeypatch.setattr("moto.s3.models.S3_UPLOAD_PART_MIN_SIZE", 1)
    monkeypatch.setattr("backend.domains.uploads.rules.MIN_PART_BYTES", 1)
    world = World(tables, objects)
    museum = world.museum
    upload_id, done = sent(museum, {"/a.bin": bytes(20 * MIB)})
    museum.complete(upload_id, *done)
    (job_id,) = world.job_ids()
    copied: list[int] = []
    real = S3Objects.copy_part

    def slow(self: S3Objects, *args: Any, number: int, **more: Any) -> Any:
        copied.append(number)
        world.now += timedelta(seconds=3)
        return real(self, *args, number=number, **more)

    monkeypatch.setattr(S3Objects, "copy_part", slow)
    runs = 0
    while not world.job(job_id).is_finished:
        world.run(job_id)
        runs += 1
        assert runs < 100
    assert (runs, copied) == (3, list(range(1, 21)))
    head = stored_head(museum, "/a.bin")
    assert (head.version.size, head.version.etag[-3:]) == (20 * MIB, "-20")
