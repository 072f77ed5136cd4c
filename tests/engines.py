"""Real engines for tests: OpenSearch, DynamoDB, S3 and SQS on loopback addresses.

One set serves a whole run, or several runs one after another (`tests.parts`). Each engine is
started when a test first needs it. The process that starts and stops them outlives all workers of
xdist, because a worker may crash, or end before the others.
"""

import json
import os
import threading
import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import boto3
from botocore.config import Config

from backend.aws.parsing import parse_versions_minimally, return_items_unparsed
from local.engines import EngineError, Options, Running, prepare_all, start_all, stop_all

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodbstreams import DynamoDBStreamsClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_sqs import SQSClient

ROOT = Path(__file__).parents[1]
TOOLS = Path(os.environ.get("VITRINE_TOOLS", ROOT / ".local" / "tools"))
HOST_FOLDER = "VITRINE_TEST_ENGINES"
"""The environment variable that names the folder of the `EngineHost` of a run."""
NAMES = ("opensearch", "dynamodb", "s3", "queues")
OPTIONS = Options(durable=False)
_CONFIG = Config(max_pool_connections=32)  # more than the threads of any test
_POLL_SECONDS = 0.05
_START_SECONDS = 600  # a first start may have to download and build the engines


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
        return_items_unparsed(client)  # as backend.aws.clients does
        return client

    @cached_property
    def streams(self) -> "DynamoDBStreamsClient":
        return session().client("dynamodbstreams", endpoint_url=self.url("dynamodb"))

    @cached_property
    def s3(self) -> "S3Client":
        config = _CONFIG.merge(Config(signature_version="s3v4"))
        client = session().client("s3", endpoint_url=self.url("s3"), config=config)
        parse_versions_minimally(client)  # as backend.aws.clients does
        return client

    @cached_property
    def sqs(self) -> "SQSClient":
        return session().client("sqs", endpoint_url=self.url("queues"), config=_CONFIG)


def session() -> boto3.Session:
    """A session with credentials that the engines accept."""
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
        yield RealEngines({name: item.endpoint.url for name, item in running.items()})
    finally:
        stop_all(running)


class EngineHost:
    """Starts each engine when a process first requests it, and stops them with the run.

    It shares only files with the workers of xdist: the request for an engine and the reply are
    files in `folder`. If its process is killed, the guard of `local.engines` ends the engines.
    """

    def __init__(self) -> None:
        self._temporary = TemporaryDirectory(prefix="vitrine-engines-")
        self.folder = Path(self._temporary.name)
        self._running: dict[str, Running] = {}
        self._starts: dict[str, threading.Thread] = {}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._wait_for_requests, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop the engines that were requested."""
        self._ended.set()
        self._thread.join()
        for thread in self._starts.values():
            thread.join()
        stop_all(self._running)
        self._temporary.cleanup()

    def _wait_for_requests(self) -> None:
        while not self._ended.wait(_POLL_SECONDS):
            for name in NAMES:
                if name not in self._starts and _request(self.folder, name).exists():
                    self._starts[name] = threading.Thread(target=self._start, args=(name,))
                    self._starts[name].start()

    def _start(self, name: str) -> None:
        reply: dict[str, str] = {"error": "the start ended with an error in its own process"}
        try:
            # a folder each: a start ends processes that an earlier run left on its folder
            self._running |= start(self.folder / name, (name,))
            reply = {"url": self._running[name].endpoint.url}
        except EngineError as error:
            reply = {"error": str(error)}
        finally:
            # renamed, so that no worker reads an incomplete file
            whole = self.folder / f"{name}.part"
            whole.write_text(json.dumps(reply), encoding="utf-8")
            whole.rename(_reply(self.folder, name))


class UrlsOnRequest(Mapping[str, str]):
    """The addresses of the engines of an `EngineHost`; a lookup waits for the engine's start."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __getitem__(self, name: str) -> str:
        """Return an address.

        Raises:
            EngineError: the engine did not start.
            KeyError: there is no engine of this name.
        """
        if name not in NAMES:
            raise KeyError(name)
        _request(self._folder, name).touch()
        deadline = time.monotonic() + _START_SECONDS
        while not _reply(self._folder, name).exists():
            if time.monotonic() > deadline:
                raise EngineError(f"{name}: not started after {_START_SECONDS} s")
            time.sleep(_POLL_SECONDS)
        reply = json.loads(_reply(self._folder, name).read_text(encoding="utf-8"))
        if "error" in reply:
            raise EngineError(reply["error"])
        return reply["url"]

    def __iter__(self) -> Iterator[str]:
        return iter(NAMES)

    def __len__(self) -> int:
        return len(NAMES)


def _request(folder: Path, name: str) -> Path:
    return folder / f"{name}.wanted"


def _reply(folder: Path, name: str) -> Path:
    return folder / f"{name}.json"


def start(folder: Path, names: tuple[str, ...] = NAMES) -> dict[str, Running]:
    prepare_all(TOOLS, lambda _: None, names=names)
    return start_all(TOOLS, folder / "data", folder, lambda _: None, names=names, options=OPTIONS)
