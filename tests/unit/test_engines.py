"""The engines of a run are started for its first worker, and serve all of them."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from local.engines import EngineError, Running
from tests import engines


@pytest.fixture
def starts(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The folders in which engines were started."""
    found: list[Path] = []

    def start(folder: Path) -> dict[str, Running]:
        found.append(folder)
        return {}

    monkeypatch.setattr(engines, "start", start)
    return found


@pytest.fixture
def host(starts: list[Path]) -> Iterator[engines.EngineHost]:
    made = engines.EngineHost()
    yield made
    made.stop()


def test_engines_are_started_once_for_all_workers(
    host: engines.EngineHost, starts: list[Path]
) -> None:
    assert starts == []
    with ThreadPoolExecutor(4) as workers:
        replies = list(workers.map(engines.shared, [host.folder] * 4))
    assert replies == [engines.RealEngines({})] * 4
    assert starts == [host.folder]


def test_a_start_that_fails_is_reported_to_each_worker(
    host: engines.EngineHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(folder: Path) -> dict[str, Running]:
        raise EngineError("dynamodb ended with code 1")

    monkeypatch.setattr(engines, "start", fail)
    for _ in range(2):
        with pytest.raises(EngineError, match="dynamodb ended with code 1"):
            engines.shared(host.folder)


def test_nothing_is_started_where_no_worker_needs_engines(starts: list[Path]) -> None:
    host = engines.EngineHost()
    host.stop()
    assert starts == []
    assert not host.folder.exists()
