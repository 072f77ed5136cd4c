"""Selected facets, histograms and assets with their files, on OpenSearch and under rules.

Each test searches the same documents many times, because creating indexes takes longest.
"""

from typing import Any

import pytest

from backend.core.search_engine import JsonObject
from backend.domains.access.policy.model import parse_rule
from backend.search.query.facets import SIZE_BOUNDS
from backend.search.query.metadata_queries import MAX_DATE_BUCKETS
from tests.factories.policies import stored
from tests.integration.search.conftest import Library, asset
from tests.integration.search.test_permissions import under

KINDS = ((".glb", 500), (".glb", 5_000), (".obj", 50_000), (".txt", 2 * 10**12))


def file(owner: str, number: int, **fields: Any) -> JsonObject:
    extension, size = KINDS[number % len(KINDS)]
    return {
        "_rectype": "file",
        "str_databaseid": "museum",
        "str_assetid": owner,
        "str_assetname": owner,
        "str_key": f"{owner}/gear {number}{extension}",
        "str_fileext": extension,
        "num_filesize": size,
        "date_lastmodified": f"20{10 + number}-03-01T00:00:00+00:00",
        "attributes": [{"key": "fact_watertight", "boolean": number % 2 == 0}],
        "AB_": {"fact_watertight": str(number % 2 == 0).lower(), "maker": "x"},
        **fields,
    }


def documents(database: str = "museum") -> dict[str, JsonObject]:
    documents: dict[str, JsonObject] = {}
    for name, files in (("gearbox", 5), ("drive", 2), ("lamp", 0)):
        owner = name if database == "museum" else f"{database}-{name}"
        more: JsonObject = {"str_databaseid": database, "list_tags": ["red", name]}
        about: JsonObject = {**more, "str_assettype": ".glb"}
        documents[owner] = asset(owner, str_assetname=name, **about)
        for number in range(files):
            documents[f"{owner}:{number}"] = file(owner, number, **more)
    return documents


@pytest.fixture
def museum(library: Library) -> Library:
    library.put(documents())
    return library


def buckets(reply: JsonObject, facet: str) -> dict[str, int]:
    return {
        bucket["key"]: bucket["doc_count"] for bucket in reply["aggregations"][facet]["buckets"]
    }


def choice_of(facet: str, *values: Any) -> dict[str, Any]:
    return {"facet": facet, "values": list(values)}


def ids(reply: JsonObject) -> list[str]:
    return [hit["_id"] for hit in reply["hits"]["hits"]]


def test_a_chosen_value_hides_no_other_value_of_its_facet(museum: Library) -> None:
    extension = choice_of("str_fileext", ".obj", ".txt")
    reply = museum.search(facetChoices=[extension])
    assert reply["hits"]["total"]["value"] == len(ids(reply)) == 2
    assert buckets(reply, "str_fileext") == {".glb": 5, ".obj": 1, ".txt": 1}
    assert buckets(reply, "list_tags") == {"red": 2, "gearbox": 2}
    assert buckets(reply, "str_assettype") == {}

    both = museum.search(facetChoices=[extension, choice_of("list_tags", "drive")])
    assert both["hits"]["total"]["value"] == 0
    assert buckets(both, "str_fileext") == {".glb": 2}
    assert buckets(both, "list_tags") == {"red": 2, "gearbox": 2}

    tight = museum.search(
        facetChoices=[choice_of("fact_watertight", "true"), choice_of("str_fileext", ".glb")],
        metadataFacets=[{"key": "fact_watertight"}],
    )
    assert sorted(ids(tight)) == ["drive:0", "gearbox:0", "gearbox:4"]
    (facet,) = tight["metadataFacets"]
    assert {bucket["key"]: bucket["doc_count"] for bucket in facet["buckets"]} == {
        "true": 3,
        "false": 2,
    }
    assert buckets(tight, "str_fileext") == {".glb": 3, ".obj": 1}

    after: str | None = ""
    listed: list[str] = []
    while after is not None:
        page = museum.search(facetChoices=[extension], size=1, after=after)
        listed += ids(page)
        after = page.get("after")
    assert sorted(listed) == ["gearbox:2", "gearbox:3"]


def test_sizes_and_dates_are_counted_in_a_bounded_number_of_buckets(museum: Library) -> None:
    fields = ["num_filesize", "date_lastmodified", "date_asset_version_createdate"]
    sizes, dates, none = museum.search(histograms=fields, aggregations=False)["histograms"]
    assert sizes["field"] == "num_filesize"
    assert len(sizes["buckets"]) == len(SIZE_BOUNDS) + 1
    counts = {
        (bucket.get("from"), bucket.get("to")): bucket["documents"] for bucket in sizes["buckets"]
    }
    assert {place: count for place, count in counts.items() if count} == {
        (None, 1000): 3,
        (1000, 10_000): 2,
        (10_000, 100_000): 1,
        (SIZE_BOUNDS[-1], None): 1,
    }
    assert 1 <= len(dates["buckets"]) <= MAX_DATE_BUCKETS
    assert sum(bucket["documents"] for bucket in dates["buckets"]) == 7
    assert dates["interval"] == "3M"
    assert dates["buckets"][0]["from"].startswith("2010-03-01")
    assert none["buckets"] == []
    of_drive = museum.search(
        histograms=["num_filesize"], facetChoices=[choice_of("list_tags", "drive")]
    )
    assert sum(bucket["documents"] for bucket in of_drive["histograms"][0]["buckets"]) == 2


