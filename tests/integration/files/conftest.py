"""The services of files on DynamoDB Local and versitygw."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import boto3
import pytest
from botocore.config import Config

from backend.aws.objects import S3Objects
from backend.aws.settings import Settings
from backend.aws.tables import DynamoTables
from backend.core.clock import utc_now
from backend.core.ids import new_uuid
from backend.spec.tables import TABLES
from local.engines import ENGINES
from local.engines.base import Options
from local.engines.process import Running
from tests.factories.files import BUCKET, Gallery, gallery
from tests.factories.lifecycle import AUXILIARY
from tests.factories.tables import create_table_request

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_s3 import S3Client

REPOSITORY = Path(__file__).parents[3]
OPTIONS = Options(durable=False)


@pytest.fixture(scope="module")
def urls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The engines' URLs by their name; they run for the module."""
    tools = Path(os.environ.get("VITRINE_TOOLS") or REPOSITORY / ".local" / "tools")
    place = tmp_path_factory.mktemp("engines")
    running: dict[str, Running] = {}
    for name in ("dynamodb", "s3"):
        engine = ENGINES[name]
        engine.prepare(tools, lambda _: None)
        running[name] = engine.start(
            tools, place / "data", log=place / f"{name}.log", options=OPTIONS
        )
    for one in running.values():
        one.wait_healthy()
    yield {name: one.endpoint.url for name, one in running.items()}
    for one in running.values():
        one.stop()


@pytest.fixture
def ports(urls: dict[str, str]) -> tuple[DynamoTables, S3Objects]:
    """Tables that nobody else uses, and empty buckets."""
    mark = new_uuid()
    session = boto3.Session(
        aws_access_key_id=OPTIONS.access_key,
        aws_secret_access_key=OPTIONS.secret_key,
        region_name=OPTIONS.region,
    )
    dynamodb: DynamoDBClient = session.client("dynamodb", endpoint_url=urls["dynamodb"])
    settings = Settings({f"TABLE_{table.name}": f"{mark}-{table.name}" for table in TABLES})
    for table in TABLES:
        dynamodb.create_table(**create_table_request(table, settings.table(table)))
    config = Config(signature_version="s3v4")
    s3: S3Client = session.client("s3", endpoint_url=urls["s3"], config=config)
    _empty_bucket(s3)
    return DynamoTables(dynamodb, settings), S3Objects(s3)


@pytest.fixture
def museum(ports: tuple[DynamoTables, S3Objects]) -> Gallery:
    """An asset without files."""
    return gallery(*ports, clock=utc_now)


def _empty_bucket(s3: "S3Client") -> None:
    if not s3.list_buckets()["Buckets"]:
        s3.create_bucket(Bucket=AUXILIARY)
        s3.create_bucket(Bucket=BUCKET)
        s3.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": "Enabled"})
    reply = s3.list_object_versions(Bucket=BUCKET)
    for one in [*reply.get("Versions", []), *reply.get("DeleteMarkers", [])]:
        key, version_id = one.get("Key", ""), one.get("VersionId", "")
        s3.delete_object(Bucket=BUCKET, Key=key, VersionId=version_id)
