"""The time from the reply to a write until search finds it, at a steady rate of writes."""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import httpx

from benchmarks.pacing import Percentiles, at_rate
from tests.journeys.runtime import Api

RATE = 25.0  # API writes per second, each to another asset
ASSETS = 200
_LOOK_EVERY = 0.05
_PATIENCE = 60.0  # maximum seconds of the last write


@dataclass(frozen=True)
class Lag:
    """`found` are seconds from the reply to a write until the first search that shows it."""

    rate: float
    lags: Sequence[float]
    percentiles: Percentiles


@dataclass
class _Pending:
    """Writes that search does not show yet: asset → number of the write and time of its reply.

    A later write to the same asset also shows the earlier ones.
    """

    writes: dict[str, list[tuple[int, float]]] = field(
        default_factory=dict[str, list[tuple[int, float]]]
    )
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, asset: str, number: int) -> None:
        at = time.perf_counter()
        with self.lock:
            self.writes.setdefault(asset, []).append((number, at))

    def take(self, asset: str, shown: int, now: float) -> list[float]:
        """The seconds of each write that search shows now."""
        with self.lock:
            waiting = self.writes.pop(asset, [])
            later = [write for write in waiting if write[0] > shown]
            if later:
                self.writes[asset] = later
        return [max(0.0, now - at) for number, at in waiting if number <= shown]

    def assets(self) -> list[str]:
        with self.lock:
            return list(self.writes)


def measure(
    api: Api, opensearch: str, *, seconds: float, new: Callable[[str], tuple[str, list[str]]]
) -> Lag:
    """Change descriptions at `RATE` and search for them until the last one is found.

    `new` creates a database with assets. The engine itself is polled, twenty times a second, so
    that polling does not slow the functions down.

    Raises:
        RuntimeError: a write is not found within a minute.
    """
    database, assets = new("lag")
    pending, lags = _Pending(), list[float]()
    ended = threading.Event()
    watcher = threading.Thread(target=_watch, args=(opensearch, database, pending, lags, ended))

    def write(number: int) -> None:
        asset = assets[number % len(assets)]
        body = {"description": f"write {number}"}
        api.ok("PUT", f"/database/{database}/assets/{asset}", body)
        pending.add(asset, number)

    watcher.start()
    try:
        reached = at_rate(RATE, seconds, write)
    finally:
        ended.set()
        watcher.join()
    if pending.writes:
        raise RuntimeError(f"{len(pending.writes)} assets are not as they were written")
    return Lag(reached, lags, Percentiles.of(lags))


def _watch(
    opensearch: str, database: str, pending: _Pending, lags: list[float], ended: threading.Event
) -> None:
    give_up: float | None = None
    with httpx.Client(base_url=opensearch, timeout=30) as http:
        while not ended.is_set() or pending.assets():
            now = time.perf_counter()
            if ended.is_set():
                give_up = give_up or now + _PATIENCE
                if now > give_up:
                    return
            for asset, shown in _shown(http, database, pending.assets()).items():
                lags += pending.take(asset, shown, time.perf_counter())
            time.sleep(_LOOK_EVERY)


def _shown(http: httpx.Client, database: str, assets: Sequence[str]) -> dict[str, int]:
    """The number of the last write of each asset that search shows."""
    if not assets:
        return {}
    body = {
        "query": {"ids": {"values": [f"{database}:{asset}" for asset in assets]}},
        "size": len(assets),
        "_source": ["str_assetid", "str_description"],
    }
    answer = http.post("/assets-*/_search", json=body).raise_for_status().json()
    sources = [hit["_source"] for hit in answer["hits"]["hits"]]
    return {
        source["str_assetid"]: int(source["str_description"].removeprefix("write "))
        for source in sources
        if str(source["str_description"]).startswith("write ")
    }
