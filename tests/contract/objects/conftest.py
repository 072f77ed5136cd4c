"""The stores for the contract suite of objects: the fake, moto and versitygw."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import httpx
import pytest

from backend.aws.objects import S3Objects
from backend.core.ids import new_uuid
from backend.core.objects import Objects
from tests.engines import RealEngines
from tests.fakes.objects import MemoryObjects

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

STORES = ("memory", "moto", "versitygw")
# A thousand requests to moto take half a minute; the tests of uploads send as many to it.
NOT_MOTO = pytest.mark.parametrize("store", ["memory", "versitygw"], indirect=True)


@dataclass(frozen=True)
class Store:
    """A store behind the port, with an empty versioned bucket."""

    name: str
    objects: Objects
    bucket: str

    def send(self, url: str, body: bytes) -> str:
        """PUT to a presigned URL; return the ETag as S3 sent it."""
        if isinstance(self.objects, MemoryObjects):
            return self.objects.receive(url, body)
        reply = httpx.put(url, content=body)
        assert reply.status_code == 200, reply.text
        return reply.headers["ETag"]


@pytest.fixture(scope="session")
def moto_s3(moto_url: str) -> "S3Client":
    return RealEngines({"s3": moto_url}).s3


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest) -> Store:
    """The store with a bucket of its own for each test."""
    name: str = request.param
    if name == "memory":
        return Store(name, MemoryObjects(), "bucket")
    client: S3Client = (
        request.getfixturevalue("moto_s3")
        if name == "moto"
        else request.getfixturevalue("engines").s3
    )
    bucket = f"bucket-{new_uuid()}"
    client.create_bucket(Bucket=bucket)
    client.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Enabled"})
    return Store(name, S3Objects(client), bucket)
