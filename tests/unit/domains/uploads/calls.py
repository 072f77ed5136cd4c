"""Uploads whose parts are stored, what is found of them, and the worker of large files."""

from collections.abc import Generator
from contextlib import contextmanager
from datetime import timedelta
from itertools import count
from typing import Any
from unittest.mock import patch
from urllib.parse import urlsplit

from backend.aws.clients import s3
from backend.aws.objects import S3Objects
from backend.core.identity import Identity
from backend.core.objects import ObjectHead
from backend.core.paging import PageRequest
from backend.core.tables import Tables
from backend.domains.jobs.models import Job
from backend.domains.jobs.repository import JobRepository
from backend.domains.jobs.service.runner import JobRunner
from backend.domains.uploads.service.waiting_previews import WaitingPreviews
from backend.spec.jobs import WAITING_PREVIEWS
from backend.spec.tables.assets import ASSETS
from backend.spec.tables.operations import JOBS
from tests.factories.assets import NOON
from tests.factories.files import BUCKET, GLB, Gallery, Response, gallery
from tests.factories.lifecycle import KilledError

MIB = 1024**2
ELF = b"\x7fELF" + bytes(60)
IN_PARTS: dict[str, Any] = {"file_size": None, "num_parts": 1}
"""Announces a file without its size: it gets a multipart upload, however small it is."""


def sent(museum: Gallery, files: dict[str, bytes], **more: Any) -> tuple[str, list[dict[str, Any]]]:
    """An upload whose parts are all stored, and the files as a complete names them."""
    announced = [
        {"relativeKey": path, "file_size": len(body), **more} for path, body in files.items()
    ]
    answer = museum.initialise(*announced)
    assert answer.status == 200, answer.body
    done: list[dict[str, Any]] = []
    for file in answer.body["files"]:
        body = files[file["relativeKey"]]
        done.append(named(file, *(part(file, n, body) for n in range(1, file["numParts"] + 1))))
    return answer.body["uploadId"], done


def started(
    museum: Gallery, path: str = "/a.glb", size: int | None = 64, **more: Any
) -> tuple[str, dict[str, Any]]:
    """Start an upload of one file; return its id, and the file of the reply."""
    answer = museum.initialise({"relativeKey": path, "file_size": size, **more})
    assert answer.status == 200, answer.body
    return answer.body["uploadId"], answer.body["files"][0]


def named(file: dict[str, Any], *parts: dict[str, Any]) -> dict[str, Any]:
    """A started file as a complete names it."""
    return {
        "relativeKey": file["relativeKey"],
        "uploadIdS3": file["uploadIdS3"],
        "parts": list(parts),
    }


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


def stored_head(museum: Gallery, path: str) -> ObjectHead:
    """Return the attributes of a file that must be stored."""
    stored = head(museum, path)
    assert stored is not None
    return stored


@contextmanager
def dying(effect: str, *, after: bool = False, call: int = 1) -> Generator[None]:
    """The process dies before or after a call of the store."""
    real, calls = getattr(S3Objects, effect), count(1)

    def die(*args: Any, **more: Any) -> Any:
        if next(calls) != call:
            return real(*args, **more)
        if after:
            real(*args, **more)
        raise KilledError

    with patch.object(S3Objects, effect, die):
        yield


def error_of(answer: Response, number: int = 0) -> str:
    assert not answer.body["fileResults"][number]["success"]
    return answer.body["fileResults"][number]["error"]


def temporary() -> list[str]:
    """Return the remains of uploads: objects, their versions, multipart uploads."""
    client = s3()
    versions = client.list_object_versions(Bucket=BUCKET, Prefix="temp-uploads/")
    multiparts = client.list_multipart_uploads(Bucket=BUCKET)
    result = [
        *versions.get("Versions", []),
        *versions.get("DeleteMarkers", []),
        *multiparts.get("Uploads", []),
    ]
    return [entry.get("Key", "") for entry in result]


def asset_type(museum: Gallery) -> str:
    return museum.assets.get_asset(Identity("admin"), "museum", "statue").asset_type


class World:
    """A gallery (where ten bytes are large), the jobs that were put, and the time."""

    def __init__(self, tables: Tables, objects: S3Objects, *, large_bytes: int = 10) -> None:
        self.now = NOON
        self.tables = tables
        self.museum = gallery(tables, objects, clock=lambda: self.now, large_bytes=large_bytes)

    def job_ids(self) -> list[str]:
        return sorted(str(row["jobId"]) for row in self.tables.scan(JOBS, PageRequest(100)).items)

    def job(self, job_id: str) -> Job:
        row = JobRepository(self.tables).get(job_id)
        assert row is not None
        return row

    def run(self, job_id: str) -> Job | None:
        """One message of the job."""
        runner = JobRunner(JobRepository(self.tables), lambda: self.now)
        until = self.now + timedelta(seconds=20)
        large_files = self.museum.large_files
        previews = WaitingPreviews(large_files.context, large_files.settlement)
        is_preview = self.job(job_id).kind == WAITING_PREVIEWS.name
        return runner.run(job_id, previews.step if is_preview else large_files.step, until=until)

    def archive(self) -> None:
        """Move the row of the asset, as archiving does."""
        key = {"databaseId": "museum", "assetId": "statue"}
        row = self.tables.get(ASSETS, key)
        assert row is not None
        gone = {**row, "databaseId": "museum#deleted", "status": "archived"}
        self.tables.put_many(ASSETS, [gone])
        self.tables.delete_many(ASSETS, [key])

    def drain(self, rounds: int = 50) -> None:
        """Deliver the messages of all jobs until they are finished; the time passes."""
        for _ in range(rounds):
            left = self.unfinished()
            if not left:
                return
            for job_id in left:
                self.run(job_id)
            self.now += timedelta(seconds=60)
        raise AssertionError(f"there is no end to {self.unfinished()}")

    def hand_over(self, *paths: str) -> tuple[str, list[dict[str, Any]], str]:
        """Complete an upload of large files; return its id, the files and the id of its job."""
        upload_id, done = sent(self.museum, dict.fromkeys(paths or ("/a.glb",), GLB))
        assert self.museum.complete(upload_id, *done).status == 200
        (job_id,) = self.job_ids()
        return upload_id, done, job_id

    def unfinished(self) -> list[str]:
        return [job_id for job_id in self.job_ids() if not self.job(job_id).is_finished]

    def versions(self) -> int:
        prefix = self.museum.asset.asset_location.key
        return len(self.museum.objects.list_versions(BUCKET, prefix).versions)

    def open_multiparts(self) -> list[str]:
        return [multipart.key for multipart in self.museum.objects.list_multiparts(BUCKET, "")]


def states(museum: Gallery, upload_id: str) -> dict[str, str]:
    files = museum.upload(upload_id).body["files"]
    return {file["relativeKey"]: file["state"] for file in files}
