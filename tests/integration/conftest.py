"""A deployment on the real engines for each integration test."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from opensearchpy import OpenSearch

from backend.aws.objects import S3Objects
from backend.aws.queues import SqsQueues
from backend.aws.search_engine import OpenSearchEngine
from backend.aws.settings import Settings
from backend.aws.tables import DynamoTables
from backend.core.ids import new_uuid
from backend.spec.buckets import ASSET_BUCKET, FAILURE_BUCKET
from backend.spec.queues import FAN_OUT, LIFECYCLE, OBJECT_EVENTS, SETTLE
from backend.spec.tables import TABLES
from tests.engines import OPTIONS, RealEngines
from tests.factories.tables import create_table_request

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodbstreams import DynamoDBStreamsClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_sqs import SQSClient

INDEXED_TABLES = frozenset(
    {
        "AssetStorageTable",
        "AssetLinksStorageTableV2",
        "AssetFileMetadataStorageTableV2",
        "FileAttributeStorageTableV2",
        "S3AssetBucketsStorageTable",
        "SearchState",
        "Reservations",
        "Jobs",
    }
)


@dataclass(frozen=True)
class Deployment:
    """Tables, buckets, queues and a search client of one test, on the real engines."""

    settings: Settings
    tables: DynamoTables
    objects: S3Objects
    queues: SqsQueues
    engine: OpenSearchEngine
    streams: "DynamoDBStreamsClient"
    sqs: "SQSClient"
    name: str


@pytest.fixture
def deployment(engines: RealEngines) -> Deployment:
    """Empty tables, buckets and queues with names of their own."""
    dynamodb, s3, sqs = engines.dynamodb, engines.s3, engines.sqs
    name = new_uuid()[:8]
    environment = _made(name, dynamodb, s3, sqs)
    settings = Settings(environment | {"AWS_REGION": OPTIONS.region})
    search = OpenSearch(engines.url("opensearch"), timeout=120, max_retries=0)
    return Deployment(
        settings,
        DynamoTables(dynamodb, settings),
        S3Objects(s3),
        SqsQueues(sqs, settings),
        OpenSearchEngine(search),
        engines.streams,
        sqs,
        name,
    )


def _made(
    name: str, dynamodb: "DynamoDBClient", s3: "S3Client", sqs: "SQSClient"
) -> dict[str, str]:
    """The environment that names what was made."""
    made: dict[str, str] = {}
    for table in TABLES:
        if table.name in INDEXED_TABLES:
            made[f"TABLE_{table.name}"] = f"{name}-{table.name}"
            dynamodb.create_table(**create_table_request(table, f"{name}-{table.name}"))
    for bucket in (ASSET_BUCKET, FAILURE_BUCKET):
        physical = made[f"BUCKET_{bucket.name}"] = f"{name}-{bucket.name.lower()}"
        s3.create_bucket(Bucket=physical)
        if bucket.versioned:
            s3.put_bucket_versioning(Bucket=physical, VersioningConfiguration={"Status": "Enabled"})
    for queue in (OBJECT_EVENTS, SETTLE, FAN_OUT, LIFECYCLE):
        made[f"QUEUE_{queue.name}"] = sqs.create_queue(QueueName=f"{name}-{queue.name}")["QueueUrl"]
    return made
