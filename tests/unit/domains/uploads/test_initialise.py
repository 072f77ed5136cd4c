"""The first request of an upload: what is refused, and what a client gets to send its parts."""

import json
from datetime import timedelta
from itertools import count, pairwise
from typing import Any
from unittest.mock import patch
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.aws.clients import s3
from backend.aws.objects import S3Objects
from backend.core.errors import UnavailableError
from backend.core.identity import Identity
from backend.core.tables import Tables
from backend.core.transactions import Update
from backend.domains.databases.models import UpdateDatabaseBody
from backend.domains.uploads import rules
from backend.domains.uploads.models import MAX_PARTS, MAX_URLS, NewFile
from backend.spec.tables.assets import ASSET_UPLOADS, DATABASES
from tests.factories.assets import NOON
from tests.factories.files import BUCKET, Gallery, gallery, sha256
from tests.factories.lifecycle import ManualClock
from tests.unit.domains.uploads.calls import (
    MIB,
)

GIB = 1024**3


def new(path: str = "/model.glb", size: int | None = 64, **more: Any) -> dict[str, Any]:
    return {"relativeKey": path, "file_size": size, **more}


def refused(museum: Gallery, *files: dict[str, Any], **more: Any) -> dict[str, str]:
    answer = museum.initialise(*files, **more)
    assert answer.status == 400, answer.body
    return {error["field"]: error["message"] for error in answer.body["errors"]}


def open_multiparts() -> list[str]:
    reply = s3().list_multipart_uploads(Bucket=BUCKET)
    return [upload.get("Key", "") for upload in reply.get("Uploads", [])]


def allow_extensions(museum: Gallery, extensions: str) -> None:
    museum.assets.databases.update_database(
        Identity("admin"),
        "museum",
        UpdateDatabaseBody(restrict_file_uploads_to_extensions=extensions),
    )


def test_an_upload_gets_a_url_for_each_part(museum: Gallery) -> None:
    answer = museum.initialise(new("scans/model.glb", 200 * MIB))
    assert answer.status == 200
    (file,) = answer.body["files"]
    assert (file["relativeKey"], file["numParts"]) == ("scans/model.glb", 2)
    assert [part["PartNumber"] for part in file["partUploadUrls"]] == [1, 2]
    url = urlsplit(str(file["partUploadUrls"][1]["UploadUrl"]))
    query = parse_qs(url.query)
    assert f"/temp-uploads/{answer.body['uploadId']}/" in url.path
    assert query["partNumber"] == ["2"]
    assert query["uploadId"] == [file["uploadIdS3"]]
    assert query["X-Amz-Expires"] == ["900"]
    assert query["X-Amz-Algorithm"] == ["AWS4-HMAC-SHA256"]
    assert answer.body["uploadId"].startswith("y")


def test_the_upload_is_kept_for_seven_days(museum: Gallery, tables: Tables) -> None:
    upload_id = museum.initialise(new(checksumSha256=sha256(b"x"))).body["uploadId"]
    row = tables.get(ASSET_UPLOADS, {"uploadId": upload_id, "assetId": "statue"})
    assert row is not None
    kept = (row["UserId"], row["databaseId"], row["status"])
    assert kept == ("admin", "museum", "initialised")
    assert row["expiresAt"] == int((NOON + timedelta(days=7)).timestamp())
    assert row["files"][0]["checksumSha256"] == sha256(b"x")


@pytest.mark.parametrize(
    ("file", "parts"),
    [(new(size=0), 0), (new(size=None, num_parts=0), 0), (new(size=200 * MIB, num_parts=7), 7)],
)
def test_the_client_may_choose_the_number_of_parts_and_an_empty_file_has_none(
    museum: Gallery, file: dict[str, Any], parts: int
) -> None:
    (reply,) = museum.initialise(file).body["files"]
    assert (reply["numParts"], len(reply["partUploadUrls"])) == (parts, parts)
    assert (reply["uploadIdS3"] == "zero-byte") is (open_multiparts() == []) is (parts == 0)


def test_a_thousand_files_with_long_paths_are_kept(museum: Gallery, tables: Tables) -> None:
    files = [new(f"/{'d' * 200}/{'e' * 200}/{'f' * 200}/{n:04}.glb", 0) for n in range(1000)]
    answer = museum.initialise(*files)
    assert answer.status == 200
    row = museum.uploads.context.uploads.get(answer.body["uploadId"])
    assert row is not None
    assert [file.path for file in row.files] == [file["relativeKey"] for file in files]
    done = museum.complete(
        answer.body["uploadId"],
        *({"relativeKey": f["relativeKey"], "uploadIdS3": "zero-byte"} for f in files[990:]),
    )
    assert done.body["overallSuccess"]
    assert museum.abort(answer.body["uploadId"]).status == 200
    assert museum.uploads.context.uploads.get(answer.body["uploadId"]) is None


