"""Uploads whose parts are stored, and what is found of them afterwards."""

from typing import Any
from urllib.parse import urlsplit

from backend.aws.clients import s3
from backend.core.identity import Identity
from backend.core.objects import ObjectHead
from tests.factories.files import BUCKET, Gallery, Response

MIB = 1024**2
IN_PARTS: dict[str, Any] = {"file_size": None, "num_parts": 1}
"""Announces a file without its size: it gets a multipart upload, however small it is."""


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
    if file["uploadIdS3"].startswith("single:"):
        whole = s3().put_object(Bucket=BUCKET, Key=temporary_key(file), Body=piece)
        return {"PartNumber": number, "ETag": whole["ETag"]}
    reply = s3().upload_part(
        Bucket=BUCKET,
        Key=temporary_key(file),
        UploadId=file["uploadIdS3"],
        PartNumber=number,
        Body=piece,
    )
    return {"PartNumber": number, "ETag": reply["ETag"]}


def uploaded(museum: Gallery, files: dict[str, bytes], **more: Any) -> Response:
    upload_id, done = sent(museum, files, **more)
    return museum.complete(upload_id, *done)


def head(museum: Gallery, path: str) -> ObjectHead | None:
    head = museum.objects.head(BUCKET, museum.asset.asset_location.key + path.removeprefix("/"))
    return head if isinstance(head, ObjectHead) else None


def error_of(answer: Response, number: int = 0) -> str:
    assert not answer.body["fileResults"][number]["success"]
    return answer.body["fileResults"][number]["error"]


def temporary() -> list[str]:
    """Return the remains of uploads: objects, their versions, multipart uploads."""
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
