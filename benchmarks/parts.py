"""`python -m benchmarks.parts`: what finding parts of words costs, by the ways of indexing it.

The same assets in one index for each way: none, `wildcard` subfields (what searches use), trigrams,
stretches (what rules use). Prints the size of each and the time to write it; the time of searches
for parts of words; and of filters with 0, 50 and 200 demands on parts and ends of names.
"""

import json
import random
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from itertools import islice
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer
from rich.console import Console

from backend.aws.search_engine import OpenSearchEngine
from backend.core.search_engine import DocumentWrite, JsonObject
from backend.search.bulk import with_size
from backend.search.words import folded
from backend.spec.search_indexes import (
    ASSET_INDEX,
    INNER,
    STRETCH_CHARS,
    STRETCH_END,
    STRETCHES_OF,
)
from benchmarks.access import cluster
from benchmarks.relevance.corpus import PRODUCTS, Thing, documents, generated

DEMANDS = (0, 50, 200)
_NAME = "str_assetname"
_WORDS = ("shaft", "wheel", "lamp", "rail", "rbine", "phora", "box", "case", "light", "rifug")
_ROUNDS = 12
_BULK, _PAGE = 2000, 25
_TRIGRAMS: Mapping[str, Any] = {
    "analyzer": {
        "grams": {
            "type": "custom",
            "tokenizer": "grams",
            "filter": ["lowercase", "asciifolding"],
        },
        "exact_grams": {"type": "custom", "tokenizer": "grams", "filter": []},
    },
    "tokenizer": {"grams": {"type": "ngram", "min_gram": 3, "max_gram": 3}},
}
_screen = Console(highlight=False, soft_wrap=True)
app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)

Query = Callable[[str], JsonObject]
Demand = Callable[[str, bool], JsonObject]
"""The query for a part of a name, or for its end."""


@app.command()
def main(*, assets: Annotated[int, typer.Option(min=1000)] = 50_000) -> None:
    """Fill an index for each way, then time searches and filters, the ways alternately."""
    with TemporaryDirectory() as folder, cluster(Path(folder)) as engine:
        for way, mapping in _mappings().items():
            _fill(engine, way, mapping, assets)
        _compare("words with a part", engine, {way: _words(query) for way, query in _WORD.items()})
        for count in DEMANDS:
            _compare(
                f"{count} demands", engine, {way: _rules(count, one) for way, one in _RULE.items()}
            )


def _mappings() -> dict[str, JsonObject]:
    """Return a mapping for each way; only what finds parts differs."""
    none = deepcopy(ASSET_INDEX.mapping)
    for field in none["properties"].values():
        field.pop("copy_to", None)
        field.get("fields", {}).pop(INNER, None)
    none["properties"]["metadata"]["properties"]["string"]["fields"].pop(INNER)
    stretches, inner, grams = deepcopy(none), deepcopy(none), deepcopy(none)
    for field, own in ASSET_INDEX.mapping["properties"].items():
        if "copy_to" in own:
            stretches["properties"][field]["copy_to"] = own["copy_to"]
        if INNER in own.get("fields", {}):
            inner["properties"][field]["fields"][INNER] = own["fields"][INNER]
            grams["properties"][field]["fields"]["grams"] = {"type": "text", "analyzer": "grams"}
    # Rules compare case: their fields are not folded.
    exact = {"type": "wildcard", "doc_values": True}
    inner["properties"][_NAME]["fields"]["exact"] = exact
    exact = {"type": "text", "analyzer": "exact_grams"}
    grams["properties"][_NAME]["fields"]["exact"] = exact
    return {"none": none, "wildcard": inner, "trigrams": grams, "stretches": stretches}


