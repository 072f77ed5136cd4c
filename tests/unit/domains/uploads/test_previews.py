"""Previews of files and of assets: what they need, replace, and wait for."""

from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from backend.aws.objects import S3Objects
from backend.core.identity import Identity
from backend.core.tables import Tables
from backend.domains.uploads.service.completion import Completion
from backend.domains.uploads.service.waiting_previews import LONGEST_WAIT
from backend.spec.tables.assets import ASSET_UPLOADS
from tests.factories.files import GLB, Gallery
from tests.factories.lifecycle import KilledError, interrupt
from tests.unit.domains.uploads.calls import (
    ELF,
    IN_PARTS,
    MIB,
    World,
    dying,
    error_of,
    head,
    named,
    part,
    sent,
    started,
    states,
    stored_part,
    temporary,
    uploaded,
)


def test_a_preview_needs_its_file(museum: Gallery) -> None:
    assert "no file" in error_of(uploaded(museum, {"/a.glb.previewFile.png": b"png"}))
    both = uploaded(museum, {"/a.glb.previewFile.png": b"png", "/a.glb": GLB})
    assert both.body["overallSuccess"]
    assert museum.file_info("/a.glb").body["previewFile"] == "statue/a.glb.previewFile.png"


def test_a_new_preview_replaces_the_old_one(museum: Gallery) -> None:
    uploaded(museum, {"/a.glb": GLB, "/a.glb.previewFile.png": b"png"})
    uploaded(museum, {"/a.glb.previewFile.jpg": b"jpg"})
    assert head(museum, "/a.glb.previewFile.png") is None
    assert museum.file_info("/a.glb").body["previewFile"] == "statue/a.glb.previewFile.jpg"


def test_a_preview_that_is_too_large_is_refused_by_what_is_stored(museum: Gallery) -> None:
    uploaded(museum, {"/a.glb": GLB})
    upload_id, file = started(museum, "/a.glb.previewFile.png", None, num_parts=1)
    done = museum.complete(upload_id, named(file, part(file, 1, bytes(5 * MIB + 1))))
    assert "5 MiB" in error_of(done)


def test_an_asset_preview_is_stored_apart_and_named_by_the_asset(museum: Gallery) -> None:
    announced = {"relativeKey": "look/front.PNG", "file_size": 3}
    reply = museum.initialise(announced, uploadType="assetPreview").body
    (file,) = reply["files"]
    done = named(file, part(file, 1, b"png"))
    answer = museum.complete(reply["uploadId"], done, uploadType="assetPreview")
    assert answer.status == 200, answer.body
    asset = museum.assets.get_asset(Identity("admin"), "museum", "statue")
    assert asset.preview_location is not None
    assert asset.preview_location.key == "previews/statue/front.PNG"
    assert asset.asset_type == "none"
    assert museum.list_files().body["items"] == []
    url = museum.download(downloadType="assetPreview").body["downloadUrl"]
    assert "previews/statue/front.PNG" in url


PREVIEW = "/a.glb.previewFile.png"


@pytest.fixture
def world(tables: Tables, objects: S3Objects) -> World:
    """A gallery where nothing is large."""
    return World(tables, objects, large_bytes=1024**3)


def both(
    world: World, body: bytes = GLB, **announced: Any
) -> tuple[str, list[dict[str, Any]], str]:
    """An upload of a file that is open, and one of its preview that was completed."""
    file_upload, file = sent(world.museum, {"/a.glb": body})
    preview_upload, preview = sent(world.museum, {PREVIEW: b"png"}, **announced)
    answer = world.museum.complete(preview_upload, *preview)
    assert answer.status == 200
    (result,) = answer.body["fileResults"]
    assert result["success"] is result["largeFileAsynchronousHandling"] is True
    assert answer.body["overallSuccess"] is answer.body["largeFileAsynchronousHandling"] is True
    return file_upload, file, preview_upload


def deliver(world: World) -> None:
    """Deliver the messages of all jobs once, when they may go on."""
    world.now += timedelta(seconds=LONGEST_WAIT)
    for job_id in world.unfinished():
        world.run(job_id)


def test_a_preview_is_completed_once_the_upload_of_its_file_is(world: World) -> None:
    file_upload, file, preview_upload = both(world)
    world.museum.put("/a.glb.previewFile.jpg", b"jpg")
    deliver(world)
    assert states(world.museum, preview_upload) == {PREVIEW: "working"}
    assert head(world.museum, PREVIEW) is None
    assert world.museum.complete(file_upload, *file).body["overallSuccess"]
    deliver(world)
    assert states(world.museum, preview_upload) == {PREVIEW: "done"}
    assert world.museum.file_info("/a.glb").body["previewFile"] == "statue" + PREVIEW
    assert head(world.museum, "/a.glb.previewFile.jpg") is None  # it replaced the older one
    assert world.museum.upload(preview_upload).body["state"] == "completed"
    assert (temporary(), world.unfinished()) == ([], [])


def test_a_preview_is_dropped_with_the_upload_of_its_file(world: World) -> None:
    file_upload, _, preview_upload = both(world)
    assert world.museum.abort(file_upload).status == 200
    deliver(world)
    check_dropped(world, preview_upload)
    file_upload, file, preview_upload = both(world, ELF)  # it may not be stored
    assert "executable" in error_of(world.museum.complete(file_upload, *file))
    deliver(world)
    check_dropped(world, preview_upload)


