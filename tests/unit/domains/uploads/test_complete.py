"""From stored parts to files of an asset: what arrives, what does not, and repetitions."""

from datetime import timedelta
from typing import Any
from unittest.mock import patch

import pytest

from backend.aws.objects import S3Objects
from backend.core.errors import UnavailableError
from backend.core.identity import Identity
from backend.core.objects import ObjectRefusedError
from backend.core.tables import Tables
from tests.factories.assets import NOON
from tests.factories.files import BUCKET, GLB, Gallery, gallery, sha256
from tests.factories.lifecycle import KilledError, ManualClock
from tests.unit.domains.uploads.calls import (
    IN_PARTS,
    MIB,
    asset_type,
    dying,
    error_of,
    head,
    named,
    sent,
    started,
    stored_head,
    stored_part,
    temporary,
    uploaded,
)


def test_a_completed_file_is_in_the_asset(museum: Gallery) -> None:
    answer = uploaded(museum, {"/scans/model.glb": GLB})
    assert answer.status == 200
    assert answer.body["overallSuccess"] is True
    assert answer.body["largeFileAsynchronousHandling"] is False
    (result,) = answer.body["fileResults"]
    assert (result["relativeKey"], result["success"]) == ("/scans/model.glb", True)
    head = stored_head(museum, "/scans/model.glb")
    assert (head.version.size, head.content_type) == (len(GLB), "model/gltf-binary")
    assert head.metadata == {"vitrine-upload": answer.body["uploadId"]}
    assert temporary() == []
    assert asset_type(museum) == ".glb"


def test_several_parts_in_any_order_become_one_file(museum: Gallery) -> None:
    body = bytes(5 * MIB) + b"end"
    upload_id, file = started(museum, "/a.bin", len(body), num_parts=2, checksumSha256=sha256(body))
    pieces = (body[: 5 * MIB], body[5 * MIB :])  # all parts but the last have 5 MiB
    parts = [stored_part(file, number, piece) for number, piece in enumerate(pieces, start=1)]
    assert museum.complete(upload_id, named(file, *parts[::-1])).body["overallSuccess"]
    head = stored_head(museum, "/a.bin")
    assert head.version.size == len(body)
    assert head.metadata["vitrine-sha256-verified"] == "true"


def test_the_type_follows_the_files(museum: Gallery) -> None:
    assert uploaded(museum, {"/README": b"text"}).body["assetType"] == "unknown"
    museum.change("DELETE", "deleteFile", {"filePath": "/README", "confirmPermanentDelete": True})
    assert uploaded(museum, {"/a.GLB": GLB}).body["assetType"] == ".glb"
    assert uploaded(museum, {"/a.GLB.previewFile.png": b"png"}).body["assetType"] == ".glb"
    assert uploaded(museum, {"/b.obj": b"o"}).body["assetType"] == "folder"


def test_an_edit_at_the_same_time_survives(museum: Gallery) -> None:
    upload_id, done = sent(museum, {"/a.glb": GLB})
    asset = museum.assets.assets.change(museum.asset, {"description": "Edited meanwhile"})
    museum.complete(upload_id, *done)
    result = museum.assets.get_asset(Identity("admin"), "museum", "statue")
    assert (result.description, result.asset_type) == ("Edited meanwhile", ".glb")
    # Inherited attributes of file documents are written again for the new type only.
    assert result.inherited_revision == asset.inherited_revision + 1


def test_an_empty_file_is_made_at_complete(museum: Gallery) -> None:
    answer = uploaded(museum, {"/empty.txt": b""}, checksumSha256=sha256(b""))
    assert answer.body["overallSuccess"]
    head = stored_head(museum, "/empty.txt")
    assert (head.version.size, head.content_type) == (0, "text/plain")
    assert head.metadata["vitrine-sha256-verified"] == "true"
    answer = uploaded(museum, {"/other.txt": b""}, checksumSha256=sha256(b"x"))
    assert "not the checksum of an empty file" in error_of(answer)


@pytest.mark.parametrize("verified_bytes", [64, 10])
def test_a_true_checksum_is_stored_and_verified_unless_that_is_too_much_to_read(
    museum: Gallery, monkeypatch: pytest.MonkeyPatch, verified_bytes: int
) -> None:
    monkeypatch.setattr("backend.domains.uploads.rules.CHECKED_FILE_BYTES", verified_bytes)
    assert uploaded(museum, {"/a.glb": GLB}, checksumSha256=sha256(GLB)).body["overallSuccess"]
    info = museum.file_info("/a.glb").body
    assert info["checksumSha256"] == sha256(GLB)
    assert info["checksumVerified"] is (verified_bytes == 64)


def test_a_false_checksum_is_refused(museum: Gallery) -> None:
    answer = uploaded(museum, {"/a.glb": GLB}, checksumSha256=sha256(b"other"))
    assert (answer.status, answer.body["overallSuccess"]) == (409, False)
    assert answer.body["message"] == "0 of 1 files were uploaded"
    assert "SHA-256" in error_of(answer)
    assert (head(museum, "/a.glb"), temporary(), asset_type(museum)) == (None, [], "none")


def test_executables_are_refused_whatever_their_name(museum: Gallery) -> None:
    bodies = {
        "/elf.glb": b"\x7fELF" + bytes(60),
        "/mz.png": b"MZ\x90\x00" + bytes(60),
        "/macho.obj": b"\xcf\xfa\xed\xfe" + bytes(60),
        "/fine.glb": GLB,
    }
    answer = uploaded(museum, bodies)
    assert answer.status == 200
    assert answer.body["overallSuccess"] is False
    assert [result["success"] for result in answer.body["fileResults"]] == [False] * 3 + [True]
    assert "ELF" in error_of(answer)
    assert head(museum, "/elf.glb") is None
    assert temporary() == []
    assert answer.body["assetType"] == ".glb"


