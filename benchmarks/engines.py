"""Real engines for a benchmark, and the product's own wiring over them, in this process."""

import os
import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import psutil
import urllib3

from backend.aws.search_engine import connect as connect_search
from backend.entrypoints.wiring.context import Context
from backend.search.indexing.indexes import ensure_indexes
from backend.search.indexing.state import Pointer, SearchState
from backend.spec.buckets import ASSET_BUCKET, FAILURE_BUCKET
from backend.spec.functions.workers import INDEX_CHANGES
from backend.spec.queues import QUEUES
from backend.spec.search_indexes import SEARCH_INDEXES
from backend.spec.settings import SETTINGS
from backend.spec.tables import TABLES
from local.clients import Clients, Credentials, Endpoints, connect
from local.engines import Options, Running, prepare_all, start_all, stop_all
from local.state import tools_folder
from tests.factories.tables import create_table_request

NAMES = ("opensearch", "dynamodb", "queues", "s3")
BUCKET = "assetbucket"
_MEBIBYTE = 1024 * 1024


@dataclass(frozen=True)
class Site:
    """Engines with all declared resources, plain clients, and the context of the indexers."""

    clients: Clients
    opensearch: str
    context: Context
    pointer: Pointer
    http: urllib3.PoolManager = field(default_factory=lambda: urllib3.PoolManager(maxsize=8))

    def empty_indexes(self) -> None:
        """Create both indexes again, so that every measurement writes into empty ones."""
        engine = connect_search(self.context.settings)
        for index in SEARCH_INDEXES:
            name = self.pointer.current(index)
            reply = self.http.request("DELETE", f"{self.opensearch}/{name}")
            if reply.status != 200:
                raise RuntimeError(f"{name} cannot be removed: {reply.data.decode()}")
            engine.create_index(name, mapping=index.mapping, settings=index.settings)

    def written(self) -> int:
        """Number of writes to the indexes since their creation, as counted by OpenSearch."""
        count = 0
        for index in SEARCH_INDEXES:
            name = self.pointer.current(index)
            reply = self.http.request("GET", f"{self.opensearch}/{name}/_stats/indexing")
            count += int(reply.json()["_all"]["primaries"]["indexing"]["index_total"])
        return count


@contextmanager
def started(say: Callable[[str], None]) -> Generator[tuple[Site, "Memory"]]:
    """Engines with a temporary folder and their tables in memory.

    Everything is deleted afterwards.
    """
    with TemporaryDirectory(prefix="vitrine-bench-") as name:
        folder = Path(name)
        options = Options(durable=False)
        prepare_all(tools_folder(), say, names=NAMES)
        running = start_all(
            tools_folder(), folder / "data", folder / "logs", say, names=NAMES, options=options
        )
        try:
            # so that later measurements do not use these engines
            with _watched(running) as memory, patch.dict(os.environ):
                yield _site(running, options), memory
        finally:
            stop_all(running)


def _site(running: Mapping[str, Running], options: Options) -> Site:
    url = {name: engine.endpoint.url for name, engine in running.items()}
    endpoints = Endpoints(
        dynamodb=url["dynamodb"],
        s3=url["s3"],
        sqs=url["queues"],
        opensearch=url["opensearch"],
        states="http://127.0.0.1:9",  # no other service may be called
        others="http://127.0.0.1:9",
    )
    clients = connect(endpoints, Credentials(options.access_key, options.secret_key))
    os.environ.update(endpoints.environment())
    os.environ.update(_environment(clients, options))
    for table in TABLES:
        clients.dynamodb.create_table(**create_table_request(table, table.name))
    for bucket in (BUCKET, FAILURE_BUCKET.name.lower()):
        clients.s3.create_bucket(Bucket=bucket)
    clients.s3.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": "Enabled"})
    context = Context(INDEX_CHANGES)
    state = SearchState(context.tables, context.clock)
    pointer = ensure_indexes(connect_search(context.settings), state).pointer
    return Site(clients, url["opensearch"], context, pointer)


def _environment(clients: Clients, options: Options) -> dict[str, str]:
    """The environment that infrastructure and Lambda would set."""
    variables = {f"TABLE_{table.name}": table.name for table in TABLES}
    variables |= {setting.variable: str(setting.default) for setting in SETTINGS}
    for queue in QUEUES:
        made = clients.sqs.create_queue(QueueName=queue.name)
        variables[f"QUEUE_{queue.name}"] = made["QueueUrl"]
    return variables | {
        f"BUCKET_{ASSET_BUCKET.name}": BUCKET,
        f"BUCKET_{FAILURE_BUCKET.name}": FAILURE_BUCKET.name.lower(),
        "AWS_REGION": options.region,
        "AWS_DEFAULT_REGION": options.region,
        "AWS_ACCESS_KEY_ID": options.access_key,
        "AWS_SECRET_ACCESS_KEY": options.secret_key,
        "POWERTOOLS_LOG_LEVEL": "WARNING",
    }


@dataclass
class Memory:
    """Maximum resident memory in bytes, of this process and of each engine."""

    peaks: dict[str, int] = field(default_factory=dict[str, int])

    def look(self, processes: Mapping[str, psutil.Process]) -> None:
        for name, process in processes.items():
            size = process.memory_info().rss
            self.peaks[name] = max(size, self.peaks.get(name, 0))

    def in_mebibytes(self) -> dict[str, int]:
        return {name: size // _MEBIBYTE for name, size in self.peaks.items()}


@contextmanager
def _watched(running: Mapping[str, Running]) -> Generator[Memory]:
    processes = {name: psutil.Process(engine.endpoint.pid) for name, engine in running.items()}
    processes["benchmark"] = psutil.Process()
    memory, ended = Memory(), threading.Event()

    def watch() -> None:
        while not ended.wait(0.25):
            memory.look(processes)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield memory
    finally:
        ended.set()
        thread.join()
