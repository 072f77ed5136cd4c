"""The state of an upload, with the reason why a file was not stored; its cancellation."""

from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from typing import Any
from unittest.mock import patch

import pytest

from backend.aws.objects import S3Objects
from backend.core.tables import Tables
from backend.core.transactions import Key
from backend.domains.uploads.service.context import UploadContext
from backend.spec.tables.assets import ASSET_UPLOADS, ASSETS
from backend.spec.tables.model import Table
from tests.factories.files import GLB, PARAMETERS, Gallery
from tests.factories.lifecycle import KilledError, ManualClock, interrupt
from tests.unit.domains.uploads.calls import ELF, IN_PARTS, World, head, sent, states, temporary


def test_an_upload_shows_the_state_of_each_file(museum: Gallery) -> None:
    upload_id, done = sent(museum, {"/a.glb": GLB, "/elf.glb": ELF, "/c.glb": GLB})
    reply = museum.upload(upload_id).body
    assert (reply["state"], reply["userId"], reply["expiresAt"][:10]) == (
        "open",
        "admin",
        "2026-03-08",
    )
    assert reply["files"][0]["uploadIdS3"] == done[0]["uploadIdS3"]
    museum.complete(upload_id, *done[:2])
    assert states(museum, upload_id) == {"/a.glb": "done", "/elf.glb": "failed", "/c.glb": "open"}
    museum.complete(upload_id, done[2])
    reply = museum.upload(upload_id).body
    assert (reply["state"], reply["largeFileAsynchronousHandling"]) == ("completed", False)
    assert "ELF" in reply["files"][1]["error"]


def test_refusals_by_a_rule_are_distinguished_from_failures(museum: Gallery) -> None:
    upload_id, done = sent(museum, {"/elf.glb": ELF, "/b.glb": GLB, "/c.glb": GLB})
    done[1]["parts"] = [{"PartNumber": 1, "ETag": "0" * 32}]
    done[2]["parts"] = []
    results = museum.complete(upload_id, *done).body["fileResults"]
    assert [result["errorKind"] for result in results] == ["rule", "failure", "abandoned"]
    # the first and the last are settled: they keep their kind
    again = museum.complete(upload_id, done[0], done[2]).body["fileResults"]
    assert [item["errorKind"] for item in again] == ["rule", "abandoned"]


def test_the_state_is_returned_to_those_who_may_write_the_asset_only(museum: Gallery) -> None:
    upload_id, _ = sent(museum, {"/a.glb": GLB})
    assert museum.as_user("stranger").upload(upload_id).status == 403
    assert museum.upload("y0").body["code"] == "UploadNotFound"
    assert museum.upload("y 0").status == 400


def test_an_expired_upload_is_reported(museum: Gallery, clock: ManualClock) -> None:
    upload_id, done = sent(museum, {"/a.glb": GLB})
    clock.now += timedelta(days=7, seconds=1)
    for answer in (museum.upload(upload_id), museum.complete(upload_id, *done)):
        assert (answer.status, answer.body["code"]) == (404, "UploadExpired")


