"""Uploads that go on: fresh URLs, and the parts that are there already."""

import json
from datetime import timedelta
from typing import Any
from unittest.mock import patch
from urllib.parse import parse_qs, urlsplit

import pytest

from backend.aws.objects import S3Objects
from backend.core.objects import Part
from backend.spec.tables.assets import ASSETS
from tests.factories.files import GLB, PARAMETERS, Gallery
from tests.factories.lifecycle import ManualClock
from tests.unit.domains.uploads.calls import (
    IN_PARTS,
    MIB,
    named,
    sent,
    started,
    stored_head,
    stored_part,
    temporary,
)


def start_three_parts(museum: Gallery) -> tuple[str, dict[str, Any]]:
    """An upload of a file of three parts, of which none is sent."""
    return started(museum, "/a.bin", 11 * MIB, num_parts=3)


def ranges(*spans: tuple[int, int], path: str = "/a.bin") -> dict[str, Any]:
    return {
        "relativeKey": path,
        "partRanges": [{"first": first, "last": last} for first, last in spans],
    }


def test_a_renewal_returns_the_requested_urls_and_the_parts_that_are_there(museum: Gallery) -> None:
    upload_id, file = start_three_parts(museum)
    with patch.object(S3Objects, "list_parts", side_effect=AssertionError("listed")):
        # URLs alone cost no request to S3
        answer = museum.renew(upload_id, ranges((3, 3), (1, 1)), storedParts=False)
    assert answer.status == 200
    assert answer.body["expiresIn"] == 900
    (renewed,) = answer.body["files"]
    assert (renewed["uploadIdS3"], renewed["numParts"]) == (file["uploadIdS3"], 3)
    assert [url["PartNumber"] for url in renewed["partUploadUrls"]] == [3, 1]
    query = parse_qs(urlsplit(str(renewed["partUploadUrls"][0]["UploadUrl"])).query)
    assert (query["partNumber"], query["uploadId"]) == (["3"], [file["uploadIdS3"]])
    stored = stored_part(file, 2, bytes(5 * MIB))
    (renewed,) = museum.renew(upload_id, {"relativeKey": "a.bin"}).body["files"]
    etag = stored["ETag"].strip('"')
    assert renewed["storedParts"] == [{"PartNumber": 2, "ETag": etag, "Size": 5 * MIB}]
    assert (renewed["partUploadUrls"], renewed["assembled"]) == ([], False)


