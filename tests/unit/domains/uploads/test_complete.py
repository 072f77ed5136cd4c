"""From stored parts to files of an asset: what arrives there, and what does not."""

from typing import Any

import pytest

from backend.aws.objects import S3Objects
from backend.core.identity import Identity
from backend.core.objects import ObjectRefusedError
from backend.core.tables import Tables
from tests.factories.files import BUCKET, GLB, Gallery, gallery, sha256
from tests.unit.domains.uploads.calls import (
    MIB,
    asset_type,
    error_of,
    head,
    sent,
    stored_part,
    temporary,
    uploaded,
)


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
    # Inherited attributes of file documents are written again for the new type only.
    assert found.inherited_revision == asset.inherited_revision + 1


def test_an_empty_file_is_made_at_complete(museum: Gallery) -> None:
    answer = uploaded(museum, {"/empty.txt": b""}, checksumSha256=sha256(b""))
    assert answer.body["overallSuccess"]
    found = head(museum, "/empty.txt")
    assert found is not None
    assert (found.version.size, found.content_type) == (0, "text/plain")
    assert found.metadata["vitrine-sha256-verified"] == "true"


def test_an_empty_file_with_another_checksum_is_refused(museum: Gallery) -> None:
    answer = uploaded(museum, {"/empty.txt": b""}, checksumSha256=sha256(b"x"))
    assert "not the checksum of an empty file" in error_of(answer)


def test_a_true_checksum_is_stored_and_returned(museum: Gallery) -> None:
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
