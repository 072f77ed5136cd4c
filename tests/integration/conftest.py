"""Real engines for integration tests, started once for all of them, when the first asks."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import boto3
import pytest
from botocore.config import Config
from opensearchpy import OpenSearch

from backend.aws.objects import S3Objects
from backend.aws.queues import SqsQueues
from backend.aws.search_engine import OpenSearchEngine
from backend.aws.settings import Settings
from backend.aws.tables import DynamoTables
from backend.core.ids import new_uuid
from backend.spec.buckets import ASSET_BUCKET, FAILURE_BUCKET
from backend.spec.queues import FAN_OUT, OBJECT_EVENTS, SETTLE
from backend.spec.tables import TABLES
from local.engines import ENGINES, Options, Running, prepare_all, start_all, stop_all
from tests.factories.tables import create_table_request

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodbstreams import DynamoDBStreamsClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_sqs import SQSClient

ROOT = Path(__file__).parents[2]
TOOLS = Path(os.environ.get("VITRINE_TOOLS", ROOT / ".local" / "tools"))
NAMES = ("opensearch", "dynamodb", "s3", "queues")
OPTIONS = Options(durable=False)
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


@dataclass
class RealEngines:
    """OpenSearch, DynamoDB (in memory), S3 and SQS on loopback."""

    folder: Path
    running: dict[str, Running]

    def url(self, name: str) -> str:
        return self.running[name].endpoint.url

    def restart_search(self) -> None:
        """Kill OpenSearch and start it again on its data, at the same address."""
        port = self.running["opensearch"].endpoint.port
        self.running["opensearch"].kill()
        self.running["opensearch"] = ENGINES["opensearch"].start(
            TOOLS, self.folder / "data", log=self.folder / "opensearch.log", port=port
        )
        self.running["opensearch"].wait_healthy(120)


@pytest.fixture(scope="session")
def engines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealEngines]:
    folder = tmp_path_factory.mktemp("engines")
    prepare_all(TOOLS, lambda _: None, names=NAMES)
    running = start_all(
        TOOLS, folder / "data", folder, lambda _: None, names=NAMES, options=OPTIONS
    )
    found = RealEngines(folder, running)
    yield found
    stop_all(found.running)


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
    session = boto3.Session(
        aws_access_key_id=OPTIONS.access_key,
        aws_secret_access_key=OPTIONS.secret_key,
        region_name=OPTIONS.region,
    )
    dynamodb: DynamoDBClient = session.client("dynamodb", endpoint_url=engines.url("dynamodb"))
    streams: DynamoDBStreamsClient = session.client(
        "dynamodbstreams", endpoint_url=engines.url("dynamodb")
    )
    s3: S3Client = session.client(
        "s3", endpoint_url=engines.url("s3"), config=Config(signature_version="s3v4")
    )
    sqs: SQSClient = session.client("sqs", endpoint_url=engines.url("queues"))
    name = new_uuid()[:8]
    environment = _made(name, dynamodb, s3, sqs)
    settings = Settings(environment | {"AWS_REGION": OPTIONS.region})
    search = OpenSearch(engines.url("opensearch"), timeout=30, max_retries=0)
    return Deployment(
        settings,
        DynamoTables(dynamodb, settings),
        S3Objects(s3),
        SqsQueues(sqs, settings),
        OpenSearchEngine(search),
        streams,
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
    for queue in (OBJECT_EVENTS, SETTLE, FAN_OUT):
        made[f"QUEUE_{queue.name}"] = sqs.create_queue(QueueName=f"{name}-{queue.name}")["QueueUrl"]
    return made
