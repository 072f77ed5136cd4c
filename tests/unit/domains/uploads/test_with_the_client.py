"""The client's own uploads against the routes, with nothing between them but a function call."""

import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest.mock import patch
from urllib.parse import parse_qs, unquote, urlsplit

import httpx
import pytest
from vitrine import RetryPolicy, Vitrine
from vitrine.transfer.finishing import Waiting
from vitrine.transfer.journal import Journal
from vitrine.transfer.opening import Settings
from vitrine.transfer.report import FileOutcome, Silent, Status
from vitrine.transfer.scan import LocalFile
from vitrine.transfer.uploading import BatchUpload

from backend.aws.clients import s3
from backend.aws.objects import S3Objects
from backend.core.tables import Tables
from tests.factories.files import BUCKET, Gallery, sha256
from tests.unit.domains.uploads.calls import (
    ELF,
    MIB,
    World,
    stored_head,
    temporary,
)

API = "https://api.test"


class Bridge:
    """Hands requests of the client to the handlers, and parts to the store."""

    def __init__(self, museum: Gallery) -> None:
        self.museum = museum
        self.lock = threading.Lock()
        self.puts: list[int] = []
        self.requests: list[str] = []
        self.refuse: Callable[[int], httpx.Response | None] = lambda number: None

    def api(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path
        self.requests.append(f"{request.method} {path}")
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
            refused = self.refuse(number)
            if refused is not None:
                return refused
            self.puts.append(number)
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


def upload(
    bridge: Bridge, path: Path, settings: Settings, *, sleep: Callable[[float], None] | None = None
) -> FileOutcome:
    """One run of the client with one file."""
    with (
        ThreadPoolExecutor(1) as pool,
        Vitrine(
            API,
            "vams_key",
            retry=RetryPolicy(attempts=1),
            api_transport=httpx.MockTransport(bridge.api),
            storage_transport=httpx.MockTransport(bridge.storage),
            sleep=sleep or (lambda _: None),
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


def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "journal", API)


def stored(museum: Gallery) -> bytes:
    key = museum.asset.asset_location.key + "scans/cloud.bin"
    return b"".join(museum.objects.read_chunks(BUCKET, key))


def test_a_file_that_was_broken_off_continues(museum: Gallery, cloud: Path, tmp_path: Path) -> None:
    bridge = Bridge(museum)
    bridge.refuse = lambda number: httpx.Response(500) if number == 3 else None
    settings = Settings(journal=journal(tmp_path), part_bytes=5 * MIB)
    assert upload(bridge, cloud, settings).status is Status.FAILED
    assert bridge.puts == [1, 2]
    bridge.refuse = lambda number: None
    settings = Settings(journal=journal(tmp_path), part_bytes=5 * MIB)
    assert upload(bridge, cloud, settings).status is Status.UPLOADED
    assert bridge.puts == [1, 2, 3]
    assert bridge.requests.count("POST /uploads") == 1
    assert stored(museum) == cloud.read_bytes()
    found = stored_head(museum, "/scans/cloud.bin")
    assert found.metadata["vitrine-sha256"] == sha256(cloud.read_bytes())
    assert (temporary(), list(journal(tmp_path).entries())) == ([], [])


def test_a_url_that_expired_is_renewed(museum: Gallery, cloud: Path) -> None:
    bridge = Bridge(museum)
    expired = [httpx.Response(403, text="<Code>AccessDenied</Code>")]

    # Time stands still here: the renewed URL would be the same, which no server would give.
    counter = iter(range(100))
    real = S3Objects.presign_part

    def presigned(
        self: S3Objects, bucket: str, key: str, *, upload_id: str, number: int, expires: int
    ) -> str:
        url = real(self, bucket, key, upload_id=upload_id, number=number, expires=expires)
        return f"{url}&n={next(counter)}"

    bridge.refuse = lambda number: expired.pop() if number == 2 and expired else None
    with patch.object(S3Objects, "presign_part", presigned):
        outcome = upload(bridge, cloud, Settings(part_bytes=5 * MIB))
    assert outcome.status is Status.UPLOADED, outcome
    assert expired == []
    assert sum(request.endswith("/renew") for request in bridge.requests) == 1
    assert stored(museum) == cloud.read_bytes()


def test_a_large_file_is_waited_for(world: World, cloud: Path) -> None:
    bridge = Bridge(world.museum)
    settings = Settings(part_bytes=5 * MIB)
    outcome = upload(bridge, cloud, settings, sleep=lambda _: world.drain())
    assert outcome.status is Status.UPLOADED, outcome
    assert stored(world.museum) == cloud.read_bytes()


@pytest.mark.parametrize("large_bytes", [10, 1024**3])
def test_an_executable_is_refused_and_no_failure(
    tables: Tables, objects: S3Objects, tmp_path: Path, large_bytes: int
) -> None:
    executable = tmp_path / "cloud.bin"
    executable.write_bytes(ELF)
    world = World(tables, objects, large_bytes=large_bytes)
    bridge = Bridge(world.museum)
    outcome = upload(bridge, executable, Settings(), sleep=lambda _: world.drain())
    assert outcome.status is Status.REFUSED
    assert "ELF" in str(outcome.reason)


def test_what_is_not_finished_in_time_is_found_by_the_next_run(
    world: World, cloud: Path, tmp_path: Path
) -> None:
    bridge = Bridge(world.museum)
    settings = Settings(journal=journal(tmp_path), waiting=Waiting(seconds=0))
    outcome = upload(bridge, cloud, settings)
    assert outcome.status is Status.FAILED
    assert "is still completing it" in str(outcome.reason)
    puts = len(bridge.puts)
    world.drain()
    (entry,) = journal(tmp_path).entries()
    assert world.museum.upload(entry.upload_id).body["state"] == "completed"
    assert len(bridge.puts) == puts
