"""The real engines: one set for all tests of a run.

Each engine starts when a test first needs it.
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from filelock import FileLock

    from tests.engines import EngineHost, RealEngines

_HOST: "pytest.StashKey[EngineHost]" = pytest.StashKey()


def pytest_configure(config: pytest.Config) -> None:
    """Serve engines to the tests of this run, unless `tests.parts` does for several runs."""
    from tests.engines import HOST_FOLDER, EngineHost

    if HOST_FOLDER not in os.environ:  # workers of xdist inherit it
        host = config.stash[_HOST] = EngineHost()
        os.environ[HOST_FOLDER] = str(host.folder)


def pytest_unconfigure(config: pytest.Config) -> None:
    from tests.engines import HOST_FOLDER

    if _HOST in config.stash:
        config.stash[_HOST].stop()
        del os.environ[HOST_FOLDER]


@pytest.fixture(scope="session")
def folder_of_run() -> Path:
    """A folder that the workers of this run share."""
    from tests.engines import HOST_FOLDER

    return Path(os.environ[HOST_FOLDER])


@pytest.fixture(scope="session")
def engines(folder_of_run: Path) -> "RealEngines":
    """The engines that all tests and workers share; each test uses names of its own."""
    from tests.engines import RealEngines, UrlsOnRequest

    return RealEngines(UrlsOnRequest(folder_of_run))


@pytest.fixture(scope="session")
def one_at_a_time(folder_of_run: Path) -> "Callable[[str], FileLock]":
    """Locks for what exists once per engine: only one test of all workers uses it at a time.

    xdist's groups do not ensure this: with pytest 9.2, xdist 3.8 ignores its mark `xdist_group`.
    """
    from filelock import FileLock

    return lambda name: FileLock(folder_of_run / f"{name}.lock")


@pytest.fixture
def aliases(one_at_a_time: "Callable[[str], FileLock]") -> "Iterator[None]":
    """A lock for tests that change aliases or delete indexes.

    OpenSearch refuses to change any alias while another request deletes any index.
    """
    with one_at_a_time("aliases"):
        yield
