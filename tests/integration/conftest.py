"""A deployment on the real engines for each integration test."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from filelock import FileLock
from opensearchpy import OpenSearch

from backend.aws.objects import S3Objects
from backend.aws.queues import SqsQueues
from backend.aws.search_engine import OpenSearchEngine
from backend.aws.settings import Settings
from backend.aws.tables import DynamoTables
from backend.core.ids import new_uuid
from backend.spec.buckets import ASSET_BUCKET, FAILURE_BUCKET
from backend.spec.queues import FAN_OUT, LIFECYCLE, OBJECT_EVENTS, SETTLE
from tests.engines import OPTIONS, RealEngines
from tests.factories.buckets import BUCKET_NAME
from tests.integration.tables import TableSet

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_sqs import SQSClient


@dataclass(frozen=True)
class Deployment:
    """Tables, buckets, queues and a search client for one test, on the real engines."""

    settings: Settings
    table_set: TableSet
    objects: S3Objects
    queues: SqsQueues
    engine: OpenSearchEngine
    sqs: "SQSClient"
    name: str

    @property
    def tables(self) -> DynamoTables:
        return self.table_set.tables


@pytest.fixture(scope="session")
def tables_of_worker(engines: RealEngines) -> TableSet:
    return TableSet(engines)


@pytest.fixture
def table_set(tables_of_worker: TableSet) -> TableSet:
    """All tables, empty."""
    tables_of_worker.clear()
    return tables_of_worker


@pytest.fixture
def deployment(engines: RealEngines, table_set: TableSet) -> Deployment:
    """Empty tables; buckets and queues with names of their own."""
    name = new_uuid()[:8]
    made = _buckets(name, engines.s3) | _queues(name, engines.sqs)
    settings = Settings(made | {"AWS_REGION": OPTIONS.region})
    return Deployment(
        settings,
        table_set,
        S3Objects(engines.s3),
        SqsQueues(engines.sqs, settings),
        search_engine(engines.url("opensearch")),
        engines.sqs,
        name,
    )


@pytest.fixture
def asset_bucket(engines: RealEngines, one_at_a_time: Callable[[str], FileLock]) -> None:
    """The bucket of `tests.factories.buckets` with versions, which workers share."""
    with one_at_a_time("asset-bucket"):
        buckets = {bucket.get("Name") for bucket in engines.s3.list_buckets()["Buckets"]}
        if BUCKET_NAME not in buckets:
            engines.s3.create_bucket(Bucket=BUCKET_NAME)
            engines.s3.put_bucket_versioning(
                Bucket=BUCKET_NAME, VersioningConfiguration={"Status": "Enabled"}
            )


def search_engine(url: str) -> OpenSearchEngine:
    return OpenSearchEngine(OpenSearch(url, timeout=120, max_retries=0))


def _buckets(name: str, s3: "S3Client") -> dict[str, str]:
    """The settings that name the buckets that were created."""
    made: dict[str, str] = {}
    for bucket in (ASSET_BUCKET, FAILURE_BUCKET):
        physical = made[f"BUCKET_{bucket.name}"] = f"{name}-{bucket.name.lower()}"
        s3.create_bucket(Bucket=physical)
        if bucket.versioned:
            s3.put_bucket_versioning(Bucket=physical, VersioningConfiguration={"Status": "Enabled"})
    return made


def _queues(name: str, sqs: "SQSClient") -> dict[str, str]:
    """The settings that name the queues that were created."""
    return {
        f"QUEUE_{queue.name}": sqs.create_queue(QueueName=f"{name}-{queue.name}")["QueueUrl"]
        for queue in (OBJECT_EVENTS, SETTLE, FAN_OUT, LIFECYCLE)
    }
