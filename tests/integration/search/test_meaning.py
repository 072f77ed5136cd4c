"""Searches by metadata, filters and parts of words find what clients of VAMS expect.

Each test searches the same documents many times, because creating indexes takes longest.
"""

from typing import Any

import pytest

from backend.domains.access.policy.model import parse_rule
from backend.search.query.models import SearchBody, SimpleSearchBody, SuggestQuery
from backend.search.query.service import SearchService
from tests.factories.policies import stored
from tests.integration.search.conftest import CALLER, Library, asset
from tests.integration.search.test_permissions import service_of


def text(key: str, value: str) -> dict[str, Any]:
    return {"key": key, "string": value}


def number(key: str, value: float) -> dict[str, Any]:
    return {"key": key, "string": f"{value:g}", "number": value}


def file(name: str, attributes: list[dict[str, Any]], **fields: Any) -> dict[str, Any]:
    return {
        "_rectype": "file",
        "str_databaseid": "museum",
        "str_assetid": name,
        "str_key": f"{name}/{name}.glb",
        "str_fileext": ".glb",
        "attributes": attributes,
        **fields,
    }


DOCUMENTS = {
    "gear": asset(
        "gear",
        [text("product", "Training"), number("num_parts", 12), text("material", "cast iron")],
        str_assetname="Gear box",
        str_description="Helical gearing of a pump",
        list_tags=["red", "old parts"],
        str_assettype=".glb",
    ),
    "lamp": asset(
        "lamp",
        [
            text("product", "Lighting"),
            number("parts", 3),
            {**text("made", "2026-03-01"), "date": "2026-03-01T00:00:00+00:00"},
        ],
        str_assetname="Desk lamp",
        str_description="With a gear",
        str_assettype="folder",
    ),
    "bearing": file("bearing", [text("maker", "Acme Works"), number("fact_triangles", 12)]),
}
METADATA = [
    ("MD_str_product:Training", "both", {"gear"}),
    ("MD_str_product:train*", "both", {"gear"}),
    ("MD_str_product:Training AND MD_num_num_parts:12", "both", {"gear"}),
    ("MD_num_parts:12", "both", {"gear"}),
    ("MD_num_parts:3", "both", {"lamp"}),
    ("num_parts:3.0 OR product:training", "both", {"gear", "lamp"}),
    ("product:Lighting OR product:Training AND material:steel", "both", {"lamp"}),
    ("material:cast iron", "both", {"gear"}),
    ('material:"cast iron"', "both", {"gear"}),
    ("AB_str_maker:acme works", "both", {"bearing"}),
    ("MD_str_maker:acme works", "both", set[str]()),
    ("maker:Acme*", "both", {"bearing"}),
    ("AB_fact_triangles:12", "both", {"bearing"}),
    ("product", "key", {"gear", "lamp"}),
    ("MD_str_product", "key", {"gear", "lamp"}),
    ("AB_maker OR MD_material", "key", {"gear", "bearing"}),
    ("Light", "value", {"lamp"}),
    ("ast ir", "value", {"gear"}),
    ("works", "value", {"bearing"}),
    ("product:Train*", "value", {"gear"}),
    ("product:Training", "key", {"gear"}),
    ('product:"Training" AND material', "key", {"gear"}),
    ("material:Training", "value", set[str]()),
    ("product:", "key", {"gear", "lamp"}),
    (":Training", "value", {"gear"}),
    ("material", "both", {"gear"}),
    ("train", "both", {"gear"}),
]
FILTERS: list[tuple[str, set[str]]] = [
    ('str_description:"gear"', {"lamp"}),
    ("str_assetname:Gear", {"gear"}),
    ("str_assetname:gea*", {"gear"}),
    ("str_assetname:*ear*", {"gear"}),
    ("str_assetname.keyword:Gear", set()),
    ('str_assetname.keyword:"gear box"', {"gear"}),
    ("helical", {"gear"}),
    ("acme", {"bearing"}),
    ("light*", set()),
    ("_exists_:str_fileext", {"bearing"}),
    ("NOT _exists_:MD_product", {"bearing"}),
    ("MD_product:Training OR AB_maker:*works", {"gear", "bearing"}),
    ("MD_num_parts:[2 TO 4]", {"lamp"}),
    ("MD_made:>2025", {"lamp"}),
    ("MD_made:[2026-02-01 TO 2026-04-01]", {"lamp"}),
    ('str_fileext:"glb" AND str_databaseid:"museum"', {"bearing"}),
    ("str_assettype:glb || str_assettype:folder", {"gear", "lamp"}),
    ("list_tags:old", {"gear"}),
]
WORDS: list[tuple[str, list[str]]] = [
    ("lam", ["lamp"]),
    ("amp", ["lamp"]),
    ("GEAR", ["gear", "lamp"]),
    ("gea", ["gear", "lamp"]),
    ("ear", ["gear", "bearing", "lamp"]),
    ("bear", ["bearing"]),
    ("helixal", ["gear"]),
    ("helxxal", []),
    ("*elica", ["gear"]),
    ("desk gear", ["lamp", "gear"]),
    ("gear training", ["gear", "lamp"]),
    ("helical desk lamp", ["lamp", "gear"]),
    ("gear unknown", ["gear", "lamp"]),
    ("lam unknown", []),
    ("unknown other", []),
    ("raini", ["gear"]),
    ("cme", ["bearing"]),
]


