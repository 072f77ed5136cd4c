"""Real engines for tests: OpenSearch, DynamoDB, S3 and SQS on loopback addresses."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import boto3
from botocore.config import Config

from local.engines import ENGINES, Options, Running, prepare_all, start_all, stop_all

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodbstreams import DynamoDBStreamsClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_sqs import SQSClient

ROOT = Path(__file__).parents[1]
TOOLS = Path(os.environ.get("VITRINE_TOOLS", ROOT / ".local" / "tools"))
NAMES = ("opensearch", "dynamodb", "s3", "queues")
OPTIONS = Options(durable=False)


@dataclass
class RealEngines:
    """The engines that run, and clients to them."""

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
        self.running["opensearch"].wait_healthy()

    @property
    def dynamodb(self) -> "DynamoDBClient":
        return session().client("dynamodb", endpoint_url=self.url("dynamodb"))

    @property
    def streams(self) -> "DynamoDBStreamsClient":
        return session().client("dynamodbstreams", endpoint_url=self.url("dynamodb"))

    @property
    def s3(self) -> "S3Client":
        config = Config(signature_version="s3v4")
        return session().client("s3", endpoint_url=self.url("s3"), config=config)

    @property
    def sqs(self) -> "SQSClient":
        return session().client("sqs", endpoint_url=self.url("queues"))


def session() -> boto3.Session:
    """A session whose credentials the engines take."""
    return boto3.Session(
        aws_access_key_id=OPTIONS.access_key,
        aws_secret_access_key=OPTIONS.secret_key,
        region_name=OPTIONS.region,
    )


@contextmanager
def started(folder: Path) -> Generator[RealEngines]:
    """Engines that run, with empty data in a folder."""
    prepare_all(TOOLS, lambda _: None, names=NAMES)
    running = start_all(
        TOOLS, folder / "data", folder, lambda _: None, names=NAMES, options=OPTIONS
    )
    found = RealEngines(folder, running)
    yield found
    stop_all(found.running)