WRONG_PATHS = [
    "/../secret.glb",
    "/a/../../b.glb",
    "/a/./b.glb",
    "/a//b.glb",
    "//a.glb",
    "/a/",
    "/",
    "",
    "/cafe\u0301.glb",
    "/" + "x" * 256,
    "/a\u0000.glb",
    "/a\n.glb",
    "/a\u007f.glb",
    "/a\u0085.glb",
    "/a\\b.glb",
    "/a:b.glb",
    "/a?.glb",
    "/a.glb.",
    "/a.glb ",
    "/a|b",
    "/a/" * 400 + "x",
]


def test_a_wrong_path_is_refused_by_name(museum: Gallery) -> None:
    for path in WRONG_PATHS:
        assert set(refused(museum, new("/fine.glb"), new(path))) == {"files.1.relativeKey"}
    assert museum.initialise(new("/a\ud800.glb")).status == 400
    assert open_multiparts() == []


WRONG_FILES: list[tuple[dict[str, Any], str]] = [
    (new(size=-1), "file_size"),
    (new(size="64"), "file_size"),  # pyright: ignore[reportArgumentType]
    (new(size=5 * 1024 * GIB + 1), "file_size"),
    (new(size=5 * GIB + 1, num_parts=1), "num_parts"),
    (new(size=None), "file_size"),
    (new(num_parts=10_001), "num_parts"),
    (new(num_parts=0), "num_parts"),
    (new(num_parts=2), "num_parts"),
    (new(checksumSha256="abc"), "checksumSha256"),
    (new(checksumSha256="QUJD"), "checksumSha256"),
    ({"file_size": 1}, "relativeKey"),
    (new("/a.glb.previewFile.png", 5 * MIB + 1), "file_size"),
]


def test_a_wrong_file_is_refused_by_field(museum: Gallery) -> None:
    for file, field in WRONG_FILES:
        assert set(refused(museum, file)) == {f"files.0.{field}"}


BLOCKED = [
    "a.exe",
    "a.EXE",
    "a.Bat",
    "a.glb.exe",
    "a.docm",
    "folder/.CMD",
    "a.JAR",
    "x.previewFile.exe",
]


def test_blocked_extensions_are_refused_in_any_case_and_all_named_at_once(museum: Gallery) -> None:
    messages = refused(museum, *(new("/" + name) for name in BLOCKED), new("/fine.glb"))
    assert len(messages) == len(BLOCKED)
    assert all("are blocked" in message for message in messages.values())


def test_the_extensions_of_the_database_bind_in_any_case(museum: Gallery) -> None:
    allow_extensions(museum, ".glb, .PNG")
    assert museum.initialise(new("/a.GLB"), new("/b.png")).status == 200
    assert museum.initialise(new("/a.glb.previewFile.gif")).status == 200
    for name in ("/a.obj", "/a", "/a.glb.obj"):
        assert (
            "accepts only files with the extensions .glb .png"
            in refused(museum, new(name))["files.0.relativeKey"]
        )
    allow_extensions(museum, ".all")
    assert museum.initialise(new("/a.obj")).status == 200


def test_a_file_twice_in_a_request_is_refused(museum: Gallery) -> None:
    result = refused(museum, new("a/b.glb"), new("/a/b.glb"), new("/c.glb"))
    assert set(result) == {"files.0.relativeKey", "files.1.relativeKey"}


def test_a_preview_of_an_unknown_kind_is_refused(museum: Gallery) -> None:
    for extension in ("txt", "webp"):
        message = refused(museum, new(f"/a.glb.previewFile.{extension}"))["files.0.relativeKey"]
        assert "preview" in message
    for name in ("a.glb", "a", "a.png.glb"):
        messages = refused(museum, new(name), uploadType="assetPreview")
        assert "a preview must have one of the extensions" in messages["files.0.relativeKey"]
    assert "files" in refused(museum, new("a.png"), new("b.png"), uploadType="assetPreview")


def test_a_path_whose_later_keys_would_overflow_is_refused(museum: Gallery) -> None:
    fits = "/" + "/".join(["x" * 150] * 5) + "xx"
    assert museum.initialise(new(fits)).status == 200
    result = refused(museum, new(fits + "y"), new("/" + "/".join(["x" * 250] * 4)))
    assert "snapshot key" in result["files.0.relativeKey"]
    assert "1024" in result["files.1.relativeKey"]


WRONG_FIELDS: list[tuple[str, Any]] = [
    ("uploadType", "other"),
    ("databaseId", "a#b"),
    ("assetId", "a#b"),
    ("assetId", "x" * 256),
    ("files", []),
    ("files", "all"),
    ("files", [new(f"/{n}", 0) for n in range(1001)]),
]


def test_a_wrong_field_is_refused_by_name(museum: Gallery) -> None:
    for field, value in WRONG_FIELDS:
        assert set(refused(museum, new(), **{field: value})) == {field}


def test_too_many_urls_are_refused_and_the_largest_reply_fits(museum: Gallery) -> None:
    files = [new(f"/{'d' * 60}/{n}.glb", None, num_parts=1000) for n in range(4)]
    assert "3000" in refused(museum, *files)["files"]
    assert open_multiparts() == []
    assert len(json.dumps(museum.initialise(*files[:3]).body)) < 6_000_000


