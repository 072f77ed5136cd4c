"""The engines of a run are started for the test that first needs them, and serve all workers."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from local.engines import EngineError
from tests import engines
from tests.engines import UrlsOnRequest


class StartedEngine(NamedTuple):
    endpoint: SimpleNamespace

    def stop(self, timeout: float) -> None: ...


@pytest.fixture
def starts(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """The names of the engines that were started, start by start."""
    result: list[tuple[str, ...]] = []

    def start(folder: Path, names: tuple[str, ...]) -> dict[str, Any]:
        result.append(names)
        return {names[0]: StartedEngine(SimpleNamespace(url=f"http://{names[0]}"))}

    monkeypatch.setattr(engines, "start", start)
    return result


@pytest.fixture
def host(starts: list[tuple[str, ...]]) -> Iterator[engines.EngineHost]:
    made = engines.EngineHost()
    yield made
    made.stop()


def test_an_engine_is_started_once_for_all_workers_and_no_other_with_it(
    host: engines.EngineHost, starts: list[tuple[str, ...]]
) -> None:
    assert starts == []
    with ThreadPoolExecutor(4) as workers:
        replies = list(workers.map(UrlsOnRequest(host.folder).__getitem__, ["dynamodb"] * 4))
    assert replies == ["http://dynamodb"] * 4
    assert starts == [("dynamodb",)]
    assert UrlsOnRequest(host.folder)["s3"] == "http://s3"
    assert starts == [("dynamodb",), ("s3",)]


def test_a_start_that_fails_is_reported_to_each_worker(
    host: engines.EngineHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(folder: Path, names: tuple[str, ...]) -> dict[str, Any]:
        raise EngineError("dynamodb ended with code 1")

    monkeypatch.setattr(engines, "start", fail)
    for _ in range(2):
        with pytest.raises(EngineError, match="dynamodb ended with code 1"):
            _ = UrlsOnRequest(host.folder)["dynamodb"]


def test_an_unknown_engine_is_no_request(host: engines.EngineHost) -> None:
    with pytest.raises(KeyError):
        _ = UrlsOnRequest(host.folder)["mysql"]
    assert not list(host.folder.iterdir())


def test_nothing_is_started_where_no_worker_needs_engines(starts: list[tuple[str, ...]]) -> None:
    host = engines.EngineHost()
    host.stop()
    assert starts == []
    assert not host.folder.exists()
