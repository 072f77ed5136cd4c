"""Facts and attributes of files in searches on OpenSearch, and the callers who see them."""

import json
import math
import random
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from backend.core.objects import ObjectVersion
from backend.core.references import FileKeyRef
from backend.core.search_engine import JsonObject
from backend.core.transactions import Update
from backend.domains.access.policy.model import parse_rule
from backend.domains.buckets.models import AssetBucket
from backend.domains.facts.rules import shape_text
from backend.processing.descriptors import descriptor
from backend.processing.files import Files
from backend.processing.inspection import merge_parts, read_model
from backend.search.indexing.projections import FileSource, project
from backend.search.query.metadata_queries import MAX_DATE_BUCKETS
from backend.search.query.models import SearchBody, SimpleSearchBody
from backend.search.query.pairs import AttributesNotIndexedError
from backend.search.query.similar import ShapeQueries
from backend.search.values import Record
from backend.spec.facts import YEARS
from backend.spec.tables.operations import SEARCH_STATE
from samples import formats, furniture, gltf, machines, town, trees
from tests.factories.access import OnlyUser
from tests.factories.policies import stored
from tests.factories.search import asset_row
from tests.integration.search.conftest import CALLER, Library, asset
from tests.integration.search.test_permissions import RulesAuthorization, under
from tests.unit.processing.samples import Asset

BUCKET = AssetBucket(bucket_id="b1", bucket_name="bucket", base_assets_prefix="/")
FIRST = json.loads(
    (Path(__file__).parents[2] / "events" / "mappings" / "version_1.json").read_text()
)
FILES = {
    "gear": {"fact_triangles": "9", "fact_format": "glTF2", "fact_texturesMissing": "0"},
    "lamp": {"fact_triangles": "10000", "fact_format": "glTF2", "fact_texturesMissing": "2"},
    "hall": {"fact_triangles": "200000", "fact_format": "OBJ", "fact_watertight": "true"},
    "note": {"maker": "Lampmaker & Sons", "room": "12"},
    "dawn": {"fact_taken": "2024-05-17T05:42:10", "fact_format": "JPEG"},
    "dusk": {"fact_taken": "2024-05-17T23:59:59", "fact_format": "JPEG"},
    "snow": {"fact_taken": "2021-11-24T18:00:00", "fact_format": "JPEG"},
    "pipe": {"fact_watertight": "false", "fact_generator": "Blender 4.5", "fact_points": "12"},
}

PHOTOGRAPHS = {"dawn", "dusk", "snow"}


def file(name: str, attributes: dict[str, str], **row: Any) -> JsonObject:
    version = ObjectVersion(
        key=f"{name}/file.txt",
        version_id="v1",
        is_latest=True,
        last_modified=datetime(2026, 3, 1, tzinfo=UTC),
        size=7,
        etag="abc",
    )
    records = tuple(Record(*pair) for pair in attributes.items())
    source = FileSource(asset_row(name, **row), BUCKET, version, version, attributes=records)
    return project(source).body


def put(library: Library) -> None:
    documents = {name: file(name, attributes) for name, attributes in FILES.items()}
    library.put({**documents, "plain": asset("plain")})


def found(library: Library, key: str, op: str, value: Any = None) -> set[str]:
    query = {"key": key, "op": op, "value": value}
    return library.ids(metadataFilters=[query], aggregations=False)