def test_assets_come_with_their_three_best_files(museum: Library) -> None:
    reply = museum.search(query="gear", foldFiles=True, size=10)
    assert reply["assetsFound"] == 2
    assert sorted(ids(reply)) == ["drive", "gearbox"]
    by_id = {hit["_id"]: hit for hit in reply["hits"]["hits"]}
    assert len(by_id["gearbox"]["files"]) == 3
    assert [file["_id"] for file in by_id["drive"]["files"]] == ["drive:0", "drive:1"]
    best = by_id["drive"]["files"][0]
    assert best["_index_type"] == "file"
    assert best["_source"]["str_key"] == "drive/gear 0.glb"
    assert best["_source"]["num_filesize"] == 500
    assert by_id["drive"]["_source"]["str_assetname"] == "drive"
    assert by_id["drive"]["_index_type"] == "asset"

    (lamp,) = museum.search(query="lamp", foldFiles=True, size=10)["hits"]["hits"]
    assert (lamp["_id"], lamp["files"]) == ("lamp", [])
    newest = museum.search(
        query="gear", foldFiles=True, size=1, sort=[{"date_lastmodified": "desc"}]
    )
    (first,) = newest["hits"]["hits"]
    assert [file["_id"] for file in first["files"]] == ["gearbox:4", "gearbox:3", "gearbox:2"]
    text = museum.search(
        query="gear", foldFiles=True, facetChoices=[choice_of("str_fileext", ".txt")]
    )
    assert [file["_id"] for file in text["hits"]["hits"][0]["files"]] == ["gearbox:3"]
    assert (ids(text), text["assetsFound"]) == (["gearbox"], 1)
    assert museum.search(query="nothing", foldFiles=True)["hits"]["hits"] == []
    counted = museum.search(query="gear", foldFiles=True, fileCounts=True, size=10)["hits"]["hits"]
    assert {hit["_id"]: hit["fileCount"] for hit in counted} == {"gearbox": 5, "drive": 2}
    named = ["AB_.fact_watertight", "AB_.fact_unit", "AB_.maker", "str_key"]
    assert "AB_" not in best["_source"]
    asked = museum.search(query="drive", foldFiles=True, size=10, sourceFields=named)
    facts = [file["_source"]["AB_"] for file in asked["hits"]["hits"][0]["files"]]
    assert facts == [{"fact_watertight": "true"}, {"fact_watertight": "false"}]
    assert museum.requests_of(query="gear", foldFiles=True, fileCounts=True) == 3
    assert museum.requests_of(query="gear", foldFiles=True) == 2
    assert museum.requests_of(query="nothing", foldFiles=True) == 1
    assert museum.requests_of(query="gear", histograms=["num_filesize"]) == 1
    assert museum.requests_of(query="gear", facetChoices=[choice_of("str_fileext", ".txt")]) == 1


@pytest.mark.parametrize("sort", [[], [{"date_lastmodified": "asc"}], [{"_score": "asc"}]])
def test_folded_files_have_the_scores_of_other_searches(
    museum: Library, sort: list[dict[str, str]]
) -> None:
    plain = museum.search(query="gear", size=100)["hits"]["hits"]
    scores = {hit["_id"]: hit["_score"] for hit in plain}
    folded = museum.search(query="gear", foldFiles=True, sort=sort)["hits"]["hits"]
    files = {file["_id"]: file["_score"] for hit in folded for file in hit["files"]}
    assert len(files) == 5
    assert files == {name: scores[name] for name in files}


COUNTED: dict[str, Any] = {
    "metadataFacets": [
        {"key": "fact_watertight"},
        {"key": "fact_triangles", "ranges": [{"to": 3}, {"from": 3}]},
    ],
    "histograms": ["num_filesize", "date_lastmodified"],
}


def assets(rows: Any) -> list[int]:
    return [row["assets"] for row in rows]