def test_an_upload_of_which_time_has_removed_some_rows_is_absent(
    museum: Gallery, tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("backend.domains.uploads.repository._FILES_BYTES", 1)  # a row for each file
    upload_id, done = sent(museum, {"/a.glb": GLB, "/b.glb": GLB})
    museum.complete(upload_id, done[1])
    tables.delete_many(ASSET_UPLOADS, [{"uploadId": upload_id, "assetId": "statue#0001"}])
    for answer in (museum.upload(upload_id), museum.complete(upload_id, *done)):
        assert (answer.status, answer.body["code"]) == (404, "UploadNotFound")


@pytest.mark.parametrize(("announced", "requests"), [({}, 2), (IN_PARTS, 5)])
def test_a_batch_of_files_takes_two_requests_a_file_or_five_in_parts_and_one_more(
    museum: Gallery, objects: S3Objects, announced: dict[str, Any], requests: int
) -> None:
    files = {f"/{n}.glb": GLB for n in range(10)}
    calls: list[str] = []
    client = objects.client

    def count(model: object, **_: object) -> None:
        calls.append(str(getattr(model, "name", "")))

    client.meta.events.register("before-call.s3", count, unique_id="counting")
    try:
        upload_id, done = sent(museum, files, **announced)
        assert museum.complete(upload_id, *done).body["overallSuccess"]
    finally:
        client.meta.events.unregister("before-call.s3", unique_id="counting")
    calls = [name for name in calls if name not in {"UploadPart", "PutObject"}]  # the client's own
    assert calls.count("DeleteObjects") == 1
    assert calls.count("ListObjectsV2") <= 2  # for the asset's type
    assert len(calls) - calls.count("ListObjectsV2") == requests * len(files) + 1


GIB = 1024**3


def test_an_upload_can_be_abandoned(museum: Gallery) -> None:
    upload_id, done = sent(museum, {"/a.glb": GLB, "/b.glb": GLB})
    assert len(temporary()) == 2
    assert museum.abort(upload_id).status == 200
    assert temporary() == []
    assert museum.abort(upload_id).status == 404
    assert museum.upload(upload_id).status == 404
    assert museum.complete(upload_id, *done).status == 404


def test_completed_files_remain_when_the_rest_is_abandoned(museum: Gallery) -> None:
    upload_id, done = sent(museum, {"/a.glb": GLB, "/b.glb": GLB})
    assert museum.complete(upload_id, done[0]).body["overallSuccess"]
    assert museum.abort(upload_id).status == 200
    assert head(museum, "/a.glb") is not None
    assert temporary() == []


def test_no_one_learns_of_uploads_to_assets_that_they_do_not_see(museum: Gallery) -> None:
    upload_id, _ = sent(museum, {"/a.glb": GLB})
    assert museum.as_user("stranger").abort(upload_id).status == 403
    museum.assets.assets.tables.delete_many(
        ASSETS, [{"databaseId": "museum", "assetId": PARAMETERS["assetId"]}]
    )
    answer = museum.abort(upload_id)
    assert (answer.status, answer.body["code"]) == (404, "UploadNotFound")


def test_a_request_that_dies_while_an_upload_is_abandoned_leaves_no_half_of_it(
    museum: Gallery, tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("backend.domains.uploads.repository._FILES_BYTES", 1)  # a row for each file
    upload_id, done = sent(museum, {"/a.glb": GLB, "/b.glb": GLB})
    assert museum.complete(upload_id, done[1]).body["overallSuccess"]

    def die(self: Tables, table: Table, keys: Sequence[Key]) -> None:
        real(self, table, keys)
        raise KilledError

    real = type(tables).delete_many
    with patch.object(type(tables), "delete_many", die), pytest.raises(KilledError):
        museum.abort(upload_id)
    for answer in (museum.upload(upload_id), museum.abort(upload_id)):
        assert (answer.status, answer.body["code"]) == (404, "UploadNotFound")


@pytest.mark.parametrize(
    ("large_bytes", "code"), [(GIB, "UploadCompleted"), (10, "FilesBeingFinished")]
)
def test_an_upload_that_is_completed_just_before_is_not_abandoned(
    tables: Tables,
    objects: S3Objects,
    monkeypatch: pytest.MonkeyPatch,
    large_bytes: int,
    code: str,
) -> None:
    world = World(tables, objects, large_bytes=large_bytes)
    museum = world.museum
    upload_id, done = sent(museum, {"/a.glb": GLB})
    interrupt(monkeypatch, UploadContext, "lease", partial(museum.complete, upload_id, *done))
    answer = museum.abort(upload_id)
    assert (answer.status, answer.body["code"]) == (409, code)
    world.drain()
    assert states(museum, upload_id) == {"/a.glb": "done"}
    assert museum.upload(upload_id).body["state"] == "completed"
    answer = museum.abort(upload_id)
    assert (answer.status, answer.body["code"]) == (409, "UploadCompleted")
    assert museum.complete(upload_id, *done).status == 200  # the lease was given back
