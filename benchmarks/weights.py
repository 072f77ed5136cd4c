"""`python -m benchmarks.weights`: OpenSearch's processor seconds for searches at each limit.

It also measures the searches of others while one user sends the six heaviest at once. It fails if a
search at a limit takes more than `MOST_SECONDS`.
"""

import random
import statistics
import string
import sys
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psutil
import typer

from backend.core.search_engine import JsonObject
from backend.domains.access.policy.search_filter import EVERYTHING
from backend.search.query.models import SearchBody
from backend.search.query.plan import SearchPlan, to_opensearch
from backend.search.query.queries import plan_search
from backend.search.query.weights import MAX_WEIGHT, weigh
from benchmarks.access import cluster
from benchmarks.relevance.corpus import things
from benchmarks.relevance.measure import Collection

MOST_SECONDS = 0.5
# The weights do not depend on the number of documents.
THINGS = 1200
REPEATS = 3
USUAL = 60
"""Searches of others in each measurement."""
HEAVY = 6
"""Searches of one user at once."""
_chance = random.Random(5)


def word(length: int) -> str:
    """Return a word that no earlier search has, so that no cache answers."""
    return "".join(_chance.choices(string.ascii_lowercase, k=length))


def words(count: int, length: int, end: str = "") -> str:
    return " ".join(word(length) + end for _ in range(count))


def filters(*conditions: str) -> list[JsonObject]:
    step = 60
    texts = (" ".join(conditions[n : n + step]) for n in range(0, len(conditions), step))
    return [{"query_string": {"query": text}} for text in texts]


def ranges() -> list[JsonObject]:
    return [{"from": n, "to": n + 1} for n in range(20)]


CASES: Mapping[str, Callable[[], dict[str, Any]]] = {
    "ten words of 8 letters": lambda: {"query": words(10, 8)},
    "ten words of 32 letters": lambda: {"query": words(10, 32)},
    "a hundred words": lambda: {"query": words(100, 8)},
    "a hundred words with *": lambda: {"query": words(100, 3, "*")},
    "five words, two with ~2": lambda: {"query": f"{words(3, 32, '~1')} {words(2, 12, '~2')}"},
    "ten signs": lambda: {"query": " ".join(chr(0x1F600 + n) for n in range(10))},
    "negated conditions on words": lambda: {
        "filters": filters(*(f"-str_assetname:{word(8)}" for _ in range(900)))
    },
    "negated conditions on metadata": lambda: {
        "filters": filters(*(f"-MD_{word(5)}:{word(8)}" for _ in range(900)))
    },
    "fifty words without a field": lambda: {
        "filters": filters(*(f"-{word(8)}" for _ in range(50)))
    },
    "ten patterns of thirty wildcards": lambda: {
        "filters": filters(*("-" + "".join(f"*{word(1)}" for _ in range(30)) for _ in range(10)))
    },
    "letters with many forms": lambda: {
        "filters": filters(*(f"-str_assetid:{'é' * 60}{word(4)}" for _ in range(40)))
    },
    "a hundred elements of metadata": lambda: {
        "metadataQuery": " OR ".join(f"{word(6)}:{word(8)}" for _ in range(100))
    },
    "ten parts of metadata": lambda: {"metadataQuery": " OR ".join(word(100) for _ in range(10))},
    "twenty filters of a hundred values": lambda: {
        "metadataFilters": [
            {"key": word(5), "op": "in", "value": [word(8) for _ in range(100)]} for _ in range(20)
        ]
    },
    "all facets": lambda: {
        "metadataFacets": [{"key": word(5), "size": 100, "ranges": ranges()} for _ in range(10)],
        "histograms": ["num_filesize", "date_lastmodified"],
    },
    "folded, with facets": lambda: {
        "query": words(3, 8),
        "foldFiles": True,
        "metadataFacets": [{"key": word(5)} for _ in range(10)],
    },
}


def plan_of(body: Mapping[str, Any]) -> SearchPlan:
    plain = {"aggregations": False, "includeHighlights": False, **body}
    return plan_search(SearchBody.model_validate(plain), EVERYTHING)


def main() -> None:
    """Measure, print, and compare with the limit."""
    with TemporaryDirectory() as folder, cluster(Path(folder)) as engine:
        collection = Collection(engine, "weights", "boolean")
        collection.fill(things()[:THINGS])
        process = max(
            psutil.Process().children(recursive=True), key=lambda child: child.memory_info().rss
        )

        def search(body: Mapping[str, Any]) -> None:
            engine.search(collection.names, to_opensearch(plan_of(body)))

        def seconds_of(case: Callable[[], dict[str, Any]]) -> float:
            bodies = [case() for _ in range(REPEATS)]
            before = process.cpu_times()
            for body in bodies:
                search(body)
            after = process.cpu_times()
            return (after.user + after.system - before.user - before.system) / REPEATS

        def slowest() -> float:
            taken: list[float] = []
            for _ in range(USUAL):
                begun = time.perf_counter()
                search({"query": words(2, 6)})
                taken.append(time.perf_counter() - begun)
            return statistics.quantiles(taken, n=100)[98]

        for case in CASES.values():  # once, so that the compiler is not measured
            seconds_of(case)
        seconds = {name: seconds_of(case) for name, case in CASES.items()}
        weights = {name: sum(weigh(plan_of(case())).values()) for name, case in CASES.items()}
        for name, taken in seconds.items():
            allowed = "" if weights[name] <= MAX_WEIGHT else ", refused"
            typer.echo(f"{taken:6.3f} s, weight {weights[name]:5.1f}{allowed}: {name}")
        allowed_cases = [name for name in CASES if weights[name] <= MAX_WEIGHT]
        worst = sorted(allowed_cases, key=lambda name: seconds[name])[-HEAVY:]
        alone = slowest()
        with ThreadPoolExecutor(HEAVY) as pool:
            for name in worst:
                pool.submit(search, CASES[name]())
            beside = slowest()
        typer.echo(f"p99 of others: {alone:.3f} s alone, {beside:.3f} s beside {HEAVY} heavy ones")
    if any(seconds[name] > MOST_SECONDS for name in allowed_cases):
        sys.exit(f"a search within the limits takes more than {MOST_SECONDS} s")


if __name__ == "__main__":
    typer.run(main)