def test_facts_are_filtered_ordered_and_counted_by_their_type(library: Library) -> None:
    put(library)
    assert "reindexDue" not in library.search()
    assert found(library, "fact_triangles", "gt", 9) == {"lamp", "hall"}
    assert found(library, "fact_triangles", "between", [9, 10_000]) == {"gear", "lamp"}
    assert found(library, "fact_format", "in", ["OBJ", "STL"]) == {"hall"}
    assert found(library, "fact_watertight", "eq", False) == {"pipe"}
    assert found(library, "fact_triangles", "exists") == {"gear", "lamp", "hall"}
    others = {"note", "pipe", "plain", *PHOTOGRAPHS}
    assert found(library, "fact_triangles", "exists", False) == others
    assert found(library, "AB_maker", "eq", "Lampmaker & Sons") == {"note"}
    assert found(library, "triangles", "gt", 9) == set()

    hits = library.search(sort=[{"fact_triangles": "desc"}])["hits"]["hits"]
    assert [hit["_id"] for hit in hits][:3] == ["hall", "lamp", "gear"]
    facets = [
        {"key": "fact_format"},
        {"key": "fact_texturesMissing", "ranges": [{"from": 1}, {"to": 1}]},
        {"key": "fact_watertight"},
        {"key": "fact_triangles", "size": 1},
    ]
    kinds, missing, tight, triangles = library.search(metadataFacets=facets)["metadataFacets"]
    assert {bucket["key"]: bucket["doc_count"] for bucket in kinds["buckets"]} == {
        "JPEG": 3,
        "glTF2": 2,
        "OBJ": 1,
    }
    assert missing["ranges"] == [{"to": 1.0, "doc_count": 1}, {"from": 1.0, "doc_count": 1}]
    assert {bucket["key"]: bucket["doc_count"] for bucket in tight["buckets"]} == {
        "true": 1,
        "false": 1,
    }
    assert (triangles["documents"], triangles["others"]) == (3, 2)
    assert (triangles["number"]["min"], triangles["number"]["max"]) == (9, 200_000)


def test_dates_of_photographs_are_compared_ordered_and_counted(library: Library) -> None:
    put(library)
    assert found(library, "fact_taken", "gte", "2024-05-17") == {"dawn", "dusk"}
    assert found(library, "fact_taken", "lt", "2024-05-17T05:42:10") == {"snow"}
    assert found(library, "fact_taken", "eq", "2024-05-17T05:42:10") == {"dawn"}
    of_a_day = ["2024-05-17", "2024-05-17T23:59:59.999"]
    assert found(library, "fact_taken", "between", of_a_day) == {"dawn", "dusk"}
    assert found(library, "fact_taken", "exists") == PHOTOGRAPHS
    assert library.ids(filters=[{"query_string": {"query": "fact_taken:[2022 TO *]"}}]) == {
        *("dawn", "dusk")
    }
    assert library.ids(query="2021-11-24T18:00:00") == {"snow"}
    hits = library.search(sort=[{"fact_taken": "desc"}])["hits"]["hits"]
    assert [hit["_id"] for hit in hits][:3] == ["dusk", "dawn", "snow"]

    (facet,) = library.search(metadataFacets=[{"key": "fact_taken"}])["metadataFacets"]
    assert (facet["documents"], len(facet["buckets"])) == (3, 3)
    assert "number" not in facet
    assert sum(interval["documents"] for interval in facet["dates"]) == 3
    assert facet["dates"][0]["from"].startswith("2021-")
    chosen = {"facet": "fact_taken", "values": [facet["buckets"][0]["key"]]}
    assert library.search(facetChoices=[chosen])["hits"]["total"]["value"] == 1
    (folded,) = library.search(foldFiles=True, metadataFacets=[{"key": "fact_taken"}])[
        "metadataFacets"
    ]
    assert sum(bucket["assets"] for bucket in folded["dates"]) == 3


def test_dates_of_any_year_are_few_intervals(library: Library) -> None:
    years = (1, YEARS.start, 1900, 2024, YEARS.stop - 1, YEARS.stop, 9999)
    library.put(
        {f"{year}": file(f"{year}", {"fact_taken": f"{year:04}-12-31T23:59:59"}) for year in years}
    )
    (facet,) = library.search(metadataFacets=[{"key": "fact_taken"}])["metadataFacets"]
    assert len(facet["dates"]) <= MAX_DATE_BUCKETS
    assert sum(interval["documents"] for interval in facet["dates"]) == 4
    assert facet["documents"] == len(years)