@pytest.fixture
def museum(library: Library) -> Library:
    library.put(DOCUMENTS)
    return library


def test_queries_mean_what_clients_of_vams_mean(museum: Library) -> None:
    def of_metadata(query: str, mode: str) -> set[str]:
        return museum.ids(metadataQuery=query, metadataSearchMode=mode)

    results = {(query, mode): of_metadata(query, mode) for query, mode, _ in METADATA}
    assert results == {(query, mode): ids for query, mode, ids in METADATA}
    filtered = {
        query: museum.ids(filters=[{"query_string": {"query": query}}]) for query, _ in FILTERS
    }
    assert filtered == dict(FILTERS)


def test_parts_of_words_are_found_after_whole_ones(museum: Library) -> None:
    def order(query: str) -> list[str]:
        return [hit["_id"] for hit in museum.search(query=query)["hits"]["hits"]]

    assert {query: order(query) for query, _ in WORDS} == dict(WORDS)
    assert museum.ids(query="raini", includeMetadataInSearch=False) == set()
    museum.put(
        {
            "x1": asset("a1b2-c3d4-e5", str_assetname="Something"),
            "f1": file("a1b2-c3d4-e5", [], str_key="a1b2-c3d4-e5/a1b2-c3d4-e5.glb"),
            "f2": file("other", [], str_key="other/drive.v2.glb"),
            "f3": file("other", [], str_key="other/drive.v2.glb/drive.v2.glb.txt"),
        }
    )
    assert order("a1b2-c3d4-e5")[0] == "x1"
    assert order("drive.v2.glb")[0] == "f2"


IDS = ("xface2b0b-0def-4b00-9ace-10c0ffee1020", "0ddba112-0def-4b00-9ace-20c0ffee2a10")


def test_no_part_of_a_generated_id_is_found_but_the_whole_id_is(library: Library) -> None:
    one, other = IDS
    library.put(
        {
            "a1": asset(one, str_assetname="Rotor"),
            "p2": file(one, [], str_key=f"{one}/part 2.txt"),
            "p10": file(one, [], str_key=f"{one}/part 10.txt"),
            "a2": asset(other, str_assetname="Stator x2"),
            "p3": file(other, [], str_key=f"bed/{other}/part 3.txt"),
        }
    )

    def order(query: str, **body: Any) -> list[str]:
        hits = library.search(query=query, aggregations=False, **body)["hits"]["hits"]
        return [hit["_id"] for hit in hits]

    assert order("part 2")[0] == "p2"
    parts = ("2", "10", "0", "b", "face", "xface2b0b", "coffee", "0ddba112", "c0ffee", "0def", "x")
    found = {part: order(part) for part in (*parts, "bed", "x2", '"4b00"', "0d*", "0def-4b00")}
    names = {"2": ["a2", "p2"], "10": ["p10"], "x": ["a2"], "x2": ["a2"]}
    folders = {"b": ["p3"], "bed": ["p3"]}
    assert {part: ids for part, ids in found.items() if ids} == names | folders
    for text in (one, one.upper(), f"{one} rotor"):
        assert order(text)[0] == "a1", text
    for text in (one, one.upper(), f"{one} rotor", f'"{one}"', f"+{one}"):
        assert set(order(text)) == {"a1", "p2", "p10"}, text
    assert order(other) == ["a2", "p3"]
    assert order(f"{one}/part 10.txt", entityTypes=["file"])[0] == "p10"
    assert library.ids(filters=[{"query_string": {"query": f'str_assetid:"{one}"'}}]) == {
        *("a1", "p2", "p10")
    }