def test_parts_grow_where_the_server_chooses_them(museum: Gallery) -> None:
    files = [new(f"/{n}.glb", 5 * GIB) for n in range(100)]
    answer = museum.initialise(*files)
    assert sum(file["numParts"] for file in answer.body["files"]) == 1800


def test_a_reply_beyond_what_lambda_sends_is_refused(
    museum: Gallery, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("backend.domains.uploads.rules.MAX_REPLY_BYTES", 100_000)
    answer = museum.initialise(new(size=None, num_parts=1000))
    assert (answer.status, answer.body["code"]) == (413, "TooLarge")
    assert open_multiparts() == []


def test_the_rate_of_a_user_is_limited_by_the_minute(tables: Tables, objects: S3Objects) -> None:
    clock = ManualClock(NOON + timedelta(seconds=15))
    museum = gallery(tables, objects, per_minute=2, clock=clock)
    assert [museum.initialise(new()).status for _ in range(3)] == [200, 200, 429]
    answer = museum.initialise(new())
    assert (answer.body["code"], answer.headers["Retry-After"]) == ("RateLimited", "45")
    clock.now += timedelta(minutes=1)
    assert museum.initialise(new()).status == 200


def test_nothing_half_made_is_left_when_s3_fails_in_the_middle(museum: Gallery) -> None:
    real, calls = S3Objects.create_multipart, count(1)

    def fail(self: S3Objects, bucket: str, key: str, **more: Any) -> str:
        if next(calls) == 7:
            raise UnavailableError("S3 does not answer")
        return real(self, bucket, key, **more)

    with patch.object(S3Objects, "create_multipart", fail):
        answer = museum.initialise(*(new(f"/{n}.glb", 5 * MIB) for n in range(20)))
    assert answer.status == 503
    assert open_multiparts() == []


def test_nothing_is_started_without_its_row(museum: Gallery) -> None:
    outage = UnavailableError("DynamoDB does not answer")
    with patch.object(type(museum.uploads.context.uploads), "put_new", side_effect=outage):
        assert museum.initialise(new(size=5 * MIB)).status == 503
    assert open_multiparts() == []


def test_an_asset_whose_database_is_deleted_takes_nothing(museum: Gallery, tables: Tables) -> None:
    tables.write(
        Update(table=DATABASES, key={"databaseId": "museum"}, set={"description": "still here"})
    )
    assert museum.initialise(new()).status == 200
    tables.delete_many(DATABASES, [{"databaseId": "museum"}])
    assert museum.initialise(new()).status == 404


TIB = 1024**4
SIZES = (10 * GIB, TIB, 5 * TIB, 5 * TIB - 1, 1_500_000 * MIB + 1, 5 * GIB, 5 * MIB, 1)
sizes = st.one_of(st.sampled_from(SIZES), st.integers(1, 5 * TIB))
thresholds = st.sampled_from((5 * MIB, 20 * MIB, GIB, 5 * GIB))


def cut(size: int, parts: int) -> list[int]:
    """As clients cut a file: evenly."""
    length, longer = divmod(size, parts)
    return [length + 1] * longer + [length] * (parts - longer)


def assert_is_taken_by_s3(lengths: list[int], size: int) -> None:
    assert sum(lengths) == size
    assert len(lengths) <= MAX_PARTS
    assert max(lengths) <= rules.MAX_PART_BYTES
    assert all(length >= rules.MIN_PART_BYTES for length in lengths[:-1])


def sized(size: int, number: int = 0) -> NewFile:
    return NewFile(relative_key=f"/{number}.bin", file_size=size)


@given(sizes, st.booleans())
def test_any_size_is_sent_in_parts_that_s3_takes(size: int, renews: bool) -> None:
    (parts,) = rules.plan_parts([sized(size)], renews=renews)
    assert_is_taken_by_s3(cut(size, parts), size)
    assert renews or parts <= MAX_URLS


@given(st.lists(st.integers(1, 20 * GIB), min_size=1, max_size=50))
def test_the_urls_of_many_files_fit_a_reply(many: list[int]) -> None:
    plan = rules.plan_parts([sized(size, number) for number, size in enumerate(many)])
    assert sum(plan) <= MAX_URLS
    for size, parts in zip(many, plan, strict=True):
        assert_is_taken_by_s3(cut(size, parts), size)


def test_plans_of_large_files() -> None:
    assert [rules.plan_parts([sized(size)]) for size in (10 * GIB, TIB, 5 * TIB)] == [
        [69],
        [1748],  # of 600 MiB
        [2185],  # of 2,400 MiB
    ]
    assert [rules.plan_parts([sized(s)], renews=True) for s in (10 * GIB, TIB, 5 * TIB)] == [
        [69],
        [6991],
        [8739],  # of 600 MiB
    ]


@given(sizes, thresholds)
def test_any_size_is_copied_in_parts_that_s3_takes(size: int, large_bytes: int) -> None:
    spans = rules.copy_spans(size, large_bytes)
    assert spans[0][0] == 0
    assert all(before[1] == after[0] for before, after in pairwise(spans))
    assert_is_taken_by_s3([end - start for start, end in spans], size)
