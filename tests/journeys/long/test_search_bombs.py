"""One user's searches over half a gigabyte of metadata, while another user searches as usual.

240 assets have 2 MB of metadata each, and one page requests 160 of them: their sources together
exceed OpenSearch's memory.
"""

import statistics
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import psutil

from tests.journeys.large_documents import new_large_assets
from tests.journeys.runtime import Api, Runtime, wait_until

ASSETS = 240
PAGE = 160
SEARCHES = 100
ROUNDS = 3
"""Number of measurements; the minimum counts, because other load only makes a search longer."""
TIMES_AS_LONG = 2.0
INDEXED_SECONDS = 900
BOMBS: tuple[dict[str, Any], ...] = (
    {"size": PAGE},
    {"size": PAGE, "after": ""},
    {"size": PAGE, "query": "bomb"},
    {"size": PAGE, "sort": [{"field": "metadata.key1"}]},
    {"size": PAGE, "metadataFacets": [{"key": "key1", "size": 100}]},
)


@dataclass
class Attacker:
    """Sends one large search after the other."""

    api: Api
    statuses: list[int] = field(default_factory=list[int])
    stopped: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        while not self.stopped.is_set():
            for body in BOMBS:
                self.statuses.append(self.api.send("POST", "/search", body).status_code)


@contextmanager
def attacked(api: Api) -> Generator[Attacker]:
    """Run large searches while the block runs."""
    attacker = Attacker(api)
    thread = threading.Thread(target=attacker.run)
    thread.start()
    try:
        yield attacker
    finally:
        attacker.stopped.set()
        thread.join()


def median_of_searches(api: Api) -> float:
    """The seconds of a usual search."""
    taken: list[float] = []
    for number in range(SEARCHES):
        begun = time.perf_counter()
        api.ok("POST", "/search", {"query": f"pump {number % 10}", "size": 10})
        taken.append(time.perf_counter() - begun)
    return statistics.median(taken)


def engine_of(runtime: Runtime) -> int:
    """The process of OpenSearch."""
    runner = psutil.Process(runtime.endpoint["pid"])
    (found,) = (
        one.pid
        for one in runner.children(recursive=True)
        if "org.opensearch.bootstrap.OpenSearch" in one.cmdline()
    )
    return found


def test_large_searches_end_nothing_and_slow_others_down_little(own_runtime: Runtime) -> None:
    own_runtime.up()
    api = own_runtime.client()
    database = api.new_database("bombs")
    for number in range(10):
        api.new_asset(database, f"pump {number}")
    new_large_assets(api, database, ASSETS)
    indexed = {"databaseId": database, "metadataKey": "key63", "size": 0}

    def found() -> int:
        return api.ok("POST", "/search/simple", indexed)["hits"]["total"]["value"]

    wait_until(lambda: found() == ASSETS, seconds=INDEXED_SECONDS, every=1)
    own_runtime.drain()
    engine = engine_of(own_runtime)
    other = own_runtime.client()
    median_of_searches(other)  # code is loaded and caches are filled
    usual: list[float] = []
    under_attack: list[float] = []
    statuses: set[int] = set()
    for _ in range(ROUNDS):
        usual.append(median_of_searches(other))
        with attacked(own_runtime.client()) as attacker:
            wait_until(lambda: len(attacker.statuses) >= len(BOMBS))
            under_attack.append(median_of_searches(other))
        statuses |= set(attacker.statuses)
    assert statuses == {200}
    assert engine_of(own_runtime) == engine
    assert min(under_attack) < TIMES_AS_LONG * min(usual)
