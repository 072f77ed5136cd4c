"""`python -m benchmarks.access`: what permissions cost, as ratios to the same without them.

The predicate at 200 rules, beside a plain reading of them; searches over 100,000 documents under
200 rules, beside the same searches without. Fails above what was agreed.
"""

import json
import random
import sys
import time
from collections.abc import Callable, Iterator, Mapping
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
from backend.search.models import SearchBody
from backend.search.projections import AssetSource, project
from backend.search.queries import full_query
from backend.spec.search_indexes import ASSET_INDEX
from local.engines import Options, prepare_all, start_all, stop_all
from tests.engines import TOOLS
from tests.factories.policies import read_plainly
from tests.factories.search import asset_row

RULES = 200
DOCUMENTS = 100_000
MICROSECONDS, RATIO = 20.0, 1.5
"""What was agreed: for an object, and for a search beside the same without rules."""

_DATABASES, _NAMES, _TAGS = 50, 5000, 300
_ROUNDS = 40
_BUCKET = AssetBucket(bucket_id="b1", bucket_name="bucket", base_assets_prefix="/")
_WORDS = ("pump", "valve", "engine", "wheel", "bridge")


def main() -> int:
    """Print the figures; answers with 1 where one is worse than agreed."""
    chance = random.Random(1)
    rules = [_rule(chance, number) for number in range(RULES)]
    microseconds, plainly = _predicate(rules, [_object(chance) for _ in range(500)])
    _say(f"predicate at {RULES} rules: {microseconds:.1f} µs an object, {plainly:.0f} times as")
    _say("fast as a plain reading")
    with TemporaryDirectory() as folder:
        ratio, share = _searches(Path(folder), rules, chance)
    _say(f"search over {DOCUMENTS} documents under {RULES} rules: {ratio:.2f} of the same without;")
    _say(f"it finds {share:.0%} of them")
    return int(microseconds > MICROSECONDS or ratio > RATIO)


def _rule(chance: random.Random, number: int) -> Rule:
    """Three of four allow; a database, and mostly a demand or two on something else."""
    operators = [each for each in OPERATORS if number % 4 or each not in NEGATIONS]
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
    """Microseconds of processor time an object, and how many times that a plain reading takes."""
    allows = Predicate(rules)
    ours = _least(lambda: [allows("GET", "asset", one) for one in objects])
    plain = _least(lambda: [read_plainly(rules, "GET", "asset", one) for one in objects])
    return ours / len(objects) * 1e6, plain / ours


def _least(work: Callable[[], object]) -> float:
    def seconds() -> float:
        start = time.process_time()
        work()
        return time.process_time() - start

    return min(seconds() for _ in range(5))


def _searches(folder: Path, rules: list[Rule], chance: random.Random) -> tuple[float, float]:
    prepare_all(TOOLS, _say, names=("opensearch",))
    options = Options(durable=False)
    running = start_all(
        TOOLS, folder / "data", folder, _say, names=("opensearch",), options=options
    )
    try:
        url = running["opensearch"].endpoint.url
        engine = OpenSearchEngine(OpenSearch(url, timeout=60, max_retries=0))
        engine.create_index("assets", mapping=ASSET_INDEX.mapping, settings=ASSET_INDEX.settings)
        for writes in _batches(chance):
            engine.bulk(writes)
        engine.refresh(("assets",))
        return _compared(engine, search_filter(rules) or {"match_none": {}})
    finally:
        stop_all(running)


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


def _compared(engine: OpenSearchEngine, under: JsonObject) -> tuple[float, float]:
    """The median of searches under a filter in those of the same without, and what it leaves."""
    seconds: dict[bool, list[float]] = {True: [], False: []}
    totals: dict[bool, int] = {True: 0, False: 0}
    for number in range(_ROUNDS):
        for ruled in (True, False):
            body = SearchBody(query=f"{_WORDS[number % 5]} {number}*", aggregations=True, size=50)
            request = full_query(body, under if ruled else EVERYTHING)
            start = time.perf_counter()
            engine.search(("assets",), request)
            if number >= _ROUNDS // 4:  # the first ones warm the caches up
                seconds[ruled].append(time.perf_counter() - start)
    for ruled in (True, False):
        request = full_query(SearchBody(size=0), under if ruled else EVERYTHING)
        found = engine.search(("assets",), {**request, "track_total_hits": True})
        totals[ruled] = found["hits"]["total"]["value"]
    return median(seconds[True]) / median(seconds[False]), totals[True] / totals[False]


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")


if __name__ == "__main__":
    sys.exit(main())
