"""Hostile clients: large searches, exports and uploads beside other clients."""

import math
import statistics
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any

import httpx
import psutil
import pytest

from tests.journeys.attacks.actors import ANY_ROUTE, connect, new_role, new_user
from tests.journeys.many_files import new_large_assets
from tests.journeys.replaying import PATIENCE
from tests.journeys.runtime import Api, Runtime, wait_until

CLIENTS = 31
LARGE_ASSETS = 40
ROUNDS = 3
SECONDS = 30.0
PAUSE = 1.5
"""Average seconds between two requests of a usual client: two cores run the whole deployment,
engines included, and clients that never pause would use them completely."""
SHARE = 0.5
"""Minimum share of the requests of usual clients beside the hostile client, relative to those
without it."""
PART = b"x" * (5 * 1024 * 1024)
REFUSED_BY_LIMITS = {413, 429}
LARGEST: tuple[dict[str, Any], ...] = (
    {"size": LARGE_ASSETS},
    {"size": LARGE_ASSETS, "query": "bomb*", "aggregations": True},
    {"size": LARGE_ASSETS, "sort": [{"field": "metadata.key1"}]},
    {"size": LARGE_ASSETS, "metadataFacets": [{"key": "key1", "size": 100}]},
)


@dataclass(frozen=True)
class Place:
    """The data of the clients: a database, usual assets, and the root of a tree of large ones."""

    database: str
    assets: tuple[str, ...]
    root: str

    def path(self, asset: str) -> str:
        return f"/database/{self.database}/assets/{asset}"


@dataclass
class Round:
    """The results of usual clients for a while: the seconds of each request, and errors."""

    taken: list[float] = field(default_factory=list[float])
    wrong: list[str] = field(default_factory=list[str])

    def work(self, api: Api, place: Place, seed: int) -> None:
        random = Random(seed)
        acts = (_get, _get, _list, _search, _files, _upload)
        end = time.monotonic() + SECONDS
        time.sleep(random.random() * PAUSE)  # so that they do not begin at the same time
        while time.monotonic() < end:
            begun = time.perf_counter()
            try:
                random.choice(acts)(api, place, random)
            except (AssertionError, httpx.HTTPError) as error:
                self.wrong.append(repr(error))
            self.taken.append(time.perf_counter() - begun)
            time.sleep(2 * PAUSE * random.random())


def _get(api: Api, place: Place, random: Random) -> None:
    api.ok("GET", place.path(random.choice(place.assets)))


def _list(api: Api, place: Place, random: Random) -> None:
    api.ok("GET", f"/database/{place.database}/assets?maxItems=20")


def _search(api: Api, place: Place, random: Random) -> None:
    api.ok("POST", "/search", {"query": f"pump {random.randrange(10)}", "size": 10})


def _files(api: Api, place: Place, random: Random) -> None:
    api.ok("GET", f"{place.path(random.choice(place.assets))}/listFiles")


def _upload(api: Api, place: Place, random: Random) -> None:
    name = f"/small-{random.getrandbits(60):x}.txt"
    api.upload(place.database, random.choice(place.assets), {name: [b"small"]})


@dataclass
class Hostile:
    """Sends one large request after the other, over three connections."""

    apis: tuple[Api, ...]
    place: Place
    statuses: list[int] = field(default_factory=list[int])
    stopped: threading.Event = field(default_factory=threading.Event)

    def search(self, api: Api) -> Iterable[httpx.Response]:
        return (api.send("POST", "/search", body) for body in LARGEST)

    def export(self, api: Api) -> Iterable[httpx.Response]:
        body = {"fetchEntireChildrenSubtrees": True, "maxAssets": 1000}
        yield api.send("POST", f"{self.place.path(self.place.root)}/export", body)

    def upload(self, api: Api) -> Iterable[httpx.Response]:
        """Begin an upload of many parts, send some of them, and abandon it."""
        scope = {"databaseId": self.place.database, "assetId": self.place.root}
        files = [{"relativeKey": "/endless.bin", "num_parts": 100, "file_size": 100 * len(PART)}]
        body = {**scope, "uploadType": "assetFile", "files": files}
        begun = api.send("POST", "/uploads", body)
        yield begun
        if begun.status_code == 200:
            for url in begun.json()["files"][0]["partUploadUrls"][:3]:
                if not self.stopped.is_set():
                    yield httpx.put(url["UploadUrl"], content=PART, timeout=PATIENCE)

    def run(self, act: Callable[[Api], Iterable[httpx.Response]], api: Api) -> None:
        while not self.stopped.is_set():
            self.statuses += [answer.status_code for answer in act(api)]


