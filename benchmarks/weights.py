"""`python -m benchmarks.weights`: OpenSearch's processor seconds for searches at the limit.

Each kind of search is sent with as many words, conditions or facets as its weight allows. Then one
user sends the six heaviest at once, beside searches of others. It fails if a search takes more than
`MOST_SECONDS`.
"""

import random
import statistics
import string
import sys
import time
from bisect import bisect_right
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psutil
import typer

from backend.core.errors import InvalidInputError
from backend.core.identity import Identity
from backend.core.ids import new_uuid
from backend.core.search_engine import JsonObject
from backend.domains.access.policy.search_filter import EVERYTHING
from backend.search.query.models import SearchBody
from backend.search.query.queries import plan_search
from backend.search.query.weights import MAX_WEIGHT, check_weight
from benchmarks.access import cluster
from benchmarks.relevance.corpus import things
from benchmarks.relevance.measure import Collection

MOST_SECONDS = 0.5
# What these searches cost depends little on the number of documents.
THINGS = 1200
REPEATS = 2
USUAL = 60
"""Searches of others in each measurement."""
HEAVY = 6
"""Searches of one user at once."""
Body = dict[str, Any]
PLAIN: Body = {"aggregations": False, "includeHighlights": False}
PAGE: Body = {
    "includeHighlights": False,
    "foldFiles": True,
    "size": 50,
    "metadataFacets": [{"key": f"fact_{name}"} for name in ("format", "unit", "taken")],
    "histograms": ["num_filesize", "date_lastmodified"],
}
_chance = random.Random(5)


def word(length: int) -> str:
    """Return a word that no earlier search has, so that no cache answers."""
    return "".join(_chance.choices(string.ascii_lowercase, k=length))


def words(count: int, length: int, end: str = "") -> str:
    return " ".join(word(length) + end for _ in range(count))


def filters(*conditions: str) -> list[JsonObject]:
    step = 50
    texts = (" ".join(conditions[n : n + step]) for n in range(0, len(conditions), step))
    return [{"query_string": {"query": text}} for text in texts]


def text(most: int, of: Callable[[int], str], **body: Any) -> tuple[int, Callable[[int], Body]]:
    return most, lambda n: {**PLAIN, **body, "query": of(n)}


def negated(most: int, of: Callable[[], str], **body: Any) -> tuple[int, Callable[[int], Body]]:
    return most, lambda n: {**PLAIN, **body, "filters": filters(*(f"-{of()}" for _ in range(n)))}


def pattern(wildcards: int) -> str:
    return "".join(f"*{word(2)}" for _ in range(wildcards))


def choices(count: int) -> Body:
    values = [{"facet": f"metadata.{word(5)}", "values": [word(8)] * 100} for _ in range(count)]
    return {**PAGE, "metadataFacets": [{"key": word(5)} for _ in range(10)], "facetChoices": values}


def facets(count: int) -> Body:
    ranges = [{"from": n, "to": n + 1} for n in range(20)]
    keys = [{"key": word(5), "size": 100, "ranges": ranges} for _ in range(count)]
    return {**PAGE, "metadataFacets": keys}


def areas(count: int) -> Body:
    place = {"lat": 47, "lon": 8, "meters": 1_000_000}
    near = [
        {"key": word(5), "op": "geoDistance", "value": {**place, "lat": n}} for n in range(count)
    ]
    return {**PLAIN, "metadataFilters": near}


def lists(count: int) -> Body:
    some = [{"key": word(5), "op": "in", "value": [word(8)] * 100} for _ in range(count)]
    return {**PLAIN, "metadataFilters": some}


def elements(of: Callable[[], str]) -> Callable[[int], Body]:
    return lambda n: {**PLAIN, "metadataQuery": " OR ".join(of() for _ in range(n))}


