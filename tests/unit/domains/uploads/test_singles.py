"""Files below 5 MiB: put whole to their temporary key, by one presigned request."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from backend.aws.objects import S3Objects
from backend.core.objects import Written
from tests.factories.files import BUCKET, GLB, Gallery, sha256
from tests.unit.domains.uploads.calls import (
    IN_PARTS,
    MIB,
    error_of,
    head,
    sent,
    stored_part,
    temporary,
    temporary_key,
)
from tests.unit.domains.uploads.large import World

ELF = b"\x7fELF" + bytes(60)


def started(museum: Gallery, size: int, **more: Any) -> tuple[str, dict[str, Any]]:
    answer = museum.initialise({"relativeKey": "/a.glb", "file_size": size, **more})
    assert answer.status == 200, answer.body
    return answer.body["uploadId"], answer.body["files"][0]


def completed(museum: Gallery, upload_id: str, file: dict[str, Any], *parts: Any) -> Any:
    done = {"relativeKey": "/a.glb", "uploadIdS3": file["uploadIdS3"], "parts": list(parts)}
    return museum.complete(upload_id, done)


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
    _, file = started(museum, 0, **announced)
    (part,) = file["partUploadUrls"]
    query = parse_qs(urlsplit(str(part["UploadUrl"])).query)
    assert (file["numParts"], part["PartNumber"]) == (1, 1)
    assert ("uploadId" not in query) is is_single
    assert (museum.objects.list_multiparts(BUCKET, "") == []) is is_single


def test_what_a_worker_would_complete_is_not_put_whole(world: World) -> None:
    started(world.museum, 10)
    assert world.open_multiparts() == []
    started(world.museum, 11)
    assert len(world.open_multiparts()) == 1


def test_files_of_an_upload_have_upload_ids_of_their_own(museum: Gallery) -> None:
    _, done = sent(museum, {"/a.glb": GLB, "/b.glb": GLB})
    assert len({file["uploadIdS3"] for file in done}) == 2


def test_the_last_put_counts_and_only_if_its_etag_is_sent(museum: Gallery) -> None:
    upload_id, file = started(museum, 64)
    first = stored_part(file, 1, b"a" * 64)
    second = stored_part(file, 1, b"b" * 64)
    answer = completed(museum, upload_id, file, first)
    assert "is stored with ETag" in error_of(answer)
    assert head(museum, "/a.glb") is None
    assert completed(museum, upload_id, file, second).status == 200
    assert museum.objects.read_start(BUCKET, "statue/a.glb", length=99) == b"b" * 64


def test_what_is_put_after_the_check_is_not_stored(
    museum: Gallery, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The URL is valid until it expires, also while the file is completed."""
    upload_id, file = started(museum, 64)
    part = stored_part(file, 1, GLB)
    real = S3Objects.copy

    def overtaken(self: S3Objects, *places: Any, **more: Any) -> Written:
        stored_part(file, 1, ELF)
        return real(self, *places, **more)

    monkeypatch.setattr(S3Objects, "copy", overtaken)
    assert completed(museum, upload_id, file, part).status == 200
    assert museum.objects.read_start(BUCKET, "statue/a.glb", length=99) == GLB


@pytest.mark.parametrize(("claimed", "is_stored"), [(GLB, True), (ELF, False)])
def test_a_checksum_is_verified(museum: Gallery, claimed: bytes, is_stored: bool) -> None:
    upload_id, file = started(museum, 64, checksumSha256=sha256(claimed))
    answer = completed(museum, upload_id, file, stored_part(file, 1, GLB))
    assert (answer.status == 200) is is_stored
    found = head(museum, "/a.glb")
    assert (found is not None) is is_stored
    assert found is None or found.metadata["vitrine-sha256-verified"] == "true"
    assert temporary() == []


@pytest.mark.parametrize("body", [b"", GLB + b"x", bytes(6 * MIB)])
def test_another_size_than_announced_is_refused_and_can_be_put_again(
    museum: Gallery, body: bytes
) -> None:
    upload_id, file = started(museum, 64, checksumSha256=sha256(GLB))
    answer = completed(museum, upload_id, file, stored_part(file, 1, body))
    assert f"{len(body)} bytes are stored, but 64 were announced" in error_of(answer)
    assert completed(museum, upload_id, file, stored_part(file, 1, GLB)).status == 200


def test_all_versions_are_removed_with_a_file_that_is_abandoned(museum: Gallery) -> None:
    upload_id, file = started(museum, 64)
    stored_part(file, 1, GLB)
    stored_part(file, 1, ELF)
    assert error_of(completed(museum, upload_id, file)).startswith("cancelled")
    assert temporary() == []


def test_all_versions_are_removed_with_an_upload_that_is_abandoned(museum: Gallery) -> None:
    upload_id, file = started(museum, 64)
    stored_part(file, 1, GLB)
    stored_part(file, 1, ELF)
    other, done = sent(museum, {"/b.glb": GLB})
    assert museum.abort(upload_id).status == 200
    assert len(temporary()) == 1
    assert museum.complete(other, *done).status == 200


def test_a_renewal_shows_what_is_stored_and_returns_another_url(museum: Gallery) -> None:
    upload_id, file = started(museum, 64)
    query = {"relativeKey": "/a.glb", "partRanges": [{"first": 1, "last": 1}]}
    (renewed,) = museum.renew(upload_id, query).body["files"]
    assert (renewed["storedParts"], renewed["assembled"]) == ([], False)
    assert temporary_key(renewed) == temporary_key(file)
    etag = stored_part(renewed, 1, GLB)["ETag"].strip('"')
    (renewed,) = museum.renew(upload_id, query).body["files"]
    assert renewed["storedParts"] == [{"PartNumber": 1, "ETag": etag, "Size": 64}]
    assert completed(museum, upload_id, renewed, {"PartNumber": 1, "ETag": etag}).status == 200
