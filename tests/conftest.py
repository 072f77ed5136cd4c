"""The real engines: one set for all tests of a run, started when the first test requests them."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from filelock import FileLock

    from tests.engines import EngineHost, RealEngines

_HOST: "pytest.StashKey[EngineHost]" = pytest.StashKey()


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Give a worker the folder by which it requests engines; called in xdist's controller."""
    from tests.engines import EngineHost

    config: pytest.Config = node.config
    if _HOST not in config.stash:
        config.stash[_HOST] = EngineHost()
        config.add_cleanup(config.stash[_HOST].stop)
    node.workerinput["engines"] = str(config.stash[_HOST].folder)


@pytest.fixture(scope="session")
def folder_of_run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that the workers of this run share."""
    worker: dict[str, Any] | None = getattr(request.config, "workerinput", None)
    return tmp_path_factory.mktemp("engines") if worker is None else Path(worker["engines"])


@pytest.fixture(scope="session")
def engines(request: pytest.FixtureRequest, folder_of_run: Path) -> "Iterator[RealEngines]":
    """Tests share these engines, also with other workers; each keeps to names of its own."""
    from tests.engines import shared, started

    if hasattr(request.config, "workerinput"):
        yield shared(folder_of_run)
        return
    with started(folder_of_run) as running:
        yield running


@pytest.fixture(scope="session")
def one_at_a_time(folder_of_run: Path) -> "Callable[[str], FileLock]":
    """Locks for what engines have once: only one test of all workers uses it at a time.

    xdist's groups do not do that: with pytest 9.2 xdist 3.8 ignores its mark `xdist_group`.
    """
    from filelock import FileLock

    return lambda name: FileLock(folder_of_run / f"{name}.lock")


@pytest.fixture
def aliases(one_at_a_time: "Callable[[str], FileLock]") -> "Iterator[None]":
    """For tests that change aliases or delete indexes.

    OpenSearch refuses to change any alias while another request deletes any index.
    """
    with one_at_a_time("aliases"):
        yield
