"""Requests to complete an upload that do not fit what was announced or stored; whole objects."""

from functools import partial
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from backend.aws.objects import S3Objects
from backend.core.tables import Tables
from tests.factories.assets import created_asset
from tests.factories.files import BUCKET, GLB, Gallery, sha256
from tests.factories.lifecycle import interrupt
from tests.unit.domains.uploads.calls import (
    ELF,
    IN_PARTS,
    MIB,
    World,
    error_of,
    head,
    named,
    part,
    sent,
    started,
    stored_part,
    temporary,
    temporary_key,
)


def test_a_file_without_parts_is_abandoned(museum: Gallery) -> None:
    upload_id, done = sent(museum, {"/a.glb": GLB, "/b.glb": GLB})
    done[0]["parts"] = []
    answer = museum.complete(upload_id, *done)
    assert answer.status == 200
    assert error_of(answer).startswith("cancelled")
    assert head(museum, "/a.glb") is None
    assert temporary() == []


def test_a_part_list_that_cannot_be_right_is_refused(museum: Gallery) -> None:
    upload_id, done = sent(museum, {"/a.glb": GLB, "/b.glb": GLB})
    (stored,) = done[1]["parts"]
    numbers = [[{**stored, "PartNumber": number}] for number in (2, 10_001, 0)]
    for parts in (*numbers, [stored, stored], [{"PartNumber": 1}]):
        answer = museum.complete(upload_id, done[0], {**done[1], "parts": parts})
        assert answer.status == 400, parts
        assert answer.body["errors"][0]["field"].startswith("files.1.parts"), parts
    twice = museum.complete(upload_id, done[0], {**done[0], "relativeKey": "a.glb"})
    assert twice.status == 400
    assert museum.complete(upload_id, *done).body["overallSuccess"]


def test_a_missing_part_is_refused_by_its_number(museum: Gallery) -> None:
    upload_id, file = started(museum, "/a.bin", 11 * MIB, num_parts=2)
    done = museum.complete(upload_id, named(file, part(file, 1, bytes(11 * MIB))))
    assert done.status == 400
    assert "part 2 is missing" in done.body["message"]
    upload_id, file = started(museum)  # nor was this one ever sent
    done = museum.complete(upload_id, named(file, {"PartNumber": 1, "ETag": "x"}))
    assert "part 1 is not stored" in error_of(done)


def test_a_forged_upload_id_fails_the_file(museum: Gallery) -> None:
    upload_id, done = sent(museum, {"/a.glb": GLB, "/b.glb": GLB})
    empty = museum.complete(upload_id, {**done[0], "uploadIdS3": "zero-byte", "parts": []})
    assert "uploadIdS3" in error_of(empty)
    forged = {**done[0], "uploadIdS3": done[1]["uploadIdS3"]}
    answer = museum.complete(upload_id, forged, done[1])
    assert answer.status == 200
    assert "uploadIdS3" in error_of(answer)
    assert head(museum, "/a.glb") is None
    assert head(museum, "/b.glb") is not None


def test_a_file_that_was_not_announced_fails(museum: Gallery) -> None:
    upload_id, done = sent(museum, {"/a.glb": GLB})
    answer = museum.complete(upload_id, done[0], {**done[0], "relativeKey": "/other.glb"})
    assert answer.status == 200
    assert "not a file of this upload" in error_of(answer, 1)
    assert head(museum, "/other.glb") is None


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
    row = museum.uploads.context.uploads.get(upload_id)
    assert row is not None
    museum.uploads.context.uploads.delete(row)
    museum.uploads.context.uploads.put_new(row.model_copy(update={"user_id": "someone"}))
    assert museum.complete(upload_id, *done).status == 404  # an administrator's, of another


@pytest.mark.parametrize(
    ("announced", "is_single"),
    [
        ({"file_size": 1}, True),
        ({"file_size": 5 * MIB - 1, "num_parts": 1}, True),
        ({"file_size": 5 * MIB}, False),
        (IN_PARTS, False),
    ],
)
def test_a_file_below_5_mib_has_one_url_for_the_whole_object(
    museum: Gallery, announced: dict[str, Any], is_single: bool
) -> None:
    _, file = started(museum, "/a.glb", 0, **announced)
    (url,) = file["partUploadUrls"]
    query = parse_qs(urlsplit(str(url["UploadUrl"])).query)
    assert (file["numParts"], url["PartNumber"]) == (1, 1)
    assert ("uploadId" not in query) is is_single
    assert (museum.objects.list_multiparts(BUCKET, "") == []) is is_single


