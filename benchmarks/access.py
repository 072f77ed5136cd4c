"""`python -m benchmarks.access`: the cost of permissions, as ratios to the same without them.

Measured are the predicate with 200 rules, relative to a direct evaluation of them, and searches
over 100,000 documents with 200 rules, alternating with the same searches without rules. It fails
above the targets. The first search with rules is reported, too, because OpenSearch caches a filter
only after some uses.
"""

import json
import random
import sys
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from opensearchpy import OpenSearch

from backend.aws.search_engine import OpenSearchEngine
from backend.core.search_engine import DocumentWrite, JsonObject
from backend.domains.access.policy.model import (
    ALLOW,
    DENY,
    FIELDS_OF,
    LIST_OPERATORS,
    NEGATIONS,
    OPERATORS,
    Criterion,
    Fields,
    Rule,
)
from backend.domains.access.policy.predicate import Predicate
from backend.domains.access.policy.search_filter import EVERYTHING, search_filter
from backend.domains.buckets.models import AssetBucket
from backend.search.indexing.projections import AssetSource, project
from backend.search.query.models import SearchBody
from backend.search.query.plan import to_opensearch
from backend.search.query.queries import plan_search
from backend.spec.search_indexes import ASSET_INDEX
from local.engines import Options, prepare_all, start_all, stop_all
from tests.engines import TOOLS
from tests.factories.policies import read_plainly
from tests.factories.search import asset_row

RULES = 200
DOCUMENTS = 100_000
MICROSECONDS, RATIO = 20.0, 1.5
"""The targets: microseconds per object, and the time of a search relative to one without rules."""

_DATABASES, _NAMES, _TAGS = 50, 5000, 300
_ROUNDS, _WARMING = 40, 10
_BUCKET = AssetBucket(bucket_id="b1", bucket_name="bucket", base_assets_prefix="/")
_WORDS = ("pump", "valve", "engine", "wheel", "bridge")
_CREATED = 201
_QUERIES: Mapping[str, Callable[[int], SearchBody]] = {
    "everything": lambda _: SearchBody(aggregations=False, size=50),
    "a word": lambda n: SearchBody(query=_WORDS[n % 5], aggregations=False, size=50),
    "a beginning": lambda n: SearchBody(query=f"{_WORDS[n % 5]} {n}*", aggregations=False, size=50),
    "facets of everything": lambda _: SearchBody(aggregations=True, size=50),
    "facets of a word": lambda n: SearchBody(query=_WORDS[n % 5], aggregations=True, size=50),
}


def main() -> int:
    """Print the figures; return 1 if one exceeds its target."""
    chance = random.Random(1)
    rules = rules_on_assets(chance)
    microseconds, plainly = _predicate(rules, [_object(chance) for _ in range(500)])
    _say(f"predicate at {RULES} rules: {microseconds:.1f} µs an object, {plainly:.0f} times as")
    _say("fast as a plain reading")
    with TemporaryDirectory() as folder, cluster(Path(folder)) as engine:
        seed(engine, chance)
        ratios = compared(engine, search_filter(rules) or {"match_none": {}})
    worst = max(ratios)
    _say(f"worst search under {RULES} rules: {worst:.2f} of the same without")
    return int(microseconds > MICROSECONDS or worst > RATIO)


def rules_on_assets(chance: random.Random) -> list[Rule]:
    """The policy that is measured."""
    return [_rule(chance, number) for number in range(RULES)]


def _rule(chance: random.Random, number: int) -> Rule:
    """Three of four rules allow; each names a database, and mostly one or two other criteria."""
    operators = [operator for operator in OPERATORS if number % 4 or operator not in NEGATIONS]
    block = [Criterion("databaseId", "equals", (f"database-{chance.randrange(_DATABASES)}",))]
    for operator in chance.choices(operators, k=chance.randrange(3)):
        block += [_criterion(chance, operator)]
    return Rule(str(number), "asset", tuple(block), (), {"GET": ALLOW if number % 4 else DENY})


def _criterion(chance: random.Random, operator: str) -> Criterion:
    field = chance.choice(FIELDS_OF["asset"][1:])
    count = 5 if operator in LIST_OPERATORS else 1
    return Criterion(field, operator, tuple(str(_value(chance, field)) for _ in range(count)))