SIGNS = "☃☂♞♜♝♛✈✉✂☎"
# The most that other limits allow, and the search with so many parts.
CASES: Mapping[str, tuple[int, Callable[[int], Body]]] = {
    "words of 8 letters": text(10, lambda n: words(n, 8)),
    "words of 32 letters": text(10, lambda n: words(n, 32)),
    "words of 5 letters on the page": text(10, lambda n: f"gear {words(n - 1, 5)}", **PAGE),
    "words of 8 letters on the page": text(10, lambda n: f"gear {words(n - 1, 8)}", **PAGE),
    "highlighted words": text(10, lambda n: f"gear {words(n - 1, 8)}", includeHighlights=True),
    "words to correct": text(10, lambda n: words(n, 8), didYouMean=True),
    "a long word to correct": text(1, lambda _: word(32), didYouMean=True),
    "words with accents": text(10, lambda n: " ".join(f"{word(4)}éöüå" for _ in range(n))),
    "a hundred words": text(100, lambda n: words(n, 8)),
    "file names": text(5, lambda n: " ".join(f"{word(8)}.{word(8)}" for _ in range(n))),
    "beginnings": text(100, lambda n: words(n, 3, "*")),
    "words with ~1": text(5, lambda n: words(n, 32, "~1")),
    "words with ~2": text(2, lambda n: words(n, 12, "~2")),
    "highlighted words with ~2": text(2, lambda n: words(n, 12, "~2"), includeHighlights=True),
    "signs": text(10, lambda n: " ".join("".join(_chance.choices(SIGNS, k=8)) for _ in range(n))),
    "negated ids": negated(900, lambda: f"str_assetid:{word(8)}"),
    "negated words of names": negated(900, lambda: f"str_assetname:{word(8)}"),
    "negated metadata": negated(900, lambda: f"MD_{word(5)}:{word(8)}"),
    "folded metadata": negated(900, lambda: f"MD_{word(5)}:{word(8)}", foldFiles=True, size=50),
    "words without a field": negated(50, lambda: word(8)),
    "patterns without a field": negated(10, lambda: pattern(3)),
    "highlighted patterns": negated(10, lambda: pattern(3), includeHighlights=True),
    "wildcards in one pattern": (
        30,
        lambda n: {**PLAIN, "filters": filters(f"-{pattern(n)}")},
    ),
    "patterns of metadata": negated(10, lambda: f"MD_maker:{pattern(10)}"),
    "long patterns": negated(10, lambda: f"*{word(300)}*"),
    "letters with many forms": negated(900, lambda: f"str_assetid:{'é' * 60}{word(4)}"),
    "elements of metadata": (100, elements(lambda: f"{word(6)}:{word(8)}")),
    "parts of metadata": (10, elements(lambda: word(100))),
    "lists of values": (20, lists),
    "areas": (20, areas),
    "facets": (10, facets),
    "choices": (20, choices),
}


def weight_of(body: Body) -> float:
    """Return the weight of a search; infinite if it is refused."""
    try:
        return check_weight(plan_search(SearchBody.model_validate(body), EVERYTHING))
    except InvalidInputError:
        return float("inf")


def allowed(case: Callable[[int], Body], count: int) -> Body:
    """Return a search within the limit: weights of random words differ."""
    while weight_of(body := case(count)) > MAX_WEIGHT:
        pass
    return body


def main() -> None:
    """Measure, print, and compare with the limit."""
    with TemporaryDirectory() as folder, cluster(Path(folder)) as engine:
        collection = Collection(engine, "weights", "boolean")
        collection.fill(things()[:THINGS])
        process = max(
            psutil.Process().children(recursive=True), key=lambda child: child.memory_info().rss
        )

        def search(body: Body) -> None:
            # A user of its own, whose budget it does not exceed.
            collection.service.search(Identity(new_uuid()), SearchBody.model_validate(body))

        def seconds_of(bodies: list[Body]) -> float:
            before = process.cpu_times()
            for body in bodies:
                search(body)
            after = process.cpu_times()
            return (after.user + after.system - before.user - before.system) / len(bodies)

        def slowest() -> float:
            taken: list[float] = []
            for _ in range(USUAL):
                start = time.perf_counter()
                search({**PLAIN, "query": words(2, 6)})
                taken.append(time.perf_counter() - start)
            return statistics.quantiles(taken, n=100)[98]

        counts = {
            name: bisect_right(
                range(1, most + 1), MAX_WEIGHT - 0.5, key=lambda n: weight_of(case(n))
            )
            for name, (most, case) in CASES.items()
        }
        bodies = {
            name: [allowed(CASES[name][1], n) for _ in range(2 * REPEATS)]
            for name, n in counts.items()
        }
        for heavy in bodies.values():  # first, so that the compiler is not measured
            seconds_of(heavy[:REPEATS])
        seconds: dict[str, float] = {}
        for name, heavy in bodies.items():
            seconds[name] = seconds_of(heavy[REPEATS:])
            weight = weight_of(heavy[-1])
            typer.echo(f"{seconds[name]:6.3f} s, weight {weight:4.1f}: {counts[name]} {name}")
        worst = sorted(bodies, key=lambda name: seconds[name])[-HEAVY:]
        alone = slowest()
        with ThreadPoolExecutor(HEAVY) as pool:
            for name in worst:
                pool.submit(search, allowed(CASES[name][1], counts[name]))
            beside = slowest()
        typer.echo(f"p99 of others: {alone:.3f} s alone, {beside:.3f} s beside {HEAVY} heavy ones")
    if max(seconds.values()) > MOST_SECONDS:
        sys.exit(f"a search within the limits takes more than {MOST_SECONDS} s")


if __name__ == "__main__":
    typer.run(main)