def test_general_words_and_metadata_queries_find_attributes(library: Library) -> None:
    put(library)
    assert library.ids(query="lampmaker") == {"note"}
    assert library.ids(query="blender") == {"pipe"}
    assert library.ids(query="lampmaker", includeMetadataInSearch=False) == set()
    assert library.ids(query="12") == {"note"}
    for text, mode, names in (
        ("maker:lampmaker*", "both", {"note"}),
        ("fact_triangles:10000", "both", {"lamp"}),
        ("fact_watertight:true", "both", {"hall"}),
        ("12", "value", {"note", "pipe"}),
        ("fact_p*", "key", {"pipe"}),
    ):
        assert library.ids(metadataQuery=text, metadataSearchMode=mode) == names, text
    body = SimpleSearchBody.model_validate({"metadataKey": "room", "metadataValue": "12"})
    hits = library.service.search_simple(CALLER, body)["hits"]["hits"]
    assert [hit["_id"] for hit in hits] == ["note"]


def test_a_hit_has_attributes_as_texts_and_neither_pairs_nor_shape(library: Library) -> None:
    library.put({"gear": {**file("gear", FILES["gear"]), "shape": "AAAA"}})
    for size in (1, 100):
        (hit,) = library.search(size=size)["hits"]["hits"]
        assert hit["_source"]["AB_"] == FILES["gear"]
        assert hit["_source"].keys().isdisjoint({"attributes", "shape"})


def test_facts_of_hidden_files_are_in_no_count(library: Library) -> None:
    """Hits, totals, facets and order are those of an index without the hidden files."""
    seen, hidden = ("gear", "hall"), ("lamp", "pipe", "note")
    documents = {name: file(name, FILES[name], database_id="museum") for name in seen}
    documents |= {name: file(name, FILES[name], database_id="vault") for name in hidden}
    library.put({name: documents[name] for name in seen})
    bodies: tuple[dict[str, Any], ...] = (
        {"metadataFilters": [{"key": "fact_triangles", "op": "gte", "value": 0}]},
        {"metadataFilters": [{"key": "fact_points", "op": "exists"}]},
        {"query": "blender"},
        {"metadataQuery": "12", "metadataSearchMode": "value"},
        {"sort": [{"fact_triangles": "desc"}], "size": 1},
        {
            "metadataFacets": [
                {"key": key, "ranges": [{"from": 0}]}
                for key in (
                    "fact_triangles",
                    "fact_format",
                    "fact_watertight",
                    "fact_texturesMissing",
                )
            ]
        },
    )
    search = under(library, [parse_rule(stored("asset", ("databaseId", "equals", "museum")))])
    alone = [_stable_parts(search(**body)) for body in bodies]
    library.put({name: documents[name] for name in hidden})
    assert [_stable_parts(search(**body)) for body in bodies] == alone


def _stable_parts(reply: JsonObject) -> JsonObject:
    """A reply without the values that differ in each run."""
    hits = [{k: v for k, v in hit.items() if k != "_score"} for hit in reply["hits"]["hits"]]
    return {
        "hits": hits,
        "scores": [hit["_score"] for hit in reply["hits"]["hits"]],
        "total": reply["hits"]["total"],
        "facets": reply.get("metadataFacets"),
        "aggregations": reply.get("aggregations"),
    }


@pytest.mark.usefixtures("aliases")  # the query that drops an index
def test_indexes_of_an_earlier_version_answer_as_before_and_report_the_due_reindex(
    library: Library,
) -> None:
    state, pointer = library.service.state, library.pointer
    for alias, name in (("assets", pointer.assets_read), ("files", pointer.files_read)):
        library.engine.drop_index(name)
        library.engine.create_index(name, **FIRST[alias])
    state.tables.write(old_mappings())
    library.put({"plain": asset("plain", str_assetname="Blender shelf")}, with_sizes=False)
    assert library.ids(query="blender") == {"plain"}
    assert library.ids(metadataQuery="a:b") == set()
    texts: tuple[dict[str, Any], ...] = (
        {},
        {"query": "blender", "after": ""},
        {"metadataQuery": "AB_maker:Acme OR fact_format:OBJ"},
        {"filters": [{"query_string": {"query": "fact_triangles:>10 OR AB_maker:a*"}}]},
    )
    for body in texts:
        assert "vitrine admin search reindex" in library.search(**body)["reindexDue"]
    for body in (
        {"metadataFilters": [{"key": "fact_triangles", "op": "exists"}]},
        {"sort": ["AB_maker"]},
        {"metadataFacets": [{"key": "fact_format"}]},
    ):
        with pytest.raises(AttributesNotIndexedError, match="vitrine admin search reindex"):
            library.service.search(CALLER, SearchBody.model_validate(body))