def test_a_refusal_of_the_store_is_the_reason_of_the_file(
    museum: Gallery, monkeypatch: pytest.MonkeyPatch
) -> None:
    upload_id, done = sent(museum, {"/a": GLB, "/a/b.glb": GLB})
    real = S3Objects.copy

    def refusing(self: S3Objects, source: Any, target: Any, **more: Any) -> Any:
        if target[1].endswith("/a/b.glb"):
            raise ObjectRefusedError(target[1], "ObjectParentIsFile")
        return real(self, source, target, **more)

    monkeypatch.setattr(S3Objects, "copy", refusing)
    answer = museum.complete(upload_id, *done)
    assert answer.status == 200
    assert error_of(answer, 1) == "the object store rejected it: ObjectParentIsFile"
    assert temporary() == []


def test_files_of_a_bucket_with_a_base_prefix_stay_below_it(
    tables: Tables, objects: S3Objects
) -> None:
    museum = gallery(tables, objects, base_prefix="lib/")
    answer = museum.initialise(
        {"relativeKey": "/a.txt", "file_size": 0}, {"relativeKey": "/b.glb", "file_size": 4}
    )
    urls = answer.body["files"][1]["partUploadUrls"]
    assert f"/lib/temp-uploads/{answer.body['uploadId']}/" in urls[0]["UploadUrl"]
    empty = {"relativeKey": "/a.txt", "uploadIdS3": "zero-byte"}
    assert museum.complete(answer.body["uploadId"], empty).status == 200
    assert museum.objects.head(BUCKET, "lib/statue/a.txt") is not None


def test_a_repeated_completion_returns_the_same_and_writes_nothing(museum: Gallery) -> None:
    upload_id, done = sent(museum, {"/a.glb": GLB, "/elf.glb": b"\x7fELF" + bytes(60)})
    first = museum.complete(upload_id, *done)
    again = museum.complete(upload_id, *done)
    assert (again.status, again.body) == (first.status, first.body)
    versions = museum.objects.list_versions(BUCKET, museum.asset.asset_location.key).versions
    assert len(versions) == 1


def test_two_completes_at_once_do_nothing_twice_and_a_lease_ends(
    museum: Gallery, clock: ManualClock
) -> None:
    upload_id, done = sent(museum, {"/a.glb": GLB})
    row = museum.uploads.context.uploads.get(upload_id)
    assert row is not None
    start = int(NOON.timestamp() * 1000)
    museum.uploads.context.uploads.lease(row, now=start, until=start + 35_000)
    answer = museum.complete(upload_id, *done)
    assert (answer.status, answer.body["code"]) == (409, "UploadBusy")
    assert head(museum, "/a.glb") is None
    clock.now += timedelta(seconds=36)
    assert museum.complete(upload_id, *done).status == 200


@pytest.mark.parametrize(
    ("announced", "step"),
    [
        *(({}, step) for step in ("read_version", "copy", "delete_many")),
        *((IN_PARTS, step) for step in ("complete_multipart", "read_start", "copy", "delete_many")),
    ],
)
@pytest.mark.parametrize("after", [False, True])
def test_a_crash_at_any_step_is_mended_by_the_same_request(
    announced: dict[str, Any], step: str, after: bool, museum: Gallery, clock: ManualClock
) -> None:
    upload_id, done = sent(museum, {"/a.glb": GLB}, **announced)
    with dying(step, after=after), pytest.raises(KilledError):
        museum.complete(upload_id, *done)
    clock.now += timedelta(seconds=36)
    answer = museum.complete(upload_id, *done)
    assert answer.status == 200, answer.body
    versions = museum.objects.list_versions(BUCKET, museum.asset.asset_location.key).versions
    assert len(versions) == 1
    assert (temporary(), asset_type(museum)) == ([], ".glb")
    assert museum.file_info("/a.glb").body["changeSource"] == "upload"


def test_an_outage_keeps_what_is_done_and_the_same_request_continues(museum: Gallery) -> None:
    upload_id, done = sent(museum, {f"/{n}.glb": GLB for n in range(12)})
    real = S3Objects.copy

    def fail(self: S3Objects, source: Any, target: Any, **more: Any) -> Any:
        if target[1].endswith("/5.glb"):
            raise UnavailableError("S3 does not answer")
        return real(self, source, target, **more)

    with patch.object(S3Objects, "copy", fail):
        assert museum.complete(upload_id, *done).status == 503
    answer = museum.complete(upload_id, *done)
    assert answer.body["overallSuccess"], answer.body
    assert answer.body["assetType"] == "folder"
    versions = museum.objects.list_versions(BUCKET, museum.asset.asset_location.key).versions
    assert (len(versions), temporary()) == (12, [])


def test_work_that_takes_too_long_continues_with_the_next_request(
    museum: Gallery, clock: ManualClock
) -> None:
    clock.tick = timedelta(seconds=1)
    upload_id, done = sent(museum, {f"/{n:02}.glb": GLB for n in range(40)})
    answer = museum.complete(upload_id, *done)
    assert answer.status == 503
    for _ in range(10):
        if answer.status == 503:
            answer = museum.complete(upload_id, *done)
    assert answer.status == 200
    assert answer.body["overallSuccess"]
    assert len(answer.body["fileResults"]) == 40