def _fill(engine: OpenSearchEngine, way: str, mapping: JsonObject, assets: int) -> None:
    settings = deepcopy(ASSET_INDEX.settings)
    for kind, more in _TRIGRAMS.items():
        settings["analysis"].setdefault(kind, {}).update(more)
    engine.create_index(way, mapping=mapping, settings=settings)
    things, taken = generated(assets), 0.0
    while writes := list(_writes(way, islice(things, _BULK))):
        start = time.perf_counter()
        engine.bulk(writes)
        taken += time.perf_counter() - start
    start = time.perf_counter()
    engine.client.indices.forcemerge(index=way, params={"max_num_segments": 1, "timeout": 300})
    taken += time.perf_counter() - start
    engine.refresh((way,))
    size = engine.client.indices.stats(index=way, metric="store")["_all"]["primaries"]["store"]
    megabytes = size["size_in_bytes"] / 1e6
    _screen.print(f"{way}: {assets} assets in {taken:.1f} s, {megabytes:.1f} MB")


def _writes(way: str, things: Iterator[Thing]) -> Iterator[DocumentWrite]:
    for thing in things:
        (asset, *_) = documents(thing)
        yield DocumentWrite(way, asset.id, 1, with_size(json.dumps(asset.body)))


def _wildcard(text: str, end: bool, field: str) -> JsonObject:
    return {"wildcard": {field: f"*{text}" if end else f"*{text}*"}}


def _gram_rule(text: str, end: bool) -> JsonObject:
    """Trigrams in their order are a part of a text; none says where it ends."""
    part: JsonObject = {"match_phrase": {f"{_NAME}.exact": text}}
    if not end:
        return part
    return {"bool": {"filter": [part, _wildcard(text, True, f"{_NAME}.keyword")]}}


def _stretch_rule(text: str, end: bool) -> JsonObject:
    field = STRETCHES_OF["assetName"]
    if end:
        return {"term": {field: text.ljust(STRETCH_CHARS, STRETCH_END)}}
    return {"prefix": {field: text}}


_WORD: Mapping[str, Query] = {
    "wildcard": lambda word: _wildcard(folded(word), False, f"{_NAME}.{INNER}"),
    "trigrams": lambda word: {"match_phrase": {f"{_NAME}.grams": word}},
}
_RULE: Mapping[str, Demand] = {
    "stretches": _stretch_rule,
    "wildcard": lambda text, end: _wildcard(text, end, f"{_NAME}.exact"),
    "trigrams": _gram_rule,
}


def _words(query: Query) -> Sequence[JsonObject]:
    return [query(word) for word in _WORDS]


def _rules(count: int, demand: Demand) -> Sequence[JsonObject]:
    """Return filters that nothing has kept: each has other values."""
    chance = random.Random(count)
    products = [product for group in PRODUCTS.values() for product in group]
    found: list[JsonObject] = []
    for _ in range(len(_WORDS)):
        texts = [(chance.choice(products)[1:7].strip(), False) for _ in range(count // 2)]
        texts += [(f" {chance.randrange(10, 400, 5)}", True) for _ in range(count - len(texts))]
        should = [demand(text, end) for text, end in texts] or [{"match_all": {}}]
        found.append({"bool": {"should": should, "minimum_should_match": 1}})
    return found


def _compare(
    title: str, engine: OpenSearchEngine, queries: Mapping[str, Sequence[JsonObject]]
) -> None:
    """Time the queries of all ways alternately: the first time, and as OpenSearch keeps them."""
    first: dict[str, list[float]] = {way: [] for way in queries}
    again: dict[str, list[float]] = {way: [] for way in queries}
    totals: dict[str, set[int]] = {way: set() for way in queries}
    for number in range(_ROUNDS):
        for place in range(len(_WORDS)):
            for way, asked in queries.items():
                seconds, total = _seconds(engine, way, asked[place])
                (again if number else first)[way].append(seconds)
                totals[way].add(total)
    for way in queries:
        _screen.print(
            f"{title}, {way}: {1000 * median(first[way]):.1f} ms at first,"
            f" {1000 * median(again[way]):.1f} ms later; {sum(totals[way])} found"
        )


def _seconds(engine: OpenSearchEngine, way: str, query: JsonObject) -> tuple[float, int]:
    request = {"query": {"bool": {"filter": [query]}}, "size": _PAGE, "track_total_hits": True}
    start = time.perf_counter()
    found = engine.search((way,), request)
    return time.perf_counter() - start, found["hits"]["total"]["value"]


if __name__ == "__main__":
    sys.exit(app())