def test_a_preview_is_dropped_when_the_upload_of_its_file_expires(world: World) -> None:
    file_upload, _, _ = both(world)
    world.now += timedelta(days=5)
    preview_upload, preview = sent(world.museum, {"/a.glb.previewFile.jpg": b"jpg"})
    world.museum.complete(preview_upload, *preview)
    world.now += timedelta(days=2)
    assert world.museum.upload(file_upload).status == 404
    deliver(world)
    check_dropped(world, preview_upload)


def check_dropped(world: World, upload_id: str) -> None:
    """The upload has ended without its preview, and the store holds nothing of it."""
    reply = world.museum.upload(upload_id).body
    (file,) = reply["files"]
    state = (reply["state"], file["state"], file["errorKind"])
    assert state == ("completed", "failed", "abandoned")
    assert file["error"] == "the upload of /a.glb ended without that file"
    assert head(world.museum, file["relativeKey"]) is None
    assert [key for key in temporary() if upload_id in key] == []
    assert world.unfinished() == []


def test_other_files_of_the_upload_do_not_wait(world: World) -> None:
    file_upload, file = sent(world.museum, {"/a.glb": GLB, "/b.glb": GLB})
    paths = {PREVIEW: b"a", "/b.glb.previewFile.png": b"b", "/c.txt": b"c"}
    preview_upload, previews = sent(world.museum, paths)
    assert world.museum.complete(preview_upload, *previews).body["overallSuccess"]
    assert states(world.museum, preview_upload)["/c.txt"] == "done"
    world.museum.complete(file_upload, file[1])
    deliver(world)
    result = states(world.museum, preview_upload)
    assert (result[PREVIEW], result["/b.glb.previewFile.png"]) == ("working", "done")
    world.museum.complete(file_upload, file[0])
    deliver(world)
    assert set(states(world.museum, preview_upload).values()) == {"done"}


@pytest.mark.parametrize(
    ("field", "value"),
    [("UserId", "ada"), ("databaseId", "elsewhere"), ("uploadType", "assetPreview")],
)
def test_a_preview_waits_only_for_its_own_users_files_of_its_asset(
    world: World, field: str, value: str
) -> None:
    other, _ = sent(world.museum, {"/a.glb": GLB})
    row = world.tables.get(ASSET_UPLOADS, {"uploadId": other, "assetId": "statue"})
    assert row is not None
    world.tables.put_many(ASSET_UPLOADS, [{**row, field: value}])
    sent(world.museum, {"/b.glb": GLB})
    assert "no file /a.glb" in error_of(uploaded(world.museum, {PREVIEW: b"png"}))


def test_an_upload_that_ended_between_two_looks_is_no_reason_to_refuse(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is put in its place after the preview's request did not find it."""
    file_upload, file = sent(world.museum, {"/a.glb": GLB})
    preview_upload, preview = sent(world.museum, {PREVIEW: b"png"})
    complete = partial(world.museum.complete, file_upload, *file)
    interrupt(monkeypatch, Completion, "missing_base", complete, after=True)
    assert world.museum.complete(preview_upload, *preview).body["overallSuccess"]
    assert states(world.museum, preview_upload) == {PREVIEW: "done"}


def test_an_archived_asset_gets_no_preview(world: World) -> None:
    _, _, preview_upload = both(world)
    world.archive()
    deliver(world)
    assert world.unfinished() == []
    assert [key for key in temporary() if key.startswith(f"temp-uploads/{preview_upload}")] == []


def test_a_preview_that_was_put_again_while_it_waited_fails(world: World) -> None:
    file_upload, file = sent(world.museum, {"/a.glb": GLB})
    preview_upload, preview = started(world.museum, PREVIEW, 3)
    done = named(preview, stored_part(preview, 1, b"png"))
    assert world.museum.complete(preview_upload, done).body["overallSuccess"]
    stored_part(preview, 1, b"gif")
    world.museum.complete(file_upload, *file)
    deliver(world)
    assert states(world.museum, preview_upload) == {PREVIEW: "failed"}
    assert (head(world.museum, PREVIEW), temporary()) == (None, [])


@pytest.mark.parametrize("wrong", [{"parts": [{"PartNumber": 1, "ETag": "0" * 32}]}, {"parts": []}])
def test_a_preview_that_is_not_as_it_was_sent_does_not_wait(
    world: World, wrong: dict[str, Any]
) -> None:
    sent(world.museum, {"/a.glb": GLB})
    preview_upload, (preview,) = sent(world.museum, {PREVIEW: b"png"})
    assert error_of(world.museum.complete(preview_upload, {**preview, **wrong}))
    assert world.job_ids() == []


@pytest.mark.parametrize(
    ("announced", "effect"),
    [
        *(({}, effect) for effect in ("read_version", "copy", "delete_many")),
        *((IN_PARTS, effect) for effect in ("complete_multipart", "copy", "delete_version")),
    ],
)
@pytest.mark.parametrize("after", [False, True])
def test_nothing_is_lost_where_the_worker_dies(
    world: World, announced: dict[str, Any], effect: str, after: bool
) -> None:
    file_upload, file, preview_upload = both(world, **announced)
    world.museum.complete(file_upload, *file)
    with dying(effect, after=after), pytest.raises(KilledError):
        deliver(world)
    deliver(world)
    assert states(world.museum, preview_upload) == {PREVIEW: "done"}
    assert (temporary(), world.versions()) == ([], 2)
