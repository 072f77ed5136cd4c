"""Journeys share one runtime, also between xdist workers.

Journeys that break it start their own.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from tests.journeys import shared
from tests.journeys.foreign_workflows import ALLOWED_QUEUES
from tests.journeys.runtime import Api, Runtime
from tests.journeys.stock import WEB_ORIGIN

LONGEST = (
    "test_contract",
    "test_search",  # reads complete indexes, which grow
    "test_bucket_sync",
    "test_file_changes",
    "test_uploads",
    "test_whole_deployment",
)
"""Order the files: xdist assigns the next one to a free worker."""


def pytest_configure() -> None:
    shared.begin()


def pytest_unconfigure() -> None:
    shared.end()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that take longest, so that all workers end at about the same time."""
    ranks = {name: rank for rank, name in enumerate(LONGEST)}
    items.sort(key=lambda item: ranks.get(item.path.stem, len(ranks)))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    seed = os.environ[shared.SEED]
    terminalreporter.write_line(f"random requests were drawn with {shared.SEED}={seed}")


@pytest.fixture(scope="session")
def runtime(worker_id: str) -> Iterator[Runtime]:
    """The product with its tables in memory, started once for all workers.

    It has the address of VAMS's web application, like a deployment that serves one, and allows
    pipelines to name the queue of `test_executions.py`.
    """
    page = ("--set", f"webUrl={WEB_ORIGIN}")
    queues = ("--set", f"allowedPipelineQueues={ALLOWED_QUEUES}")
    with shared.shared_runtime(worker_id, "--in-memory", *page, *queues) as running:
        yield running


@pytest.fixture
def api(runtime: Runtime) -> Api:
    return runtime.client()


@pytest.fixture
def database(api: Api) -> str:
    """A new database of the test's own."""
    return api.new_database(f"db-{uuid4().hex[:12]}")


@pytest.fixture
def own_runtime(tmp_path: Path) -> Iterator[Runtime]:
    """A runtime with its tables on disk that a test may break; it is not started yet."""
    own = Runtime(tmp_path / "state")
    yield own
    own.down()
