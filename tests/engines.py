"""Real engines for tests: OpenSearch, DynamoDB, S3 and SQS on loopback addresses.

One set serves a whole run. Without xdist the process of the tests starts and stops it. With xdist
the controller does (`EngineHost`), since a worker may crash, or end before the others.
"""

import json
import os
import threading
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import boto3
from botocore.config import Config

from backend.aws.parsing import take_items_as_sent, take_versions_as_sent
from local.engines import EngineError, Options, Running, prepare_all, start_all, stop_all

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodbstreams import DynamoDBStreamsClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_sqs import SQSClient

ROOT = Path(__file__).parents[1]
TOOLS = Path(os.environ.get("VITRINE_TOOLS", ROOT / ".local" / "tools"))
NAMES = ("opensearch", "dynamodb", "s3", "queues")
OPTIONS = Options(durable=False)
_CONFIG = Config(max_pool_connections=32)  # more than any test has threads
_POLL_SECONDS = 0.05
_START_SECONDS = 600  # a first start may have to fetch and build the engines


@dataclass(frozen=True)
class RealEngines:
    """The addresses of running engines by name, and one client of each kind to them.

    Creating a client reads the description of its service, which takes longer than most tests.
    """

    urls: Mapping[str, str]

    def url(self, name: str) -> str:
        return self.urls[name]

    @cached_property
    def dynamodb(self) -> "DynamoDBClient":
        client = session().client("dynamodb", endpoint_url=self.url("dynamodb"), config=_CONFIG)
        take_items_as_sent(client)  # as backend.aws.clients does
        return client

    @cached_property
    def streams(self) -> "DynamoDBStreamsClient":
        return session().client("dynamodbstreams", endpoint_url=self.url("dynamodb"))

    @cached_property
    def s3(self) -> "S3Client":
        config = _CONFIG.merge(Config(signature_version="s3v4"))
        client = session().client("s3", endpoint_url=self.url("s3"), config=config)
        take_versions_as_sent(client)  # as backend.aws.clients does
        return client

    @cached_property
    def sqs(self) -> "SQSClient":
        return session().client("sqs", endpoint_url=self.url("queues"), config=_CONFIG)


def session() -> boto3.Session:
    """A session whose credentials the engines take."""
    return boto3.Session(
        aws_access_key_id=OPTIONS.access_key,
        aws_secret_access_key=OPTIONS.secret_key,
        region_name=OPTIONS.region,
    )


@contextmanager
def started(folder: Path) -> Generator[RealEngines]:
    """Engines with empty data in a folder, stopped at the end."""
    running = start(folder)
    try:
        yield RealEngines(_urls(running))
    finally:
        stop_all(running)


class EngineHost:
    """Starts engines when the first worker of a run requests them, and stops them with the run.

    It lives in xdist's controller, which ends last and shares only files with its workers: the
    request and the reply are files in `folder`. If the controller is killed, the guard of
    `local.engines` ends the engines.
    """

    def __init__(self) -> None:
        self._temporary = TemporaryDirectory(prefix="vitrine-engines-")
        self.folder = Path(self._temporary.name)
        self._running: dict[str, Running] = {}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._wait_for_request, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop the engines, if any worker requested them."""
        self._ended.set()
        self._thread.join()
        stop_all(self._running)
        self._temporary.cleanup()

    def _wait_for_request(self) -> None:
        while not self._ended.wait(_POLL_SECONDS):
            if _request(self.folder).exists():
                self._reply()
                return

    def _reply(self) -> None:
        reply: dict[str, object] = {"error": "the start ended with an error in the controller"}
        try:
            self._running = start(self.folder)
            reply = {"urls": _urls(self._running)}
        except EngineError as error:
            reply = {"error": str(error)}
        finally:
            whole = self.folder / "reply.part"  # renamed, so that no worker reads half of it
            whole.write_text(json.dumps(reply), encoding="utf-8")
            whole.rename(_reply(self.folder))


def shared(folder: Path) -> RealEngines:
    """The engines of the run, for a worker; the first one that calls this has them started.

    Raises:
        EngineError: they did not come up.
    """
    _request(folder).touch()
    deadline = time.monotonic() + _START_SECONDS
    while not _reply(folder).exists():
        if time.monotonic() > deadline:
            raise EngineError(f"no engines after {_START_SECONDS} s")
        time.sleep(_POLL_SECONDS)
    reply = json.loads(_reply(folder).read_text(encoding="utf-8"))
    if "error" in reply:
        raise EngineError(reply["error"])
    return RealEngines(reply["urls"])


def _request(folder: Path) -> Path:
    return folder / "wanted"


def _reply(folder: Path) -> Path:
    return folder / "reply.json"


def start(folder: Path) -> dict[str, Running]:
    prepare_all(TOOLS, lambda _: None, names=NAMES)
    return start_all(TOOLS, folder / "data", folder, lambda _: None, names=NAMES, options=OPTIONS)


def _urls(running: Mapping[str, Running]) -> dict[str, str]:
    return {name: engine.endpoint.url for name, engine in running.items()}