def test_what_a_worker_would_complete_is_not_put_whole(world: World) -> None:
    started(world.museum, size=10)
    assert world.open_multiparts() == []
    started(world.museum, size=11)
    assert len(world.open_multiparts()) == 1


def test_the_last_put_counts_and_only_if_its_etag_is_sent(museum: Gallery) -> None:
    upload_id, file = started(museum)
    first = stored_part(file, 1, b"a" * 64)
    second = stored_part(file, 1, b"b" * 64)
    answer = museum.complete(upload_id, named(file, first))
    assert "is stored with ETag" in error_of(answer)
    assert head(museum, "/a.glb") is None
    assert museum.complete(upload_id, named(file, second)).status == 200
    assert museum.objects.read_start(BUCKET, "statue/a.glb", length=99) == b"b" * 64


def test_what_is_put_after_the_check_is_not_stored(
    museum: Gallery, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The URL is valid until it expires, also while the file is completed."""
    upload_id, file = started(museum)
    done = named(file, stored_part(file, 1, GLB))
    interrupt(monkeypatch, S3Objects, "copy", partial(stored_part, file, 1, ELF))
    assert museum.complete(upload_id, done).status == 200
    assert museum.objects.read_start(BUCKET, "statue/a.glb", length=99) == GLB


@pytest.mark.parametrize(("claimed", "is_stored"), [(GLB, True), (ELF, False)])
def test_a_checksum_is_verified(museum: Gallery, claimed: bytes, is_stored: bool) -> None:
    upload_id, file = started(museum, checksumSha256=sha256(claimed))
    answer = museum.complete(upload_id, named(file, stored_part(file, 1, GLB)))
    assert (answer.status == 200) is is_stored
    result = head(museum, "/a.glb")
    assert (result is not None) is is_stored
    assert result is None or result.metadata["vitrine-sha256-verified"] == "true"
    assert temporary() == []


@pytest.mark.parametrize("body", [b"", GLB + b"x", bytes(6 * MIB)])
def test_another_size_than_announced_is_refused_and_can_be_put_again(
    museum: Gallery, body: bytes
) -> None:
    upload_id, file = started(museum, checksumSha256=sha256(GLB))
    answer = museum.complete(upload_id, named(file, stored_part(file, 1, body)))
    assert f"{len(body)} bytes are stored, but 64 were announced" in error_of(answer)
    assert museum.complete(upload_id, named(file, stored_part(file, 1, GLB))).status == 200


def test_all_versions_are_removed_with_what_is_abandoned(museum: Gallery) -> None:
    upload_id, file = started(museum)
    for body in (GLB, ELF):
        stored_part(file, 1, body)
    assert error_of(museum.complete(upload_id, named(file))).startswith("cancelled")
    assert temporary() == []
    upload_id, file = started(museum)
    for body in (GLB, ELF):
        stored_part(file, 1, body)
    other, done = sent(museum, {"/b.glb": GLB})
    assert museum.abort(upload_id).status == 200
    assert len(temporary()) == 1
    assert museum.complete(other, *done).status == 200


def test_a_renewal_shows_what_is_stored_and_returns_another_url(museum: Gallery) -> None:
    upload_id, file = started(museum)
    query = {"relativeKey": "/a.glb", "partRanges": [{"first": 1, "last": 1}]}
    (renewed,) = museum.renew(upload_id, query).body["files"]
    assert (renewed["storedParts"], renewed["assembled"]) == ([], False)
    assert temporary_key(renewed) == temporary_key(file)
    etag = stored_part(renewed, 1, GLB)["ETag"].strip('"')
    (renewed,) = museum.renew(upload_id, query).body["files"]
    assert renewed["storedParts"] == [{"PartNumber": 1, "ETag": etag, "Size": 64}]
    assert museum.complete(upload_id, named(renewed, {"PartNumber": 1, "ETag": etag})).status == 200
