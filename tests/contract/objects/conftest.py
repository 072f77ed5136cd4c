"""The stores that the port of objects is held to: the fake, moto and versitygw."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import boto3
import httpx
import pytest
from botocore.config import Config
from moto.server import ThreadedMotoServer

from backend.aws.objects import S3Objects
from backend.aws.parsing import take_versions_as_sent
from backend.core.ids import new_uuid
from backend.core.objects import Objects
from local.engines.base import Options
from local.engines.s3 import VersityGateway
from tests.fakes.objects import MemoryObjects

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

ROOT = Path(__file__).parents[3]
OPTIONS = Options()
STORES = ("memory", "moto", "versitygw")


@dataclass(frozen=True)
class Store:
    """A store behind the port, with an empty versioned bucket."""

    name: str
    objects: Objects
    bucket: str

    def send(self, url: str, body: bytes) -> str:
        """PUT to a presigned URL; answers with the ETag as S3 sent it."""
        if isinstance(self.objects, MemoryObjects):
            return self.objects.receive(url, body)
        reply = httpx.put(url, content=body)
        assert reply.status_code == 200, reply.text
        return reply.headers["ETag"]


@pytest.fixture(scope="session", params=STORES)
def endpoint(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, str]]:
    """The store's name and URL; it runs for the whole session."""
    if request.param == "memory":
        yield "memory", ""
        return
    if request.param == "moto":
        server = ThreadedMotoServer(port=0, verbose=False)
        server.start()
        host, port = server.get_host_and_port()
        yield "moto", f"http://{host}:{port}"
        server.stop()
        return
    tools = Path(os.environ.get("VITRINE_TOOLS", ROOT / ".local" / "tools"))
    folder = tmp_path_factory.mktemp("versitygw")
    gateway = VersityGateway()
    gateway.prepare(tools, lambda _: None)
    running = gateway.start(tools, folder / "data", log=folder / "s3.log", options=OPTIONS)
    running.wait_healthy()
    yield "versitygw", running.endpoint.url
    running.stop()


@pytest.fixture
def store(endpoint: tuple[str, str]) -> Store:
    """The store with a bucket of its own for each test."""
    name, url = endpoint
    if name == "memory":
        return Store(name, MemoryObjects(), "bucket")
    client: S3Client = boto3.client(
        "s3",
        endpoint_url=url,
        region_name=OPTIONS.region,
        aws_access_key_id=OPTIONS.access_key,
        aws_secret_access_key=OPTIONS.secret_key,
        config=Config(signature_version="s3v4"),
    )
    take_versions_as_sent(client)  # as backend.aws.clients does
    bucket = f"bucket-{new_uuid()}"
    client.create_bucket(Bucket=bucket)
    client.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Enabled"})
    return Store(name, S3Objects(client), bucket)
