"""Measures latency, throughput, lag, imports and memory of the whole product, in one run."""

import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks import lag, soak
from benchmarks.pacing import Percentiles, per_second, seconds_of
from benchmarks.product import ECHO_PATH, served
from tests.journeys.runtime import Api, Runtime, noise

ROUNDS = 200
# DynamoDB Local is compiled while it is used: the processor time of a read halves within the first
# thousand.
WARM_READS, WARM_WRITES = 300, 5
"""Calls before the measured ones."""
_BUSY_SECONDS = 5.0
_LAG_SECONDS = 60.0
_FOLDERS, _FILES = 12, 100  # of the import
ECHO, GET = "echo", "get an asset"

# The SDK takes 2.1 to 2.5 times the echo (decision 39).
GET_PER_ECHO = 2.6
"""The target median of a warm GET, relative to the median of the echo."""
LAG_P50, LAG_P99 = 2.0, 5.0
"""Maximum seconds until search finds a write."""


@dataclass(frozen=True)
class Service:
    """`latencies` in seconds; `throughput` in replies per second."""

    latencies: Mapping[str, Percentiles]
    throughput: Mapping[str, float]
    lag: lag.Lag
    imported: Mapping[str, Any]
    memory: soak.Memory

    @property
    def get_per_echo(self) -> float:
        return self.latencies[GET].p50 / self.latencies[ECHO].p50

    def misses(self) -> list[str]:
        """The targets that are missed, in words."""
        lag = self.lag.percentiles
        targets = (
            (self.get_per_echo > GET_PER_ECHO, f"GET takes {self.get_per_echo:.2f} echoes"),
            (lag.p50 > LAG_P50, f"half of the writes are found after {lag.p50:.2f} s"),
            (lag.p99 > LAG_P99, f"a hundredth is found only after {lag.p99:.2f} s"),
        )
        return [text for missed, text in targets if missed]

    def as_json(self) -> dict[str, Any]:
        return {
            "getPerEcho": self.get_per_echo,
            "latencySeconds": {name: asdict(latency) for name, latency in self.latencies.items()},
            "answersPerSecond": dict(self.throughput),
            "lag": {"writesPerSecond": self.lag.rate, "seconds": asdict(self.lag.percentiles)},
            "import": dict(self.imported),
            "memoryGrowth": self.memory.growth(),
            "memoryMebibytes": {"minutes": self.memory.minutes, **self.memory.processes},
        }


def measure(say: Callable[[str], None], *, minutes: float) -> Service:
    """Measure everything, memory for this number of minutes.

    Raises:
        RuntimeError: the product does not start, or loses a write.
    """
    with served(say) as runtime:
        api = runtime.client()
        bucket = api.ok("GET", "/buckets")["Items"][0]["bucketId"]
        new = _maker(api, bucket)
        say("latencies")
        latencies = _latencies(runtime, new)
        throughput = _throughput(api, new)
        runtime.drain()
        say(f"lag at {lag.RATE:g} writes a second")
        behind = lag.measure(api, runtime.endpoint["opensearch"], seconds=_LAG_SECONDS, new=new)
        say(f"importing {_FOLDERS * _FILES} files")
        imported = _import(runtime)
        say(f"an hour in {minutes:g} minutes")
        database, assets = new("soak")
        memory = soak.measure(runtime, minutes=minutes, database=database, assets=assets)
    return Service(latencies, throughput, behind, imported, memory)


def _maker(api: Api, bucket: str) -> Callable[[str], tuple[str, list[str]]]:
    def new(name: str) -> tuple[str, list[str]]:
        body = {"databaseId": name, "description": "a benchmark's", "defaultBucketId": bucket}
        api.ok("POST", "/database", body)
        return name, [api.new_asset(name, f"{name} {n}") for n in range(lag.ASSETS)]

    return new


def _latencies(
    runtime: Runtime, new: Callable[[str], tuple[str, list[str]]]
) -> dict[str, Percentiles]:
    """Call each operation in turn, so that all have the same conditions.

    Writes come after reads, because the work that they cause behind the API takes processor time,
    too.
    """
    api = runtime.client()
    database, assets = new("latency")
    runtime.drain()
    path = f"/database/{database}/assets/{assets[0]}"
    numbers = iter(range((WARM_READS + ROUNDS) * 10))
    reads: dict[str, Callable[[], Any]] = {
        ECHO: lambda: api.ok("GET", ECHO_PATH),
        GET: lambda: api.ok("GET", path),
        "list 100 assets": lambda: api.ok("GET", f"/database/{database}/assets?maxItems=100"),
        "search": lambda: api.search(query=f"latency {next(numbers)}"),
    }
    writes: dict[str, Callable[[], Any]] = {
        "create an asset": lambda: api.new_asset(database, f"more {next(numbers)}"),
        "change an asset": lambda: api.ok("PUT", path, {"description": f"is {next(numbers)}"}),
    }
    return {**_in_turn(reads, warm=WARM_READS), **_in_turn(writes, warm=WARM_WRITES)}


def _in_turn(calls: Mapping[str, Callable[[], Any]], *, warm: int) -> dict[str, Percentiles]:
    for _ in range(warm):
        for call in calls.values():
            call()
    taken: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(ROUNDS):
        for name, call in calls.items():
            taken[name].append(seconds_of(call))
    return {name: Percentiles.of(seconds) for name, seconds in taken.items()}


def _throughput(api: Api, new: Callable[[str], tuple[str, list[str]]]) -> dict[str, float]:
    """Medians of three rounds."""
    database, assets = new("busy")
    path = f"/database/{database}/assets/{assets[0]}"
    calls = {ECHO: ECHO_PATH, GET: path}
    rates: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(3):
        for name, target in calls.items():
            rates[name].append(per_second(_BUSY_SECONDS, lambda to=target: api.ok("GET", to)))
    return {name: median(values) for name, values in rates.items()}


def _import(runtime: Runtime) -> dict[str, Any]:
    """Return the result of the client's demo: all files imported, and found by search."""
    with TemporaryDirectory(prefix="vitrine-bench-files-") as name:
        for folder in range(_FOLDERS):
            place = Path(name) / f"folder {folder}"
            place.mkdir()
            for file in range(_FILES):
                (place / f"{file}.bin").write_bytes(noise(2000, f"{folder}/{file}"))
        endpoint = str(runtime.state / "endpoint.json")
        command = [sys.executable, "-m", "vitrine", "demo", name, "--endpoint", endpoint]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"the import failed: {done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])