def _value(chance: random.Random, field: str) -> str:
    if field == "assetName":
        return f"{chance.choice(_WORDS)} {chance.randrange(_NAMES)}"
    if field == "assetType":
        return chance.choice((".glb", ".e57", "folder", "none"))
    return f"tag-{chance.randrange(_TAGS)}"


def _object(chance: random.Random) -> Fields:
    return {
        "databaseId": f"database-{chance.randrange(_DATABASES)}",
        "assetName": _value(chance, "assetName"),
        "assetType": _value(chance, "assetType"),
        "tags": tuple(_value(chance, "tags") for _ in range(chance.randrange(4))),
    }


def _predicate(rules: list[Rule], objects: list[Fields]) -> tuple[float, float]:
    """Microseconds of processor time per object, and the factor that a direct evaluation takes."""
    allows = Predicate(rules)
    ours = _least(lambda: [allows("GET", "asset", asset) for asset in objects])
    plain = _least(lambda: [read_plainly(rules, "GET", "asset", asset) for asset in objects])
    return ours / len(objects) * 1e6, plain / ours


def _least(work: Callable[[], object]) -> float:
    def seconds() -> float:
        start = time.process_time()
        work()
        return time.process_time() - start

    return min(seconds() for _ in range(5))


@contextmanager
def cluster(folder: Path) -> Generator[OpenSearchEngine]:
    """An OpenSearch with its data in a folder."""
    prepare_all(TOOLS, _say, names=("opensearch",))
    options = Options(durable=False)
    running = start_all(
        TOOLS, folder / "data", folder, _say, names=("opensearch",), options=options
    )
    try:
        url = running["opensearch"].endpoint.url
        yield OpenSearchEngine(OpenSearch(url, timeout=60, max_retries=0))
    finally:
        stop_all(running)


def seed(engine: OpenSearchEngine, chance: random.Random) -> None:
    """Fill the index of assets by bulk requests."""
    start = time.perf_counter()
    engine.create_index("assets", mapping=ASSET_INDEX.mapping, settings=ASSET_INDEX.settings)
    for writes in _batches(chance):
        if any(result.status != _CREATED for result in engine.bulk(writes)):
            raise RuntimeError("OpenSearch refuses a document")
    engine.refresh(("assets",))
    _say(f"{DOCUMENTS} documents written in {time.perf_counter() - start:.0f} s")


def _batches(chance: random.Random, size: int = 2000) -> Iterator[list[DocumentWrite]]:
    for start in range(0, DOCUMENTS, size):
        rows = [(n, _row(chance, n)) for n in range(start, start + size)]
        yield [
            DocumentWrite("assets", f"a{n}", 1, json.dumps(project(AssetSource(row, _BUCKET)).body))
            for n, row in rows
        ]


def _row(chance: random.Random, number: int) -> Mapping[str, Any]:
    fields = _object(chance)
    row = asset_row(f"a{number}", database_id=str(fields["databaseId"]))
    kept = {name: fields[name] for name in ("assetName", "assetType")}
    return {**row, **kept, "tags": list(fields["tags"])}


def compared(engine: OpenSearchEngine, under: JsonObject) -> list[float]:
    """The medians of searches with a filter, relative to those without it."""
    for name, body in _QUERIES.items():  # queries that OpenSearch has not cached
        once = _seconds(engine, body(0), under)
        _say(f"{name}: {once * 1000:.1f} ms by rules that are new")
    taken: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in _QUERIES}
    for number in range(_WARMING + _ROUNDS):
        for name, body in _QUERIES.items():
            order = ((0, EVERYTHING), (1, under))
            for place, visible in order if number % 2 else order[::-1]:
                seconds = _seconds(engine, body(number), visible)
                if number >= _WARMING:
                    taken[name][place].append(seconds)
    return [_report(name, *both) for name, both in taken.items()]


def _report(name: str, free: Sequence[float], ruled: Sequence[float]) -> float:
    ratio = median(ruled) / median(free)
    least = min(ruled) / min(free)
    _say(
        f"{name}: p50 {median(ruled) * 1000:.1f} ms under rules, {median(free) * 1000:.1f} without:"
        f" {ratio:.2f} (of the fastest {least:.2f})"
    )
    return ratio


def _seconds(engine: OpenSearchEngine, body: SearchBody, visible: JsonObject) -> float:
    start = time.perf_counter()
    engine.search(("assets",), to_opensearch(plan_search(body, visible)))
    return time.perf_counter() - start


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