def test_with_folded_files_facets_also_count_assets(museum: Library) -> None:
    reply = museum.search(foldFiles=True)
    aggregations = reply["aggregations"]
    tags = {bucket["key"]: bucket["assets"] for bucket in aggregations["list_tags"]["buckets"]}
    assert tags == {"red": 3, "gearbox": 1, "drive": 1, "lamp": 1}
    (bucket,) = aggregations["str_databaseid"]["buckets"]
    assert (bucket["assets"], bucket["doc_count"], reply["assetsFound"]) == (3, 10, 3)
    assert aggregations["str_databaseid"]["filtered_databaseid"]["buckets"] == [bucket]
    extensions = {
        bucket["key"]: bucket["assets"] for bucket in aggregations["str_fileext"]["buckets"]
    }
    assert extensions == {".glb": 2, ".obj": 1, ".txt": 1}
    of_drive = museum.search(foldFiles=True, facetChoices=[choice_of("list_tags", "drive")])
    (bucket,) = of_drive["aggregations"]["str_databaseid"]["buckets"]
    assert bucket["assets"] == of_drive["assetsFound"] == 1


def test_with_folded_files_facts_and_histograms_also_count_assets(museum: Library) -> None:
    museum.put(
        {
            "drive:0": file(
                "drive",
                0,
                list_tags=["red", "drive"],
                attributes=[
                    {"key": "fact_watertight", "boolean": True},
                    {"key": "fact_triangles", "number": 2},
                ],
            )
        }
    )
    reply = museum.search(foldFiles=True, **COUNTED)
    watertight, triangles = reply["metadataFacets"]
    assert {bucket["key"]: bucket["assets"] for bucket in watertight["buckets"]} == {
        "true": 2,
        "false": 2,
    }
    assert assets(triangles["ranges"]) == [1, 0]
    sizes, dates = reply["histograms"]
    assert assets(sizes["buckets"])[:4] == [2, 2, 1, 0]
    assert max(assets(dates["buckets"])) == 2
    assert all(
        bucket["assets"] <= bucket["documents"] for bucket in (*sizes["buckets"], *dates["buckets"])
    )
    flat = museum.search(**COUNTED)
    assert "assets" not in flat["aggregations"]["list_tags"]["buckets"][0]
    assert "assets" not in flat["histograms"][0]["buckets"][0]
    assert museum.requests_of(foldFiles=True, **COUNTED) == 2


def test_hidden_documents_change_no_count_and_no_file(museum: Library) -> None:
    search = under(museum, [parse_rule(stored("asset", ("databaseId", "equals", "museum")))])
    bodies: tuple[dict[str, Any], ...] = (
        {"facetChoices": [choice_of("str_fileext", ".obj"), choice_of("list_tags", "red")]},
        {
            "facetChoices": [choice_of("fact_watertight", True)],
            "metadataFacets": [{"key": "fact_watertight"}],
        },
        {"histograms": ["num_filesize", "date_lastmodified"]},
        {
            "query": "gear",
            "foldFiles": True,
            "histograms": ["num_filesize"],
            "metadataFacets": [{"key": "fact_watertight"}],
        },
        {"query": "drive", "foldFiles": True, "facetChoices": [choice_of("list_tags", "drive")]},
        {"query": "gaer", "didYouMean": True},
    )

    def replies() -> list[JsonObject]:
        return [
            {name: part for name, part in search(**body).items() if name != "took"}
            for body in bodies
        ]

    before = replies()
    museum.put(documents("vault"))
    assert replies() == before
    assert before[3]["assetsFound"] == 2


def test_hidden_and_archived_assets_are_not_folded_in(museum: Library) -> None:
    search = under(museum, [parse_rule(stored("asset", ("databaseId", "equals", "museum")))])
    before = sorted(ids(search(query="gear", foldFiles=True)))
    # Visible files of invisible assets: documents are indexed one after the other.
    museum.put(
        {
            "secret": asset("secret", str_assetname="secret", str_databaseid="vault"),
            "secret:0": file("secret", 0),
            "retired": asset("retired", str_assetname="retired", bool_archived=True),
            "retired:0": file("retired", 0),
        }
    )
    assert sorted(ids(search(query="gear", foldFiles=True))) == before == ["drive", "gearbox"]


def test_of_equal_files_one_to_look_at_comes_first(library: Library) -> None:
    names = ("a.bin", "b.pdf", "c.png", "d.step", "e.gltf", "f.glb", "g")
    by_name = {
        name: file("flange", 0, str_key=f"flange/{name}", str_fileext=f".{name.partition('.')[2]}")
        for name in names
    }
    del by_name["g"]["str_fileext"]
    library.put({"flange": asset("flange", str_assetname="flange"), **by_name})

    def files(**body: Any) -> list[str]:
        (hit,) = library.search(foldFiles=True, **body)["hits"]["hits"]
        return [file["_id"] for file in hit["files"]]

    assert files() == files(query="flange") == ["e.gltf", "f.glb", "d.step"]
    assert files(sort=["str_assetname"]) == files()
    assert files(query="pdf")[0] == "b.pdf"
    of_others = {"facet": "str_fileext", "values": [".bin", ".pdf", ".png"]}
    assert files(facetChoices=[of_others]) == ["c.png", "b.pdf", "a.bin"]