def test_more_than_a_thousand_parts_are_renewed_listed_and_completed(
    museum: Gallery, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S3 requires 5 MiB a part; moto can accept less, and versitygw cannot."""
    monkeypatch.setattr("moto.s3.models.S3_UPLOAD_PART_MIN_SIZE", 1)
    monkeypatch.setattr("backend.domains.uploads.rules.MIN_PART_BYTES", 1)
    file = {"relativeKey": "/a.bin", "file_size": 1003, "num_parts": 1003}
    answer = museum.initialise(file, maxPartUrls=0)
    assert answer.body["files"][0]["partUploadUrls"] == []
    upload_id = answer.body["uploadId"]
    (renewed,) = museum.renew(upload_id, ranges((1, 1003))).body["files"]
    assert len(renewed["partUploadUrls"]) == 1003
    parts = [stored_part(renewed, number, b"x") for number in range(1, 1004)]
    (renewed,) = museum.renew(upload_id, {"relativeKey": "/a.bin"}).body["files"]
    assert [part["PartNumber"] for part in renewed["storedParts"]] == list(range(1, 1004))
    assert museum.complete(upload_id, named(renewed, *parts)).body["overallSuccess"]
    assert stored_head(museum, "/a.bin").version.size == 1003


def test_more_stored_parts_than_a_reply_holds_are_refused_as_that(museum: Gallery) -> None:
    files = [{"relativeKey": f"/{n}.bin", "file_size": 10_000 * 5 * MIB} for n in range(7)]
    upload_id = museum.initialise(*files, maxPartUrls=0).body["uploadId"]
    names = [{"relativeKey": f"/{n}.bin"} for n in range(7)]
    parts = [Part(number, "e" * 32, 5 * MIB) for number in range(1, 10_001)]
    with patch.object(S3Objects, "list_parts", return_value=parts):
        answer = museum.renew(upload_id, *names[:6])
        assert answer.status == 200
        assert len(json.dumps(json.dumps(answer.body))) < 6_000_000  # as Lambda counts it
        answer = museum.renew(upload_id, *names)
    assert (answer.status, answer.body["code"]) == (413, "TooLarge")
    assert "send fewer files" in answer.body["message"]
    assert museum.renew(upload_id, *names, storedParts=False).status == 200


def test_a_client_that_renews_gets_the_usual_parts_and_the_first_urls(museum: Gallery) -> None:
    tib = 1024**4
    files = [{"relativeKey": f"/{n}.bin", "file_size": tib} for n in range(2)]
    started_files = museum.initialise(*files, maxPartUrls=7000).body
    assert started_files["errors"][0]["field"] == "maxPartUrls"
    started_files = museum.initialise(*files, maxPartUrls=10).body["files"]
    assert [file["numParts"] for file in started_files] == [6991, 6991]
    assert [len(file["partUploadUrls"]) for file in started_files] == [10, 0]


WRONG: list[tuple[list[dict[str, Any]], str]] = [
    ([ranges((1, 4))], "files.0.partRanges.0.last"),
    ([ranges((2, 1))], "files.0.partRanges.0.last"),
    ([ranges((1, 2), (2, 3))], "files.0.partRanges.1.first"),
    ([ranges((0, 1))], "files.0.partRanges.0.first"),
    ([ranges((1, 10_001))], "files.0.partRanges.0.last"),
    ([ranges((1, 1), path="/other.bin")], "files.0.relativeKey"),
    ([ranges((1, 1)), ranges((2, 2), path="a.bin")], "files.0.relativeKey"),
    ([ranges((1, 1), path="/../a.bin")], "files.0.relativeKey"),
    ([], "files"),
]


def test_a_wrong_renewal_is_refused_by_field(museum: Gallery) -> None:
    upload_id, _ = start_three_parts(museum)
    for files, field in WRONG:
        answer = museum.renew(upload_id, *files)
        assert answer.status == 400, files
        assert answer.body["errors"][0]["field"] == field
    assert museum.renew(upload_id, ranges((1, 1)), databaseId="museum").status == 400


def test_too_many_urls_are_refused_and_the_limit_is_named(museum: Gallery) -> None:
    files = [{"relativeKey": f"/{n}", "file_size": 1024**4} for n in range(2)]
    upload_id = museum.initialise(*files, maxPartUrls=0).body["uploadId"]
    wanted = [ranges((1, 1501), path=f"/{n}") for n in range(2)]
    answer = museum.renew(upload_id, *wanted)
    assert answer.status == 400
    assert "3002" in answer.body["message"]
    assert "3000" in answer.body["message"]
    assert museum.renew(upload_id, ranges((1, 3000), path="/0"), storedParts=False).status == 200


def test_a_finished_file_is_not_renewed_and_the_others_are(museum: Gallery) -> None:
    upload_id, done = sent(museum, {"/a.glb": GLB, "/b.glb": GLB})
    museum.complete(upload_id, done[0])
    answer = museum.renew(upload_id, ranges((1, 1), path="/a.glb"))
    assert (answer.status, answer.body["code"]) == (409, "FileNotOpen")
    assert "is already uploaded" in answer.body["message"]
    assert museum.renew(upload_id, ranges((1, 1), path="/b.glb")).status == 200
    museum.complete(upload_id, done[1])
    answer = museum.renew(upload_id, ranges((1, 1), path="/a.glb"))
    assert (answer.status, answer.body["code"]) == (409, "UploadCompleted")


@pytest.mark.parametrize("absent", ["abandoned", "never", "asset"])
def test_an_upload_that_was_abandoned_or_never_was_is_not_found(
    museum: Gallery, absent: str
) -> None:
    upload_id, _ = start_three_parts(museum)
    if absent == "abandoned":
        museum.abort(upload_id)
    if absent == "asset":
        museum.assets.assets.tables.delete_many(ASSETS, [PARAMETERS])
    answer = museum.renew("y0" if absent == "never" else upload_id, ranges((1, 1)))
    assert (answer.status, answer.body["code"]) == (404, "UploadNotFound")


def test_an_expired_upload_is_reported_to_its_user(museum: Gallery, clock: ManualClock) -> None:
    upload_id, _ = start_three_parts(museum)
    clock.now += timedelta(days=7, seconds=1)
    answer = museum.renew(upload_id, ranges((1, 1)))
    assert (answer.status, answer.body["code"]) == (404, "UploadExpired")


def test_no_one_renews_an_upload_of_someone_else(museum: Gallery) -> None:
    upload_id, _ = start_three_parts(museum)
    assert museum.as_user("stranger").renew(upload_id, ranges((1, 1))).status == 403
    context = museum.uploads.context
    row = context.uploads.get(upload_id)
    assert row is not None
    context.uploads.delete(row)
    context.uploads.put_new(row.model_copy(update={"user_id": "someone"}))
    answer = museum.renew(upload_id, ranges((1, 1)))
    assert (answer.status, answer.body["code"]) == (404, "UploadNotFound")


def test_a_file_whose_multipart_upload_no_longer_exists_in_s3_is_not_open(museum: Gallery) -> None:
    upload_id, file = start_three_parts(museum)
    (key,) = temporary()
    museum.objects.abort_multipart("assetbucket", key, file["uploadIdS3"])
    answer = museum.renew(upload_id, {"relativeKey": "/a.bin"})
    assert (answer.status, answer.body["code"]) == (409, "FileNotOpen")
    assert "the upload no longer exists in S3" in answer.body["message"]


def test_a_file_that_a_dead_complete_put_together_can_be_completed(museum: Gallery) -> None:
    upload_id, done = sent(museum, {"/a.glb": GLB}, **IN_PARTS)
    (key,) = temporary()
    parts = museum.objects.list_parts("assetbucket", key, done[0]["uploadIdS3"])
    museum.objects.complete_multipart("assetbucket", key, done[0]["uploadIdS3"], parts)
    (renewed,) = museum.renew(upload_id, {"relativeKey": "/a.glb"}).body["files"]
    assert (renewed["assembled"], renewed["storedParts"]) == (True, [])
    assert museum.complete(upload_id, *done).body["overallSuccess"]
    assert temporary() == []