def test_suggestions_and_corrections_know_visible_documents_only(museum: Library) -> None:
    def suggest_texts(service: SearchService, text: str) -> list[tuple[str, str]]:
        query = SuggestQuery(q=text)
        return [
            (suggestion["text"], suggestion["kind"])
            for suggestion in service.suggest(CALLER, query)
        ]

    assert suggest_texts(museum.service, "gea") == [("Gear box", "name")]
    assert suggest_texts(museum.service, "pro") == [("product", "key")]
    assert suggest_texts(museum.service, "re") == [("red", "tag")]
    assert suggest_texts(museum.service, "light") == [("Lighting", "value")]

    def correction_of(query: str, **body: Any) -> str | None:
        return museum.search(query=query, didYouMean=True, **body).get("didYouMean")

    assert correction_of("gaer bxo") == "Gear box"
    assert correction_of("gaer bxo", entityTypes=["file"]) is None
    assert correction_of("gaer bxo", metadataQuery="product:Lighting") is None
    assert correction_of("gear") is None
    assert correction_of("zzzzzz") is None
    assert "didYouMean" not in museum.search(query="gaer bxo")

    mine = service_of(museum, [parse_rule(stored("asset", ("databaseId", "equals", "museum")))])
    texts = ("gea", "pro", "light", "re", "sec")
    before = [mine.suggest(CALLER, SuggestQuery(q=text)) for text in texts]
    hidden = [text("product", "Lighting"), text("secretkey", "secretvalue")]
    museum.put(
        {
            f"h{n}": asset(f"h{n}", hidden, str_assetname="Gear secret", list_tags=["red"])
            | {"str_databaseid": "closed"}
            for n in range(5)
        }
    )
    assert [mine.suggest(CALLER, SuggestQuery(q=text)) for text in texts] == before
    assert before[-1] == []
    request = SearchBody.model_validate({"query": "sxcxet", "didYouMean": True})
    assert "didYouMean" not in mine.search(CALLER, request)
    assert museum.service.search(CALLER, request)["didYouMean"] == "secret"


def test_hits_with_all_words_come_first_and_are_counted(museum: Library) -> None:
    def count_hits(query: str, **body: Any) -> tuple[int, int | None]:
        reply = museum.search(query=query, **body)
        return reply["hits"]["total"]["value"], reply.get("withAllWords")

    assert count_hits("gear") == (2, None)
    assert count_hits('"gear" desk') == (1, None)
    assert count_hits("gear desk") == (2, 1)
    assert count_hits("gaer desk") == (1, 0)
    assert count_hits("helixal gea") == (1, 1)
    assert count_hits("helixal~1 desk~") == (1, 0)
    assert count_hits("unknown other") == (0, 0)
    assert count_hits("gear desk", size=0, aggregations=False) == (2, 1)
    assert count_hits("gear desk", sort=["str_assetname"], aggregations=False) == (2, 1)
    assert count_hits("gear desk", sort=["metadata.product"], foldFiles=True) == (2, 1)
    choices = [{"facet": "str_assettype", "values": [".glb"]}]
    assert count_hits("gear desk", facetChoices=choices) == (1, 0)
    assert count_hits("gear desk", after="", size=1) == (2, 1)
    simple = SimpleSearchBody(query="gear desk", size=1)
    reply = museum.service.search_simple(CALLER, simple)
    assert ([hit["_id"] for hit in reply["hits"]["hits"]], reply["withAllWords"]) == (["lamp"], 1)
    assert "aggregations" not in reply


