"""`python -m benchmarks.facts`: searches by facts and by shape over generated documents.

The documents go straight into an index, and the queries straight to OpenSearch: what is timed is
what the engine takes, with the filter of a caller who sees one database of ten.
"""

import base64
import json
import random
import struct
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer
from opensearchpy import OpenSearch
from rich.console import Console

from backend.aws.search_engine import OpenSearchEngine
from backend.core.objects import ObjectVersion
from backend.domains.buckets.models import AssetBucket
from backend.search.bulk import write_of
from backend.search.hits import sized
from backend.search.models import SearchBody
from backend.search.projections import FileSource, project
from backend.search.queries import full_query
from backend.search.similar import similar_query
from backend.search.values import Record, packed_shape
from backend.spec.facts import SHAPE_NUMBERS
from backend.spec.search_indexes import FILE_INDEX
from tests.engines import started
from tests.factories.search import asset_row

_INDEX = "files-1"
_DATABASES = 10
_AT_ONCE = 2000
_BUCKET = AssetBucket(bucket_id="b1", bucket_name="bucket", base_assets_prefix="/")
_FORMATS = ("glTF2", "OBJ", "STL", "FBX", "PLY", "STEP")
_EVERYTHING: dict[str, Any] = {"match_all": {}}
_ONE_DATABASE: dict[str, Any] = {"term": {"str_databaseid.keyword": "d3"}}
_SEARCHES: dict[str, dict[str, Any]] = {
    "triangles > 10000": {
        "metadataFilters": [{"key": "fact_triangles", "op": "gt", "value": 10_000}]
    },
    "order by triangles": {"sort": [{"fact_triangles": "desc"}]},
    "facets of format, missing textures, watertight": {
        "metadataFacets": [
            {"key": "fact_format"},
            {"key": "fact_texturesMissing", "ranges": [{"from": 1}]},
            {"key": "fact_watertight"},
        ]
    },
    "word `blender`": {"query": "blender"},
}
_screen = Console(highlight=False, soft_wrap=True)
app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def main(
    *,
    documents: Annotated[int, typer.Option(min=1)] = 100_000,
    rounds: Annotated[int, typer.Option(min=1)] = 40,
    output: Annotated[Path, typer.Option(help="Where to write the JSON.")] = Path(
        ".local/bench-facts.json"
    ),
) -> None:
    """Time searches by facts and by shape."""
    with TemporaryDirectory(prefix="vitrine-bench-") as folder, started(Path(folder)) as engines:
        client = OpenSearch(engines.url("opensearch"), timeout=120)
        engine = OpenSearchEngine(client)
        engine.create_index(_INDEX, mapping=FILE_INDEX.mapping, settings=FILE_INDEX.settings)
        begun = time.monotonic()
        _write(engine, documents)
        written = time.monotonic() - begun
        size = client.indices.stats(index=_INDEX)["_all"]["primaries"]["store"]["size_in_bytes"]
        times = _times(engine, rounds)
    result = {
        "documents": documents,
        "secondsToWrite": round(written, 1),
        "bytesADocument": size // documents,
        "milliseconds": times,
    }
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    _screen.print(
        f"{documents} documents, {size // documents} bytes each, {written:.0f} s to write"
    )
    for name, each in times.items():
        _screen.print(f"{name}: p50 {each['p50']:.0f} ms, p99 {each['p99']:.0f} ms")


def _write(engine: OpenSearchEngine, documents: int) -> None:
    chance = random.Random(5)
    for first in range(0, documents, _AT_ONCE):
        numbers = range(first, min(documents, first + _AT_ONCE))
        writes = [write_of(project(_source(n, chance)), _INDEX, n + 1) for n in numbers]
        failed = [one for one in engine.bulk(writes) if one.status >= 300]
        if failed:
            raise RuntimeError(f"a document was refused: {failed[0]}")
    engine.refresh((_INDEX,))


def _source(number: int, chance: random.Random) -> FileSource:
    row = asset_row(f"a{number // 10}", database_id=f"d{number % _DATABASES}")
    version = ObjectVersion(
        key=f"a{number // 10}/parts/part-{number}.glb",
        version_id=f"v{number}",
        is_latest=True,
        last_modified=datetime(2026, 3, 1, tzinfo=UTC),
        size=number,
        etag="abc",
    )
    return FileSource(row, _BUCKET, version, version, attributes=tuple(_facts(chance)))


def _facts(chance: random.Random) -> Iterator[Record]:
    """As many facts as a model has, and its shape."""
    triangles = int(10 ** chance.uniform(1, 6))
    facts: dict[str, object] = {
        "format": chance.choice(_FORMATS),
        "generator": chance.choice(("Blender 4.5", "Assimp", "A scanner")),
        "sourceVersionId": "v1",
        "triangles": triangles,
        "vertices": triangles // 2,
        "meshes": chance.randint(1, 20),
        "materials": chance.randint(1, 9),
        "textures": chance.randint(0, 9),
        "texturesMissing": chance.choice((0, 0, 0, 1, 2)),
        "sizeX": chance.random(),
        "sizeY": chance.random(),
        "sizeZ": chance.random(),
        "area": chance.random() * 100,
        "volume": chance.random() * 100,
        "watertight": str(chance.random() < 0.5).lower(),
        "unit": "metre",
        "metresPerUnit": 1,
        "upAxis": "y",
    }
    yield from (Record(f"fact_{name}", str(value)) for name, value in facts.items())
    yield Record("fact_shape", _shape(chance))


def _shape(chance: random.Random) -> str:
    numbers = (chance.random() for _ in range(SHAPE_NUMBERS))
    return base64.b64encode(struct.pack(f"<{SHAPE_NUMBERS}f", *numbers)).decode()


def _times(engine: OpenSearchEngine, rounds: int) -> dict[str, dict[str, float]]:
    chance = random.Random(6)
    found: dict[str, dict[str, float]] = {}
    for who, visible in (("all", _EVERYTHING), ("one database", _ONE_DATABASE)):
        for name, body in _SEARCHES.items():
            asked = SearchBody.model_validate({**body, "aggregations": False, "size": 20})
            request = sized(full_query(asked, visible))
            found[f"{name} ({who})"] = _timed(engine, [request] * rounds)
        requests = [
            similar_query(
                str(packed_shape(_shape(chance))), visible, size=10, but=("d1", "a1", "a1/x")
            )
            for _ in range(rounds)
        ]
        found[f"similar shapes ({who})"] = _timed(engine, requests)
    return found


def _timed(engine: OpenSearchEngine, requests: list[dict[str, Any]]) -> dict[str, float]:
    """Milliseconds seen by the client, without the first request, which fills caches."""
    taken: list[float] = []
    for request in requests:
        begun = time.perf_counter()
        engine.search((_INDEX,), request)
        taken.append(1000 * (time.perf_counter() - begun))
    warm = sorted(taken[1:] or taken)
    return {"p50": median(warm), "p99": warm[min(len(warm) - 1, int(0.99 * len(warm)))]}


if __name__ == "__main__":
    app()