def old_mappings() -> Any:
    return Update(table=SEARCH_STATE, key={"stateKey": "search"}, remove=("mappingVersions",))


def test_unlike_models_are_not_called_alike(library: Library) -> None:
    models = {
        "chair": furniture.chair(),
        "lamp": furniture.lamp(),
        "pine": trees.pine(),
        "house": gltf.single("house", town.house(), town.HOUSE),
        "gear": machines.in_metal("gear", machines.spur_gear(), "steel"),
    }
    files = {f"{name}.glb": gltf.glb(model) for name, model in models.items()}
    files["gear.stl"] = formats.stl(machines.spur_gear(), name="gear")
    shapes: dict[str, str] = {}
    for name, data in files.items():
        parts = merge_parts(read_model(data, name, name[-3:], Files(Asset())).parts)
        shapes[name] = str(shape_text(descriptor(parts) or []))
    library.put({name: file(name, {"fact_shape": text}) for name, text in shapes.items()})
    similar = ShapeQueries(library.engine, library.service.state, OnlyUser()).similar
    distances: dict[str, dict[str, float]] = {}
    for name, text in shapes.items():
        hits = similar(CALLER, text, size=9, but=FileKeyRef("museum", name, f"{name}/file.txt"))
        distances[name] = {hit.asset_id: hit.similarity for hit in hits}
    assert distances["gear.glb"].pop("gear.stl") == distances["gear.stl"].pop("gear.glb") > 0.95
    others = {
        (name, other): alike for name, all_ in distances.items() for other, alike in all_.items()
    }
    assert max(others.values()) == others["chair.glb", "pine.glb"] < 0.5
    assert sum(alike > 0.1 for alike in others.values()) == 2


def test_similar_shapes_are_found_among_visible_files_only(library: Library) -> None:
    chance = random.Random(3)
    shapes = {f"f{n}": [chance.random() for _ in range(75)] for n in range(40)}
    near = [min(1.0, number + 0.01) for number in shapes["f0"]]
    shapes |= {"near": near, "vault-near": near, "old-near": near}
    rows: dict[str, dict[str, Any]] = {
        "vault-near": {"database_id": "vault"},
        "old-near": {"archived": True},
    }
    library.put(
        {
            name: file(name, {"fact_shape": str(shape_text(shape))}, **rows.get(name, {}))
            for name, shape in shapes.items()
        }
        | {"plain": file("plain", FILES["gear"])}
    )
    allowed = [parse_rule(stored("asset", ("databaseId", "equals", "museum")))]
    service = library.service
    similar = ShapeQueries(service.engine, service.state, RulesAuthorization(allowed)).similar
    text = str(shape_text(shapes["f0"]))
    neighbours = similar(CALLER, text, size=5, but=FileKeyRef("museum", "f0", "f0/file.txt"))
    wanted = sorted(
        (name for name in shapes if name not in {"f0", *rows}),
        key=lambda name: math.dist(shapes[name], shapes["f0"]),
    )
    assert [neighbour.asset_id for neighbour in neighbours] == wanted[:5]
    assert neighbours[0].asset_id == "near"
    for neighbour in neighbours:
        apart = math.dist(shapes[neighbour.asset_id], shapes["f0"])
        assert neighbour.similarity == pytest.approx(0.5 ** (apart**2 / 0.04), rel=0.03, abs=1e-4)
    (itself,) = similar(CALLER, text, size=1, but=FileKeyRef("", "", ""))
    assert (itself.asset_id, itself.similarity) == ("f0", 1.0)
    assert (
        ShapeQueries(service.engine, service.state, RulesAuthorization()).similar(
            CALLER, text, size=5, but=FileKeyRef("", "", "")
        )
        == []
    )