def test_a_search_is_one_request_to_opensearch(museum: Library) -> None:
    assert museum.requests_of(query="gear", metadataQuery="product:Training") == 1
    assert museum.requests_of(query="gaer bxo") == 1
    assert museum.requests_of(query="gear", didYouMean=True) == 1
    assert museum.requests_of(query="gaer bxo", didYouMean=True) == 2
    assert museum.requests_of(query="zzzzzz", didYouMean=True) == 2


def test_assets_are_ranked_before_files_that_match_no_better(library: Library) -> None:
    fan = {"str_assetname": "Ventilator housing", "list_tags": ["brass"]}
    library.put(
        {
            "fan": asset("fan", [text("partNumber", "QX-4471-B")], **fan),
            "fan:1": file("fan", [], **{**fan, "str_key": "fan/ventilator left.glb"}),
            "case": file("case", [], str_key="case/qx-4471-b.glb", list_tags=["brass"]),
        }
    )

    def first(query: str) -> str:
        return library.search(query=query)["hits"]["hits"][0]["_id"]

    assert first("ventilator") == "fan"  # its file has the word in two fields
    assert first("brass") == "fan"  # all three have one score
    assert first("QX-4471-B") == "fan"  # a part number counts like an id


def test_a_word_that_the_analyzer_splits_stays_together(library: Library) -> None:
    names = {
        "CLI-Gear": "",
        "CLI tools": "gear for all",
        "Gearbox": "",
        "Helical gears": "",
        "PumpHousing_v2": "",
        "Housing of a pump, v2": "",
    }
    documents = {
        name: asset(
            name, [text("partNumber", f"AB-{n}.3")], str_assetname=name, str_description=about
        )
        for n, (name, about) in enumerate(names.items())
    }
    keys = ("gear.txt", "notes of gear/readme.txt", "gear-box.txt", "box/PumpHousing_v2.glb")
    documents |= {
        key: file("x", [], str_key=f"x/{key}", str_fileext=f".{key.rpartition('.')[2]}")
        for key in keys
    }
    library.put(documents)
    for query, item in (
        ("gear.txt", {"gear.txt"}),
        ("GEAR.TXT", {"gear.txt"}),
        ("gear.tx", {"gear.txt"}),
        ("x/gear.txt", {"gear.txt"}),
        ("CLI-Gear", {"CLI-Gear"}),
        ("gear-box", {"gear-box.txt", "Gearbox"}),
        ("pumphousing_v2.glb", {"box/PumpHousing_v2.glb"}),
        ("CLI_gear", {"CLI-Gear", "CLI tools", *keys[:3]}),
        ("PumpHousing-v2", {"PumpHousing_v2", "box/PumpHousing_v2.glb"}),
        ("helixal-gears", {"Helical gears"}),
        ("AB-2.3", {"Gearbox"}),
        ("ab-2", {"Gearbox"}),
        ("txt.gear", set[str]()),
        ("gear.txt readme", {"gear.txt", "notes of gear/readme.txt"}),
        ("gear tools", {"CLI-Gear", "CLI tools", *keys[:3]}),
        ("nope.glb~1", set[str]()),
        ("geer-box.txt~1", {"gear-box.txt"}),
        ("tools,readme;acme", {"CLI tools", keys[1]}),
        ("tools、readme", {"CLI tools", keys[1]}),
        ("2,3", {"Gearbox"}),
        *((text, {"CLI tools"}) for text in ("tool's", "Tools’s, nope", "tools's -red")),  # noqa: RUF001
        ("readme's.txt", set[str]()),
    ):
        assert library.ids(query=query) == item, query
    assert "withAllWords" not in library.search(query="gear.txt")
    assert library.search(query="gear.txt readme")["withAllWords"] == 0
    (hit,) = library.search(query="gear.txt")["hits"]["hits"]
    assert set(hit["highlight"]) == {"str_key"}


def test_words_that_a_key_repeats_stay_together(library: Library) -> None:
    keys = ("gear-0cc/gear.stl", "table-1dd/legs.stl", "table-1dd/ring.ply")
    library.put({key: file(key.split("/")[0], [], str_key=key) for key in keys})
    for query, items in (
        ('"gear.stl"', keys[:1]),
        ("gear.stl material", keys[:1]),
        ("gear.stl table", keys),
        ('"table-1dd"', keys[1:]),
    ):
        assert library.ids(query=query, aggregations=False) == {*items}, query
