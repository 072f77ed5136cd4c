"""The services of files on DynamoDB Local and versitygw."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest
from filelock import FileLock

from backend.aws.objects import S3Objects
from backend.aws.tables import DynamoTables
from backend.core.clock import utc_now
from tests.engines import RealEngines
from tests.factories.files import BUCKET, Gallery, gallery
from tests.factories.lifecycle import AUXILIARY
from tests.integration.tables import TableSet

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client


@pytest.fixture
def ports(
    engines: RealEngines,
    table_set: TableSet,
    asset_bucket: None,
    one_at_a_time: Callable[[str], FileLock],
) -> Iterator[tuple[DynamoTables, S3Objects]]:
    """Empty tables, and empty buckets, whose names are the same in every worker."""
    with one_at_a_time(BUCKET):
        _empty_bucket(engines.s3)
        yield table_set.tables, S3Objects(engines.s3)


@pytest.fixture
def museum(ports: tuple[DynamoTables, S3Objects]) -> Gallery:
    """An asset without files."""
    return gallery(*ports, clock=utc_now)


def _empty_bucket(s3: "S3Client") -> None:
    if AUXILIARY not in {bucket.get("Name") for bucket in s3.list_buckets()["Buckets"]}:
        s3.create_bucket(Bucket=AUXILIARY)
    reply = s3.list_object_versions(Bucket=BUCKET)
    for item in [*reply.get("Versions", []), *reply.get("DeleteMarkers", [])]:
        key, version_id = item.get("Key", ""), item.get("VersionId", "")
        s3.delete_object(Bucket=BUCKET, Key=key, VersionId=version_id)
