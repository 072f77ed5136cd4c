"""The client's own uploads against the routes, with nothing between them but a function call."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import httpx
import pytest
from vitrine import RetryPolicy, Vitrine
from vitrine.transfer.opening import Settings
from vitrine.transfer.report import FileOutcome, Silent, Status
from vitrine.transfer.scan import LocalFile
from vitrine.transfer.uploading import BatchUpload

from backend.aws.clients import s3
from backend.aws.objects import S3Objects
from backend.core.tables import Tables
from tests.factories.files import BUCKET, Gallery, sha256
from tests.unit.domains.uploads.calls import ELF, MIB, World, stored_head, temporary

API = "https://api.test"


class Bridge:
    """Hands requests of the client to the handlers, and parts to the store."""

    def __init__(self, museum: Gallery) -> None:
        self.museum = museum
        self.lock = threading.Lock()

    def api(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path
        parts = path.strip("/").split("/")
        if parts[0] == "uploads":
            parameters = {"uploadId": parts[1]} if len(parts) > 1 else {}
        else:
            parameters = {"databaseId": parts[1], "assetId": parts[3]}
        with self.lock:
            answer = self.museum.send(
                request.method,
                path,
                parameters=parameters,
                query=dict(request.url.params),
                body=json.loads(request.content) if request.content else None,
            )
        return httpx.Response(answer.status, json=answer.body)

    def storage(self, request: httpx.Request) -> httpx.Response:
        body = request.read()
        url = urlsplit(str(request.url))
        query = parse_qs(url.query)
        number = int(query.get("partNumber", ["1"])[0])
        with self.lock:
            key = unquote(url.path[url.path.index("temp-uploads/") :])
            if "uploadId" in query:
                etag = s3().upload_part(
                    Bucket=BUCKET,
                    Key=key,
                    UploadId=query["uploadId"][0],
                    PartNumber=number,
                    Body=body,
                )["ETag"]
            else:
                etag = s3().put_object(Bucket=BUCKET, Key=key, Body=body)["ETag"]
        return httpx.Response(200, headers={"ETag": etag})


def upload(world: World, path: Path, settings: Settings) -> FileOutcome:
    """One run of the client with one file; the workers are done when it looks again."""
    bridge = Bridge(world.museum)
    with (
        ThreadPoolExecutor(1) as pool,
        Vitrine(
            API,
            "vams_key",
            retry=RetryPolicy(attempts=1),
            api_transport=httpx.MockTransport(bridge.api),
            storage_transport=httpx.MockTransport(bridge.storage),
            sleep=lambda _: world.drain(),
        ) as client,
    ):
        batch = BatchUpload(
            client,
            database_id="museum",
            asset_id="statue",
            parts=pool,
            observer=Silent(),
            stopped=threading.Event(),
            settings=settings,
        )
        size = path.stat().st_size
        (outcome,) = batch.run([LocalFile(path=path, key="/scans/cloud.bin", size=size)])
        return outcome


@pytest.fixture
def cloud(tmp_path: Path) -> Path:
    """Three parts of 5 MiB and more."""
    path = tmp_path / "cloud.bin"
    path.write_bytes(bytes(range(256)) * (16 * MIB // 256) + b"end")
    return path


@pytest.mark.parametrize("large_bytes", [10, 1024**3])
def test_a_file_arrives_and_a_large_one_is_waited_for(
    tables: Tables, objects: S3Objects, cloud: Path, large_bytes: int
) -> None:
    world = World(tables, objects, large_bytes=large_bytes)
    outcome = upload(world, cloud, Settings(part_bytes=5 * MIB))
    assert outcome.status is Status.UPLOADED, outcome
    key = world.museum.asset.asset_location.key + "scans/cloud.bin"
    assert b"".join(objects.read_chunks(BUCKET, key)) == cloud.read_bytes()
    checksum = stored_head(world.museum, "/scans/cloud.bin").metadata["vitrine-sha256"]
    assert (checksum, temporary()) == (sha256(cloud.read_bytes()), [])


@pytest.mark.parametrize("large_bytes", [10, 1024**3])
def test_an_executable_is_refused_and_no_failure(
    tables: Tables, objects: S3Objects, tmp_path: Path, large_bytes: int
) -> None:
    executable = tmp_path / "cloud.bin"
    executable.write_bytes(ELF)
    world = World(tables, objects, large_bytes=large_bytes)
    outcome = upload(world, executable, Settings())
    assert outcome.status is Status.REFUSED
    assert "ELF" in str(outcome.reason)
    assert temporary() == []
