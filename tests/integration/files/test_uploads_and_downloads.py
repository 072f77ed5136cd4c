"""Bytes through presigned URLs: uploaded in parts, listed, and downloaded."""

from typing import Any

import httpx

from backend.core.objects import ObjectHead
from tests.factories.files import BUCKET, GLB, Gallery, Response, sha256

MIB = 1024**2


def sent(museum: Gallery, files: dict[str, bytes], **more: Any) -> tuple[str, list[dict[str, Any]]]:
    """Upload parts to their URLs; return the upload, and the files as a completion names them."""
    announced = [
        {
            "relativeKey": path,
            "file_size": len(body),
            "checksumSha256": sha256(body),
            **more,
        }
        for path, body in files.items()
    ]
    answer = museum.initialise(*announced)
    assert answer.status == 200, answer.body
    done: list[dict[str, Any]] = []
    for file in answer.body["files"]:
        body = files[file["relativeKey"]]
        size = -(-len(body) // max(file["numParts"], 1))
        parts: list[dict[str, Any]] = []
        for part in file["partUploadUrls"]:
            start = (part["PartNumber"] - 1) * size
            reply = httpx.put(part["UploadUrl"], content=body[start : start + size])
            assert reply.status_code == 200, reply.text
            parts.append({"PartNumber": part["PartNumber"], "ETag": reply.headers["ETag"]})
        done.append(
            {
                "relativeKey": file["relativeKey"],
                "uploadIdS3": file["uploadIdS3"],
                "parts": parts,
            }
        )
    return answer.body["uploadId"], done


def uploaded(museum: Gallery, files: dict[str, bytes], **more: Any) -> Response:
    upload_id, done = sent(museum, files, **more)
    return museum.complete(upload_id, *done)


def temporary(museum: Gallery) -> list[str]:
    found = museum.objects.list_versions(BUCKET, "temp-uploads/").versions
    return [version.key for version in found]


def test_bytes_come_back_as_they_were_sent(museum: Gallery) -> None:
    big = bytes(range(256)) * (11 * MIB // 256)
    files = {"/scans/ä b+%.glb": GLB, "/empty.txt": b"", "/scans/big.bin": big}
    upload_id, done = sent(museum, {"/scans/big.bin": big}, num_parts=2)
    assert museum.complete(upload_id, *done).body["overallSuccess"]
    answer = uploaded(museum, {path: body for path, body in files.items() if len(body) < MIB})
    assert answer.body["overallSuccess"], answer.body
    assert answer.body["assetType"] == "folder"
    for path, body in files.items():
        info = museum.file_info(path).body
        assert (info["size"], info["checksumSha256"], info["checksumVerified"]) == (
            len(body),
            sha256(body),
            True,
        )
        reply = httpx.get(museum.download(key=path).body["downloadUrl"])
        assert (reply.status_code, reply.content) == (200, body)
    assert temporary(museum) == []


def test_a_download_has_the_type_and_disposition_that_the_server_chose(museum: Gallery) -> None:
    assert uploaded(museum, {"/ä.svg": b"<svg/>"}).body["overallSuccess"]
    reply = httpx.get(museum.download(key="/ä.svg").body["downloadUrl"])
    assert reply.headers["Content-Type"] == "image/svg+xml"
    assert reply.headers["Content-Disposition"] == "attachment; filename*=UTF-8''%C3%A4.svg"


def test_a_url_is_good_for_its_own_file_only(museum: Gallery) -> None:
    uploaded(museum, {"/a.glb": GLB, "/b.glb": GLB})
    url = museum.download(key="/a.glb").body["downloadUrl"]
    assert httpx.get(url.replace("/a.glb", "/b.glb")).status_code == 403


def test_a_file_beside_a_folder_of_its_name_is_refused_with_a_reason(museum: Gallery) -> None:
    answer = uploaded(museum, {"/a": GLB, "/fine.glb": GLB})
    assert answer.body["overallSuccess"]
    answer = uploaded(museum, {"/a/b.glb": GLB, "/c.glb": GLB})
    assert answer.status == 200
    refused, made = answer.body["fileResults"]
    assert "the object store rejected it" in refused["error"]
    assert made["success"]
    assert temporary(museum) == []


def test_both_in_one_upload_end_with_one_reason(museum: Gallery) -> None:
    answer = uploaded(museum, {"/a": GLB, "/a/b.glb": GLB})
    assert answer.status == 200
    results = [result["success"] for result in answer.body["fileResults"]]
    assert sorted(results) == [False, True]


def test_a_name_too_long_for_the_store_is_refused_with_a_reason(museum: Gallery) -> None:
    name = "/" + "ä" * 200 + ".glb"
    answer = uploaded(museum, {name: GLB, "/fine.glb": GLB})
    refused, made = answer.body["fileResults"]
    assert "the object store rejected it" in refused["error"]
    assert made["success"]


def test_parts_that_are_too_small_are_refused_with_a_reason(museum: Gallery) -> None:
    answer = museum.initialise({"relativeKey": "/a.bin", "num_parts": 2})
    (file,) = answer.body["files"]
    parts = [
        {
            "PartNumber": url["PartNumber"],
            "ETag": httpx.put(url["UploadUrl"], content=b"x").headers["ETag"],
        }
        for url in file["partUploadUrls"]
    ]
    done = museum.complete(
        answer.body["uploadId"],
        {"relativeKey": "/a.bin", "uploadIdS3": file["uploadIdS3"], "parts": parts},
    )
    assert done.status == 409
    assert "EntityTooSmall" in done.body["fileResults"][0]["error"]
    assert museum.abort(answer.body["uploadId"]).status == 200


def test_an_upload_that_was_abandoned_takes_no_more_parts(museum: Gallery) -> None:
    answer = museum.initialise({"relativeKey": "/a.glb", "file_size": 5 * MIB})
    assert museum.abort(answer.body["uploadId"]).status == 200
    url = answer.body["files"][0]["partUploadUrls"][0]["UploadUrl"]
    assert httpx.put(url, content=GLB).status_code == 404


def test_what_is_put_whole_after_its_upload_was_abandoned_is_no_file(museum: Gallery) -> None:
    answer = museum.initialise({"relativeKey": "/a.glb", "file_size": 64})
    upload_id, (file,) = answer.body["uploadId"], answer.body["files"]
    assert museum.abort(upload_id).status == 200
    reply = httpx.put(file["partUploadUrls"][0]["UploadUrl"], content=GLB)
    parts = [{"PartNumber": 1, "ETag": reply.headers["ETag"]}]
    done = {"relativeKey": "/a.glb", "uploadIdS3": file["uploadIdS3"], "parts": parts}
    assert museum.complete(upload_id, done).status == 404
    assert museum.file_info("/a.glb").status == 404


def test_a_second_upload_makes_a_second_version(museum: Gallery) -> None:
    uploaded(museum, {"/a.glb": GLB})
    uploaded(museum, {"/a.glb": GLB + b"newer"})
    versions = museum.file_info("/a.glb", includeVersions="true").body["versions"]
    assert [(one["size"], one["isLatest"]) for one in versions] == [(69, True), (64, False)]
    old = museum.download(key="/a.glb", versionId=versions[1]["versionId"]).body["downloadUrl"]
    assert httpx.get(old).content == GLB


def test_an_archived_file_is_listed_only_on_request(museum: Gallery) -> None:
    uploaded(museum, {"/a.glb": GLB, "/b/c.glb": GLB})
    museum.objects.delete(BUCKET, "statue/b/c.glb")
    rows = museum.list_files().body["items"]
    assert [(row["relativePath"], row["isArchived"]) for row in rows] == [("/a.glb", False)]
    rows = museum.list_files(includeArchived="true").body["items"]
    assert [(row["relativePath"], row["isArchived"]) for row in rows] == [
        ("/a.glb", False),
        ("/b/", False),
        ("/b/c.glb", True),
    ]
    assert museum.file_info("/b/c.glb").body["isArchived"] is True
    assert museum.download(key="/b/c.glb").status == 410


def test_a_listing_continues_where_a_page_ended(museum: Gallery) -> None:
    uploaded(museum, {f"/{n // 10}/{n:02}.glb": GLB for n in range(25)})
    for query in ({}, {"basic": "true"}, {"includeArchived": "true"}):
        found: list[str] = []
        token: dict[str, str] = {}
        while True:
            page = museum.list_files(pageSize="4", **query, **token).body
            found += [row["relativePath"] for row in page["items"]]
            if "NextToken" not in page:
                break
            token = {"startingToken": page["NextToken"]}
        assert len(found) == len(set(found)) == 28, query


def test_a_preview_is_replaced(museum: Gallery) -> None:
    uploaded(museum, {"/a.glb": GLB, "/a.glb.previewFile.png": b"png"})
    uploaded(museum, {"/a.glb.previewFile.jpg": b"jpg"})
    assert museum.file_info("/a.glb").body["previewFile"] == "statue/a.glb.previewFile.jpg"
    old = museum.objects.head(BUCKET, "statue/a.glb.previewFile.png")
    assert not isinstance(old, ObjectHead)
