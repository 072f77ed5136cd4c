"""An engine in a test: its address, and clients that follow it over a restart."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import boto3
import psutil
from botocore.client import BaseClient
from botocore.config import Config

from local.engines import LOOPBACK, Engine, Options

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodbstreams import DynamoDBStreamsClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_secretsmanager import SecretsManagerClient
    from mypy_boto3_sqs import SQSClient

OPTIONS = Options(access_key="AnAccessKey", secret_key="a-secret-key")
_CONFIG = Config(
    s3={"addressing_style": "path"},
    retries={"total_max_attempts": 1},
)


class Clients:
    """Clients of one started engine, each created when it is first used."""

    def __init__(self, url: str, options: Options) -> None:
        """Store the engine's address."""
        self._url = url
        self._session = boto3.Session(
            aws_access_key_id=options.access_key,
            aws_secret_access_key=options.secret_key,
            region_name=options.region,
        )

    @cached_property
    def dynamodb(self) -> "DynamoDBClient":
        """Tables."""
        return self._session.client("dynamodb", endpoint_url=self._url, config=_CONFIG)

    @cached_property
    def streams(self) -> "DynamoDBStreamsClient":
        """Streams of tables."""
        return self._session.client("dynamodbstreams", endpoint_url=self._url, config=_CONFIG)

    @cached_property
    def s3(self) -> "S3Client":
        """Objects."""
        # presigned URLs have signature version 2 by default
        config = _CONFIG.merge(Config(signature_version="s3v4"))
        return self._session.client("s3", endpoint_url=self._url, config=config)

    @cached_property
    def sqs(self) -> "SQSClient":
        """Queues."""
        return self._session.client("sqs", endpoint_url=self._url, config=_CONFIG)

    @cached_property
    def secrets(self) -> "SecretsManagerClient":
        """Secrets."""
        return self._session.client("secretsmanager", endpoint_url=self._url, config=_CONFIG)

    def close(self) -> None:
        """Close the connections of the clients."""
        for made in vars(self).values():
            if isinstance(made, BaseClient):
                made.close()


@dataclass
class Site:
    """One engine on one folder."""

    engine: Engine
    tools: Path
    folder: Path
    options: Options = OPTIONS

    def start(self, *, port: int | None = None) -> None:
        """Start the engine and wait until it responds."""
        self.running = self.engine.start(
            self.tools,
            self.folder / "data",
            log=self.folder / "log",
            port=port,
            options=self.options,
        )
        self.clients = Clients(self.running.endpoint.url, self.options)
        self.running.wait_healthy()

    def listens_on_loopback_only(self) -> bool:
        """Return whether no port of the process is open to other machines."""
        addresses = {
            connection.laddr.ip.removeprefix("::ffff:")  # the form of a socket for both protocols
            for connection in psutil.Process(self.running.endpoint.pid).net_connections("inet")
            if connection.status == psutil.CONN_LISTEN
        }
        return addresses == {LOOPBACK}

    def crash_and_restart(self) -> None:
        """Kill the process, and start it again on its data and its port."""
        self.end()
        self.start(port=self.running.endpoint.port)

    def end(self) -> None:
        """Kill the process."""
        self.clients.close()
        self.running.kill()
