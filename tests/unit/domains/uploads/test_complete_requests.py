"""Requests to complete an upload that do not fit what was announced or stored, or whose it is."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from backend.aws.objects import S3Objects
from backend.core.tables import Tables
from tests.factories.assets import NOON, created_asset
from tests.factories.files import GLB, Gallery, gallery
from tests.unit.domains.uploads.calls import (
    MIB,
    error_of,
    head,
    part,
    sent,
    temporary,
)


def test_a_file_without_parts_is_abandoned(museum: Gallery) -> None:
    upload_id, done = sent(museum, {"/a.glb": GLB, "/b.glb": GLB})
    done[0]["parts"] = []
    answer = museum.complete(upload_id, *done)
    assert answer.status == 200
    assert error_of(answer).startswith("cancelled")
    assert head(museum, "/a.glb") is None
    assert temporary() == []


def wrong_number(parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**parts[0], "PartNumber": 2}]


def twice(parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return parts * 2


def beyond(parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**parts[0], "PartNumber": 10_001}]


def zero(parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**parts[0], "PartNumber": 0}]


def no_etag(parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"PartNumber": 1}]


def test_a_part_list_that_cannot_be_right_is_refused(museum: Gallery) -> None:
    upload_id, done = sent(museum, {"/a.glb": GLB, "/b.glb": GLB})
    changes: list[Callable[[list[dict[str, Any]]], list[dict[str, Any]]]] = [
        wrong_number,
        twice,
        beyond,
        zero,
        no_etag,
    ]
    for change in changes:
        answer = museum.complete(upload_id, done[0], {**done[1], "parts": change(done[1]["parts"])})
        assert answer.status == 400, change
        assert answer.body["errors"][0]["field"].startswith("files.1.parts"), change
    assert museum.complete(upload_id, *done).body["overallSuccess"]


def test_a_missing_part_is_refused_by_its_number(museum: Gallery) -> None:
    answer = museum.initialise({"relativeKey": "/a.bin", "file_size": 11 * MIB, "num_parts": 2})
    (file,) = answer.body["files"]
    sent_part = part(file, 1, bytes(11 * MIB))
    done = museum.complete(
        answer.body["uploadId"],
        {"relativeKey": "/a.bin", "uploadIdS3": file["uploadIdS3"], "parts": [sent_part]},
    )
    assert done.status == 400
    assert "part 2 is missing" in done.body["message"]


def test_a_wrong_etag_fails_the_file_and_can_be_mended(museum: Gallery) -> None:
    upload_id, done = sent(museum, {"/a.glb": GLB})
    wrong = {**done[0], "parts": [{"PartNumber": 1, "ETag": "0" * 32}]}
    answer = museum.complete(upload_id, wrong)
    assert answer.status == 409
    assert "ETag" in error_of(answer)
    assert museum.complete(upload_id, *done).status == 200


def test_a_part_that_was_never_sent_fails_the_file(museum: Gallery) -> None:
    answer = museum.initialise({"relativeKey": "/a.glb", "file_size": 64})
    (file,) = answer.body["files"]
    done = museum.complete(
        answer.body["uploadId"],
        {
            "relativeKey": "/a.glb",
            "uploadIdS3": file["uploadIdS3"],
            "parts": [{"PartNumber": 1, "ETag": "x"}],
        },
    )
    assert "part 1 is not stored" in error_of(done)


def test_another_size_than_announced_fails_the_file(museum: Gallery) -> None:
    answer = museum.initialise({"relativeKey": "/a.glb", "file_size": 99})
    (file,) = answer.body["files"]
    done = museum.complete(
        answer.body["uploadId"],
        {
            "relativeKey": "/a.glb",
            "uploadIdS3": file["uploadIdS3"],
            "parts": [part(file, 1, GLB)],
        },
    )
    assert "64 bytes are stored, but 99 were announced" in error_of(done)


def test_a_forged_upload_id_fails_the_file(museum: Gallery) -> None:
    upload_id, done = sent(museum, {"/a.glb": GLB, "/b.glb": GLB})
    forged = {**done[0], "uploadIdS3": done[1]["uploadIdS3"]}
    answer = museum.complete(upload_id, forged, done[1])
    assert answer.status == 200
    assert "uploadIdS3" in error_of(answer)
    assert head(museum, "/a.glb") is None
    assert head(museum, "/b.glb") is not None


def test_an_empty_file_cannot_stand_in_for_one_that_was_announced(museum: Gallery) -> None:
    upload_id, done = sent(museum, {"/a.glb": GLB})
    answer = museum.complete(upload_id, {**done[0], "uploadIdS3": "zero-byte", "parts": []})
    assert "uploadIdS3" in error_of(answer)


def test_a_file_that_was_not_announced_fails(museum: Gallery) -> None:
    upload_id, done = sent(museum, {"/a.glb": GLB})
    answer = museum.complete(upload_id, done[0], {**done[0], "relativeKey": "/other.glb"})
    assert answer.status == 200
    assert "not a file of this upload" in error_of(answer, 1)
    assert head(museum, "/other.glb") is None


def test_a_file_twice_in_a_complete_is_refused(museum: Gallery) -> None:
    upload_id, done = sent(museum, {"/a.glb": GLB})
    answer = museum.complete(upload_id, done[0], {**done[0], "relativeKey": "a.glb"})
    assert answer.status == 400


def test_an_upload_belongs_to_its_user_its_asset_and_its_type(
    museum: Gallery, tables: Tables
) -> None:
    created_asset(museum.assets, "vase")
    upload_id, done = sent(museum, {"/a.glb": GLB})
    foreign = museum.complete(upload_id, *done, assetId="vase")
    assert (foreign.status, foreign.body["code"]) == (404, "UploadNotFound")
    assert museum.complete("y0", *done).status == 404
    assert museum.complete("y 0", *done).status == 400
    other_type = museum.complete(upload_id, *done, uploadType="assetPreview")
    assert (other_type.status, other_type.body["errors"][0]["field"]) == (400, "uploadType")
    assert museum.as_user("stranger").complete(upload_id, *done).status == 403
    assert museum.complete(upload_id, *done).status == 200


def test_another_administrator_does_not_complete_ones_upload(museum: Gallery) -> None:
    upload_id, done = sent(museum, {"/a.glb": GLB})
    row = museum.uploads.context.uploads.get(upload_id)
    assert row is not None
    museum.uploads.context.uploads.delete(row)
    museum.uploads.context.uploads.put_new(row.model_copy(update={"user_id": "someone"}))
    assert museum.complete(upload_id, *done).status == 404


def test_an_upload_that_expired_is_absent(tables: Tables, objects: S3Objects) -> None:
    now = [NOON]
    museum = gallery(tables, objects, clock=lambda: now[0])
    upload_id, done = sent(museum, {"/a.glb": GLB})
    now[0] += timedelta(days=7, seconds=1)
    assert museum.complete(upload_id, *done).status == 404