@contextmanager
def attacked(apis: tuple[Api, ...], place: Place) -> Generator[Hostile]:
    """Run the hostile client while the block runs."""
    hostile = Hostile(apis, place)
    acts = (hostile.search, hostile.export, hostile.upload)
    threads = [
        threading.Thread(target=hostile.run, args=item) for item in zip(acts, apis, strict=True)
    ]
    for thread in threads:
        thread.start()
    try:
        yield hostile
    finally:
        hostile.stopped.set()
        for thread in threads:
            thread.join()


def worked(apis: tuple[Api, ...], place: Place) -> Round:
    """A round of all usual clients."""
    done = Round()
    threads = [
        threading.Thread(target=done.work, args=(api, place, number))
        for number, api in enumerate(apis)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return done


def p99(taken: list[float]) -> float:
    return sorted(taken)[math.ceil(0.99 * len(taken)) - 1]


def prepared(runtime: Runtime) -> tuple[Place, tuple[Api, ...], tuple[Api, ...]]:
    """A place, the connections of the usual clients, a user each, and those of the hostile one."""
    admin = runtime.client()
    database = admin.new_database("crowded")
    assets = tuple(admin.new_asset(database, f"pump {number}") for number in range(20))
    root = admin.new_asset(database, "root")
    for child in new_large_assets(admin, database, LARGE_ASSETS):
        ends = {"fromAssetDatabaseId": database, "fromAssetId": root, "toAssetId": child}
        link = {**ends, "toAssetDatabaseId": database, "relationshipType": "parentChild"}
        admin.ok("POST", "/asset-links", link)
    kinds = ("database", "asset")
    role = new_role(admin, ANY_ROUTE, *((kind, "databaseId", "equals", database) for kind in kinds))
    usual = tuple(connect(runtime, new_user(admin, role)) for _ in range(CLIENTS))
    hostile = new_user(admin, role)
    wanted = {"databaseId": database, "metadataKey": "key63", "size": 0}

    def indexed() -> bool:
        value = admin.ok("POST", "/search/simple", wanted)["hits"]["total"]["value"]
        return value == LARGE_ASSETS

    wait_until(indexed, seconds=PATIENCE, every=1)
    runtime.drain()
    return Place(database, assets, root), usual, tuple(connect(runtime, hostile) for _ in range(3))


def test_other_clients_get_replies_beside_one_hostile_client(
    own_runtime: Runtime, capsys: pytest.CaptureFixture[str]
) -> None:
    own_runtime.up()
    place, usual, hostile = prepared(own_runtime)
    worked(usual, place)  # code is loaded, processes are started
    shares: list[float] = []
    for _ in range(ROUNDS):
        quiet = worked(usual, place)
        with attacked(hostile, place) as attacker:
            wait_until(lambda: len(attacker.statuses) >= len(LARGEST))
            loud = worked(usual, place)
        assert quiet.wrong == loud.wrong == []
        assert set(attacker.statuses) <= {200, *REFUSED_BY_LIMITS}
        shares.append(len(loud.taken) / len(quiet.taken))
        alone, beside = p99(quiet.taken), p99(loud.taken)
        with capsys.disabled():
            sys.stdout.write(
                f"\np99 of {len(quiet.taken)} requests alone {alone:.3f} s, of "
                f"{len(loud.taken)} beside the hostile client {beside:.3f} s, {beside / alone:.1f} "
                f"times ({len(attacker.statuses)} requests of its own)\n"
            )
    assert max(shares) > SHARE


ASSETS = 240
PAGE = 160
SEARCHES = 100
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
def bombed(api: Api) -> Generator[Attacker]:
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
    (item,) = (
        child.pid
        for child in runner.children(recursive=True)
        if "org.opensearch.bootstrap.OpenSearch" in child.cmdline()
    )
    return item


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
        with bombed(own_runtime.client()) as attacker:
            wait_until(lambda: len(attacker.statuses) >= len(BOMBS))
            under_attack.append(median_of_searches(other))
        statuses |= set(attacker.statuses)
    assert statuses == {200}
    assert engine_of(own_runtime) == engine
    assert min(under_attack) < TIMES_AS_LONG * min(usual)
