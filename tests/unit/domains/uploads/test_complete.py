"""From stored parts to files of an asset: what passes, what is refused, what can be repeated."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import pytest

from backend.aws.clients import s3
from backend.aws.objects import S3Objects
from backend.aws.tables import DynamoTables
from backend.core.errors import UnavailableError
from backend.core.identity import Identity
from backend.core.objects import ObjectHead, ObjectRefusedError
from tests.factories.assets import NOON, created_asset
from tests.factories.files import BUCKET, GLB, Answer, Gallery, gallery, sha256
from tests.factories.files import PARAMETERS as ASSET

MIB = 1024**2


@pytest.fixture
def museum(tables: DynamoTables, objects: S3Objects) -> Gallery:
    return gallery(tables, objects)


def sent(museum: Gallery, files: dict[str, bytes], **more: Any) -> tuple[str, list[dict[str, Any]]]:
    """An upload whose parts are all stored, and the files as a complete names them."""
    announced = [
        {"relativeKey": path, "file_size": len(body), **more} for path, body in files.items()
    ]
    upload_type = more.pop("uploadType", "assetFile")
    answer = museum.initialise(*announced, uploadType=upload_type)
    assert answer.status == 200, answer.body
    upload_id = answer.body["uploadId"]
    done: list[dict[str, Any]] = []
    for file in answer.body["files"]:
        body = files[file["relativeKey"]]
        parts = [part(file, number, body) for number in range(1, file["numParts"] + 1)]
        done.append(
            {
                "relativeKey": file["relativeKey"],
                "uploadIdS3": file["uploadIdS3"],
                "parts": parts,
            }
        )
    return upload_id, done


def temporary_key(file: dict[str, Any]) -> str:
    """The key that the URLs of a started file are for."""
    path = urlsplit(str(file["partUploadUrls"][0]["UploadUrl"])).path
    return path[path.index("temp-uploads/") :]


def part(file: dict[str, Any], number: int, body: bytes) -> dict[str, Any]:
    """One of equal parts of the body, stored."""
    size = -(-len(body) // file["numParts"])
    return stored_part(file, number, body[(number - 1) * size : number * size])


def stored_part(file: dict[str, Any], number: int, piece: bytes) -> dict[str, Any]:
    reply = s3().upload_part(
        Bucket=BUCKET,
        Key=temporary_key(file),
        UploadId=file["uploadIdS3"],
        PartNumber=number,
        Body=piece,
    )
    return {"PartNumber": number, "ETag": reply["ETag"]}


def uploaded(museum: Gallery, files: dict[str, bytes], **more: Any) -> Answer:
    upload_id, done = sent(museum, files, **more)
    return museum.complete(upload_id, *done)


def head(museum: Gallery, path: str) -> ObjectHead | None:
    found = museum.objects.head(BUCKET, museum.asset.asset_location.key + path.removeprefix("/"))
    return found if isinstance(found, ObjectHead) else None


def error_of(answer: Answer, number: int = 0) -> str:
    assert not answer.body["fileResults"][number]["success"]
    return answer.body["fileResults"][number]["error"]


def temporary() -> list[str]:
    """What is left of uploads: objects, their versions, multipart uploads."""
    client = s3()
    versions = client.list_object_versions(Bucket=BUCKET, Prefix="temp-uploads/")
    multiparts = client.list_multipart_uploads(Bucket=BUCKET)
    found = [
        *versions.get("Versions", []),
        *versions.get("DeleteMarkers", []),
        *multiparts.get("Uploads", []),
    ]
    return [entry.get("Key", "") for entry in found]


def asset_type(museum: Gallery) -> str:
    return museum.assets.get_asset(Identity("admin"), "museum", "statue").asset_type


def test_a_completed_file_is_in_the_asset(museum: Gallery) -> None:
    answer = uploaded(museum, {"/scans/model.glb": GLB})
    assert answer.status == 200
    assert answer.body["overallSuccess"] is True
    assert answer.body["assetType"] == ".glb"
    assert answer.body["largeFileAsynchronousHandling"] is False
    (result,) = answer.body["fileResults"]
    assert (result["relativeKey"], result["success"]) == ("/scans/model.glb", True)
    found = head(museum, "/scans/model.glb")
    assert found is not None
    assert (found.version.size, found.content_type) == (len(GLB), "model/gltf-binary")
    assert found.metadata == {"vitrine-upload": answer.body["uploadId"]}
    assert temporary() == []
    assert asset_type(museum) == ".glb"


def test_several_parts_in_any_order_become_one_file(museum: Gallery) -> None:
    body = bytes(5 * MIB) + b"end"
    announced = {"relativeKey": "/a.bin", "file_size": len(body), "num_parts": 2}
    answer = museum.initialise({**announced, "checksumSha256": sha256(body)})
    upload_id, (file,) = answer.body["uploadId"], answer.body["files"]
    pieces = (body[: 5 * MIB], body[5 * MIB :])  # all parts but the last have 5 MiB
    parts = [stored_part(file, number, piece) for number, piece in enumerate(pieces, start=1)]
    done = [{**announced, "uploadIdS3": file["uploadIdS3"], "parts": parts[::-1]}]
    assert museum.complete(upload_id, *done).body["overallSuccess"]
    found = head(museum, "/a.bin")
    assert found is not None
    assert found.version.size == len(body)
    assert found.metadata["vitrine-sha256-verified"] == "true"


def test_the_type_follows_the_files(museum: Gallery) -> None:
    assert uploaded(museum, {"/a.GLB": GLB}).body["assetType"] == ".glb"
    assert uploaded(museum, {"/a.GLB.previewFile.png": b"png"}).body["assetType"] == ".glb"
    assert uploaded(museum, {"/b.obj": b"o"}).body["assetType"] == "folder"


def test_a_file_without_extension_has_an_unknown_type(museum: Gallery) -> None:
    assert uploaded(museum, {"/README": b"text"}).body["assetType"] == "unknown"


def test_an_edit_at_the_same_time_survives(museum: Gallery) -> None:
    upload_id, done = sent(museum, {"/a.glb": GLB})
    asset = museum.assets.assets.change(museum.asset, {"description": "Edited meanwhile"})
    museum.complete(upload_id, *done)
    found = museum.assets.get_asset(Identity("admin"), "museum", "statue")
    assert (found.description, found.asset_type) == ("Edited meanwhile", ".glb")
    assert found.inherited_revision == asset.inherited_revision


def test_an_empty_file_is_made_at_complete(museum: Gallery) -> None:
    answer = uploaded(museum, {"/empty.txt": b""}, checksumSha256=sha256(b""))
    assert answer.body["overallSuccess"]
    found = head(museum, "/empty.txt")
    assert found is not None
    assert (found.version.size, found.content_type) == (0, "text/plain")
    assert found.metadata["vitrine-sha256-verified"] == "true"


def test_an_empty_file_with_another_checksum_is_refused(museum: Gallery) -> None:
    answer = uploaded(museum, {"/empty.txt": b""}, checksumSha256=sha256(b"x"))
    assert "not that of no bytes" in error_of(answer)


def test_a_true_checksum_is_kept_and_told(museum: Gallery) -> None:
    assert uploaded(museum, {"/a.glb": GLB}, checksumSha256=sha256(GLB)).body["overallSuccess"]
    info = museum.file_info("/a.glb").body
    assert (info["checksumSha256"], info["checksumVerified"]) == (sha256(GLB), True)


def test_a_false_checksum_is_refused(museum: Gallery) -> None:
    answer = uploaded(museum, {"/a.glb": GLB}, checksumSha256=sha256(b"other"))
    assert answer.status == 409
    assert "SHA-256" in error_of(answer)
    assert head(museum, "/a.glb") is None
    assert temporary() == []


def test_a_checksum_that_is_too_much_to_read_is_kept_unverified(
    museum: Gallery, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("backend.domains.uploads.rules.CHECKED_FILE_BYTES", 10)
    uploaded(museum, {"/a.glb": GLB}, checksumSha256=sha256(GLB))
    info = museum.file_info("/a.glb").body
    assert (info["checksumSha256"], info["checksumVerified"]) == (sha256(GLB), False)


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


def test_nothing_that_came_of_an_upload_is_a_conflict(museum: Gallery) -> None:
    answer = uploaded(museum, {"/elf.glb": b"\x7fELF" + bytes(60)})
    assert answer.status == 409
    assert answer.body["overallSuccess"] is False
    assert answer.body["message"] == "0 of 1 files were uploaded"
    assert asset_type(museum) == "none"


def test_a_file_without_parts_is_given_up(museum: Gallery) -> None:
    upload_id, done = sent(museum, {"/a.glb": GLB, "/b.glb": GLB})
    done[0]["parts"] = []
    answer = museum.complete(upload_id, *done)
    assert answer.status == 200
    assert error_of(answer).startswith("abandoned")
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
    assert "64 bytes are stored, 99 were announced" in error_of(done)


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
    museum: Gallery, tables: DynamoTables
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
    row = museum.uploads.uploads.get(upload_id)
    assert row is not None
    museum.uploads.uploads.delete(row)
    museum.uploads.uploads.put_new(row.model_copy(update={"user_id": "someone"}))
    assert museum.complete(upload_id, *done).status == 404


def test_an_upload_that_expired_is_gone(tables: DynamoTables, objects: S3Objects) -> None:
    now = [NOON]
    museum = gallery(tables, objects, clock=lambda: now[0])
    upload_id, done = sent(museum, {"/a.glb": GLB})
    now[0] += timedelta(days=7, seconds=1)
    assert museum.complete(upload_id, *done).status == 404


def test_a_complete_sent_again_answers_the_same_and_does_nothing(museum: Gallery) -> None:
    upload_id, done = sent(museum, {"/a.glb": GLB, "/elf.glb": b"\x7fELF" + bytes(60)})
    first = museum.complete(upload_id, *done)
    again = museum.complete(upload_id, *done)
    assert (again.status, again.body) == (first.status, first.body)
    versions = museum.objects.list_versions(BUCKET, museum.asset.asset_location.key).versions
    assert len(versions) == 1


def test_two_completes_at_once_do_nothing_twice(museum: Gallery) -> None:
    upload_id, done = sent(museum, {"/a.glb": GLB})
    row = museum.uploads.uploads.get(upload_id)
    assert row is not None
    soon = int((NOON + timedelta(seconds=30)).timestamp() * 1000)
    museum.uploads.uploads.lease(row, now=soon - 30_000, until=soon)
    answer = museum.complete(upload_id, *done)
    assert (answer.status, answer.body["code"]) == (409, "UploadBusy")
    assert head(museum, "/a.glb") is None


def test_a_lease_of_a_dead_request_ends(tables: DynamoTables, objects: S3Objects) -> None:
    now = [NOON]
    museum = gallery(tables, objects, clock=lambda: now[0])
    upload_id, done = sent(museum, {"/a.glb": GLB})
    row = museum.uploads.uploads.get(upload_id)
    assert row is not None
    start = int(NOON.timestamp() * 1000)
    museum.uploads.uploads.lease(row, now=start, until=start + 35_000)
    now[0] += timedelta(seconds=36)
    assert museum.complete(upload_id, *done).status == 200


STEPS = ("complete_multipart", "read_start", "copy", "delete_version")


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_crash_at_any_step_is_mended_by_the_same_request(
    step: str,
    moment: str,
    tables: DynamoTables,
    objects: S3Objects,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = [NOON]
    museum = gallery(tables, objects, clock=lambda: now[0])
    upload_id, done = sent(museum, {"/a.glb": GLB})
    real = getattr(S3Objects, step)

    class Killed(BaseException):
        """Nothing after it runs, as after kill -9."""

    def dying(*args: Any, **more: Any) -> Any:
        if moment == "after":
            real(*args, **more)
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(S3Objects, step, dying)
        with pytest.raises(Killed):
            museum.complete(upload_id, *done)
    now[0] += timedelta(seconds=36)
    answer = museum.complete(upload_id, *done)
    assert answer.status == 200, answer.body
    versions = museum.objects.list_versions(BUCKET, museum.asset.asset_location.key).versions
    assert len(versions) == 1
    assert temporary() == []
    assert asset_type(museum) == ".glb"


def test_an_outage_keeps_what_is_done_and_the_same_request_goes_on(
    museum: Gallery, monkeypatch: pytest.MonkeyPatch
) -> None:
    upload_id, done = sent(museum, {f"/{n}.glb": GLB for n in range(12)})
    real = S3Objects.copy

    def failing(self: S3Objects, source: Any, target: Any, **more: Any) -> Any:
        if target[1].endswith("/5.glb"):
            raise UnavailableError("S3 does not answer")
        return real(self, source, target, **more)

    with monkeypatch.context() as patched:
        patched.setattr(S3Objects, "copy", failing)
        assert museum.complete(upload_id, *done).status == 503
    answer = museum.complete(upload_id, *done)
    assert answer.body["overallSuccess"], answer.body
    assert answer.body["assetType"] == "folder"
    versions = museum.objects.list_versions(BUCKET, museum.asset.asset_location.key).versions
    assert len(versions) == 12
    assert temporary() == []


def test_work_that_takes_too_long_goes_on_with_the_next_request(
    tables: DynamoTables, objects: S3Objects
) -> None:
    now = [NOON]

    def clock() -> Any:
        now[0] += timedelta(seconds=1)
        return now[0]

    museum = gallery(tables, objects, clock=clock)
    upload_id, done = sent(museum, {f"/{n:02}.glb": GLB for n in range(40)})
    answer = museum.complete(upload_id, *done)
    assert answer.status == 503
    for _ in range(10):
        if answer.status == 503:
            answer = museum.complete(upload_id, *done)
    assert answer.status == 200
    assert answer.body["overallSuccess"]
    assert len(answer.body["fileResults"]) == 40


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
    assert error_of(answer, 1) == "the object store refuses it: ObjectParentIsFile"
    assert temporary() == []


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
    body = bytes(5 * MIB + 1)
    uploaded(museum, {"/a.glb": GLB})
    answer = museum.initialise({"relativeKey": "/a.glb.previewFile.png", "num_parts": 1})
    (file,) = answer.body["files"]
    done = museum.complete(
        answer.body["uploadId"],
        {
            "relativeKey": file["relativeKey"],
            "uploadIdS3": file["uploadIdS3"],
            "parts": [part(file, 1, body)],
        },
    )
    assert "5 MiB" in error_of(done)


def test_an_asset_preview_stands_apart_and_is_named_by_the_asset(museum: Gallery) -> None:
    answer = museum.initialise(
        {"relativeKey": "look/front.PNG", "file_size": 3}, uploadType="assetPreview"
    )
    (file,) = answer.body["files"]
    done = museum.complete(
        answer.body["uploadId"],
        {
            "relativeKey": file["relativeKey"],
            "uploadIdS3": file["uploadIdS3"],
            "parts": [part(file, 1, b"png")],
        },
        uploadType="assetPreview",
    )
    assert done.status == 200, done.body
    asset = museum.assets.get_asset(Identity("admin"), "museum", "statue")
    assert asset.preview_location is not None
    assert asset.preview_location.key == "previews/statue/front.PNG"
    assert asset.asset_type == "none"
    assert museum.list_files().body["items"] == []
    url = museum.download(downloadType="assetPreview").body["downloadUrl"]
    assert "previews/statue/front.PNG" in url


def test_files_of_a_bucket_with_a_base_prefix_stay_below_it(
    tables: DynamoTables, objects: S3Objects
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


def test_an_upload_can_be_given_up(museum: Gallery) -> None:
    upload_id, done = sent(museum, {"/a.glb": GLB, "/b.glb": GLB})
    assert len(temporary()) == 2
    assert museum.abort(upload_id).status == 200
    assert temporary() == []
    assert museum.abort(upload_id).status == 404
    assert museum.complete(upload_id, *done).status == 404


def test_what_is_completed_stays_when_the_rest_is_given_up(museum: Gallery) -> None:
    upload_id, done = sent(museum, {"/a.glb": GLB, "/b.glb": GLB})
    assert museum.complete(upload_id, done[0]).body["overallSuccess"]
    assert museum.abort(upload_id).status == 200
    assert head(museum, "/a.glb") is not None
    assert temporary() == []


def test_a_completed_upload_is_not_given_up(museum: Gallery) -> None:
    upload_id, done = sent(museum, {"/a.glb": GLB})
    museum.complete(upload_id, *done)
    answer = museum.abort(upload_id)
    assert (answer.status, answer.body["code"]) == (409, "StateForbids")


def test_nobody_learns_of_uploads_to_assets_that_they_do_not_see(museum: Gallery) -> None:
    upload_id, _ = sent(museum, {"/a.glb": GLB})
    assert museum.as_user("stranger").abort(upload_id).status == 403
    museum.assets.assets.tables.delete_many(
        museum_table(), [{"databaseId": "museum", "assetId": ASSET["assetId"]}]
    )
    answer = museum.abort(upload_id)
    assert (answer.status, answer.body["code"]) == (404, "UploadNotFound")


def museum_table() -> Any:
    from backend.spec.tables.assets import ASSETS

    return ASSETS
