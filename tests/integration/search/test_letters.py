"""Searches in other forms of letters: case, Unicode form, signs, empty values.

Each test searches the same documents many times, because creating indexes takes longest.
"""

# ruff: noqa: RUF001 (letters of other scripts)

import json
import random
import re
import unicodedata
from collections.abc import Callable
from typing import Any

import pytest

from backend.core.errors import VitrineError
from backend.core.search_engine import JsonObject
from backend.search.query.letters import fold
from backend.search.query.models import SearchBody, SimpleSearchBody, SuggestQuery
from backend.search.values import Record, misplaced_keys, typed_pairs
from backend.spec.analysis import INNER_NORMALIZER
from tests.integration.search.conftest import CALLER, Library, asset
from tests.integration.search.test_meaning import file, number, text

PLACE = '{"type": "Point", "coordinates": [8.5, 47.4]}'


def nfd(value: str) -> str:
    return unicodedata.normalize("NFD", value)


def place(kind: str, value: str) -> list[JsonObject]:
    return typed_pairs([Record("place", value, kind)])


DOCUMENTS = {
    "cafe": asset(
        "cafe",
        [text("maker", "Müller"), text("LÄNGE", "Straße 12"), text("empty", "")],
        str_assetname="Das Café 😀 am Ring",
        str_description="Смола и краска",
    ),
    "moscow": asset("moscow", [text("город", "Москва"), text("dc:title", "Red: square")]),
    "greek": asset("greek", [text("ὄνομα", "Ὀδυσσεύς")], str_assetname="ΟΔΟΣ"),
    "kelvin": asset("kelvin", [text("unit", "300 \u212a"), text("site", "https://a.example/x")]),
    "apart": asset(
        "apart",
        [text("maker", nfd("Jürgen")), text(nfd("größe"), "12")],
        str_assetname=nfd("Été в Йошкар-Оле"),
        list_tags=[nfd("Façade")],
    ),
    "long": asset("long", [text("maker", "Ж" * 900)]),
    "unspaced": asset(
        "unspaced",
        [text("材料名称", "铸铁外壳")],
        str_assetname="模型文件测试",
        str_description="日本語モデル 한국어모델 Вебсайты",
        list_tags=[nfd("プラグ付き")],
    ),
    "hangul": asset("hangul", [text("이름", nfd("한글"))], list_tags=["❤\ufe0f"]),
    "view": file(
        "view",
        [number("fact_triangles", 12), text("farbe", "Weiß")],
        str_key="view/Übersicht Größe.GLB",
    ),
    "claims": asset(
        "claims",
        [number("fact_triangles", 777), number("num_fact_triangles", 888), number("Fact_area", 9)],
    ),
    "geopoint": asset("geopoint", place("geopoint", PLACE)),
    "geojson": asset("geojson", place("geojson", PLACE)),
    "feature": asset(
        "feature",
        place("geojson", f'{{"type": "Feature", "properties": {{}}, "geometry": {PLACE}}}'),
    ),
    "far": asset("far", place("geojson", '{"type": "Point", "coordinates": [9.5, 47.4]}')),
    "line": asset("line", place("geojson", '{"type": "LineString", "coordinates": [[8.5, 47.4]]}')),
}
METADATA: list[tuple[str, set[str]]] = [
    ("maker:MÜLLER", {"cafe"}),
    (nfd("maker:müller"), {"cafe"}),
    ("maker:MULLER", set()),
    ("maker:JÜRGEN", {"apart"}),
    (nfd("maker:JÜR*"), {"apart"}),
    ("maker:*ÜL*", {"cafe"}),
    ('maker:"MÜLLER"', {"cafe"}),
    ("länge:STRASSE 12", {"cafe"}),
    ("LäN?E:straẞe*", {"cafe"}),
    ("GRÖSSE:12", {"apart"}),
    ("город:москва", {"moscow"}),
    ("ГОРОД:МОСК*", {"moscow"}),
    ("ὌΝΟΜΑ:ὈΔΥΣΣΕΎΣ", {"greek"}),
    ("unit:300 k", {"kelvin"}),
    ("unit:300 \u212a", {"kelvin"}),
    ("이름:한글", {"hangul"}),
    (f"maker:{'ж' * 900}", {"long"}),
    ("AB_FARBE:weiss", {"view"}),
    ("empty:", {"cafe"}),
    ('empty:""', {"cafe"}),
    ("EMPTY: AND maker:müller", {"cafe"}),
    ("dc:title:red: SQUARE", {"moscow"}),
    ('"dc:title":"Red: square"', {"moscow"}),
    ("dc:title:", set()),
    ('"dc:title":*square', {"moscow"}),
    ("MD_dc:title:red*", {"moscow"}),
    ("site:https://a.example/x", {"kelvin"}),
    ("maker", {"cafe", "apart", "long"}),
    ('"dc:title"', {"moscow"}),
    ("fact_triangles:777", set()),
    ("fact_triangles:12", {"view"}),
    ("FACT_TRIANGLES:777", set()),
    ("fact_tri*:777", set()),
    ("num_fact_triangles:777", set()),
    ("num_fact_triangles:888", {"claims"}),
    ("MD_fact_triangles:777", {"claims"}),
    ("fact_area:9", set()),
]
FILTERS: list[tuple[str, set[str]]] = [
    ("str_assetname:CAFÉ*", {"cafe"}),
    (nfd("str_assetname:café*"), {"cafe"}),
    ("str_assetname:caf?", {"cafe"}),
    ('str_assetname.keyword:"DAS CAFÉ 😀 AM RING"', {"cafe"}),
    ("str_assetname.keyword:οδος", {"greek"}),
    ("str_assetname:ÉTÉ", {"apart"}),
    ("str_assetname:йош*", {"apart"}),
    ("list_tags:FAÇADE", {"apart"}),
    ("list_tags:*ÇAD*", {"apart"}),
    ("str_key:*über*", {"view"}),
    ("str_key:*ÜBERSICHT*", {"view"}),
    ("str_key:GRÖSSE*", {"view"}),
    ("MD_maker:MÜL* OR MD_город:МОСКВА", {"cafe", "moscow"}),
    ("_exists_:MD_LÄNGE", {"cafe"}),
    ("MD_länge:*", {"cafe"}),
    (r"MD_dc\:title:red*", {"moscow"}),
    ("йошкар", {"apart"}),
    ("😀", {"cafe"}),
    ("fact_triangles:777", set()),
    ("fact_triangles:[700 TO 800]", set()),
    ("fact_triangles:[10 TO 20]", {"view"}),
    ("AB_fact_triangles:777", set()),
    ("MD_fact_triangles:777", {"claims"}),
    ("metadata.fact_triangles:[700 TO 800]", {"claims"}),
    ("_exists_:fact_triangles", {"view"}),
]
WORDS: list[tuple[str, set[str]]] = [
    ("CAFÉ", {"cafe"}),
    (nfd("café"), {"cafe"}),
    ("СМОЛА", {"cafe"}),
    ("été", {"apart"}),
    ("йошкар", {"apart"}),
    ("ЙОШ", {"apart"}),
    ("jürgen", {"apart"}),
    ("façad", {"apart"}),
    ('"été в йошкар"', {"apart"}),
    ("한글", {"hangul"}),
    ("übersicht", {"view"}),
    ("WEISS", {"view"}),
    ("😀", {"cafe"}),
    ("🎉", set()),
    ("❤\ufe0f", {"hangul"}),
    ("❤", {"hangul"}),
    *(
        (word, {"unspaced"})
        for word in ("测试", "文件", "文", "モデル", "語", "ラグ", "모델", "델")
    ),
    *((word, {"unspaced"}) for word in ("铁外", "外壳 文件", "сайт")),
    *(
        (text, {"unspaced"})
        for text in ("文件 foo", "foo 铁外", "型文件测 boo.glb", "文件.foo、델", '"文件"')
    ),
    ("测" * 5000, set()),
    (f"{'测' * 33} café", {"cafe"}),
    ("试测", set()),
    ("モテル", set()),
    ("саит", set()),
]


@pytest.fixture
def shelf(library: Library) -> Library:
    library.put(DOCUMENTS)
    return library


def test_letters_are_found_in_any_case_and_form(shelf: Library) -> None:
    def wrong(request: list[tuple[str, set[str]]], body: str) -> list[tuple[str, set[str]]]:
        def sent(query: str) -> Any:
            return [{"query_string": {"query": query}}] if body == "filters" else query

        results = [(query, shelf.ids(**{body: sent(query)})) for query, _ in request]
        return [result for result, wanted in zip(results, request, strict=True) if result != wanted]

    assert wrong(METADATA, "metadataQuery") == []
    assert wrong(FILTERS, "filters") == []
    assert wrong(WORDS, "query") == []


def test_shapes_that_the_engine_ignores_are_named_in_warnings(library: Library) -> None:
    numbers = random.Random(3)
    shapes: dict[str, str] = {}
    for n in range(300):
        size = numbers.choice([3, 20, 1000])
        ring = [
            [numbers.randint(-size, size) * 80 / size for _ in range(2)]
            for _ in range(numbers.randint(3, 8))
        ]
        shape = {"type": "Polygon", "coordinates": [[*ring, ring[0]]]}
        shapes[f"shape-{n}"] = json.dumps(shape)
    library.put({name: asset(name, place("geojson", shape)) for name, shape in shapes.items()})
    named = {
        name for name, shape in shapes.items() if misplaced_keys([Record("k", shape, "geojson")])
    }
    world = {"top": 90, "left": -180, "bottom": -90, "right": 180}
    requests = [{"key": "place", "op": "geoBox", "value": world}]
    result = library.ids(metadataFilters=requests)
    assert 50 < len(result) < len(shapes)
    assert shapes.keys() - named <= result
    # Documents whose shape is ignored are found by everything else.
    assert library.ids() == shapes.keys()


def test_points_in_geojson_are_found_as_geopoints_are(shelf: Library) -> None:
    near = {"lat": 47.4, "lon": 8.5, "meters": 100}
    box = {"top": 47.5, "left": 8.4, "bottom": 47.3, "right": 8.6}
    for op, value in (("geoDistance", near), ("geoBox", box)):
        requests = [{"key": "place", "op": op, "value": value}]
        assert shelf.ids(metadataFilters=requests) == {"geopoint", "geojson", "feature"}, op


def test_shapes_in_geojson_are_found_where_they_touch_an_area(shelf: Library) -> None:
    square = [[8.0, 47.0], [9.0, 47.0], [9.0, 48.0], [8.0, 48.0], [8.0, 47.0]]
    shapes: dict[str, JsonObject] = {
        "square": {"type": "Polygon", "coordinates": [square]},
        "line": {"type": "LineString", "coordinates": [[8.4, 47.4, 400], [8.6, 47.4, 500]]},
        "of-features": {
            "type": "FeatureCollection",
            "features": [
                {
                    "type": "Feature",
                    "geometry": {"type": "MultiPoint", "coordinates": [[8.5, 47.4]]},
                }
            ],
        },
        "crossed": {"type": "Polygon", "coordinates": [[square[n] for n in (0, 2, 1, 3, 0)]]},
        "open": {"type": "Polygon", "coordinates": [square[:3]]},
        "elsewhere": {"type": "LineString", "coordinates": [[179, 10], [-179, 11]]},
        "nowhere": {"type": "LineString", "coordinates": [[8.5, 147.4], [8.6, 147.4]]},
        "unknown": {"type": "Circle", "coordinates": [8.5, 47.4], "radius": "9km"},
    }
    library = shelf
    library.put(
        {name: asset(name, place("geojson", json.dumps(shape))) for name, shape in shapes.items()}
    )
    near = {"lat": 47.4, "lon": 8.5, "meters": 100}
    box = {"top": 47.5, "left": 8.4, "bottom": 47.3, "right": 8.6}
    result = {"geopoint", "geojson", "feature", "square", "line", "of-features"}
    for op, value in (("geoDistance", near), ("geoBox", box)):
        requests = [{"key": "place", "op": op, "value": value}]
        assert library.ids(metadataFilters=requests) - {"crossed"} == result, op
    half = {"key": "place", "op": "geoDistance", "value": {**near, "meters": 20_000_000}}
    assert library.ids(metadataFilters=[half]) >= result
    pacific = {"top": 20, "left": 170, "bottom": 0, "right": -170}
    requests = [{"key": "place", "op": "geoBox", "value": pacific}]
    assert library.ids(metadataFilters=requests) >= {"elsewhere"}
    (hit,) = library.search(query="", filters=[{"term": {"str_assetid": "square"}}])["hits"]["hits"]
    assert [pair.keys() for pair in hit["_source"]["metadata"]] == [{"key", "string"}]
    assert library.ids(filters=[{"exists": {"field": "MD_place"}}]) >= set(shapes)


def test_words_without_spaces_are_highlighted(shelf: Library) -> None:
    (hit,) = shelf.search(query="文件 語")["hits"]["hits"]
    assert hit["highlight"] == {
        "str_assetname": ["<em>模型文件测试</em>"],
        "str_description": ["<em>日本語モデル</em> 한국어모델 Вебсайты"],
    }


def test_letters_are_folded_as_the_indexes_fold_them(shelf: Library) -> None:
    letters = [
        char
        for char in map(chr, range(128, 0x110000))
        if unicodedata.category(char) not in {"Cn", "Co", "Cs"} and not char.isspace()
    ]
    for start in range(0, len(letters), 9000):
        some = letters[start : start + 9000]
        reply = shelf.engine.client.indices.analyze(
            index=shelf.pointer.assets_read, body={"normalizer": INNER_NORMALIZER, "text": some}
        )
        assert [token["token"] for token in reply["tokens"]] == [fold(char) for char in some]


def test_named_fields_and_suggestions_ignore_case_and_form(shelf: Library) -> None:
    def simple(**body: Any) -> set[str]:
        reply = shelf.service.search_simple(CALLER, SimpleSearchBody.model_validate(body))
        return {hit["_id"] for hit in reply["hits"]["hits"]}

    assert simple(assetName="das café 😀 AM ring") == {"cafe"}
    assert simple(fileKey="*GRÖSSE.glb") == {"view"}
    assert simple(tags=["FAÇADE"]) == {"apart"}
    assert simple(metadataKey="länge", metadataValue="STRASSE") == {"cafe"}
    assert simple(metadataKey="fact_triangles", metadataValue="777") == set()

    def suggest_texts(typed: str) -> list[str]:
        return [
            suggestion["text"]
            for suggestion in shelf.service.suggest(CALLER, SuggestQuery(q=typed))
        ]

    assert suggest_texts("län") == ["LÄNGE"]
    assert suggest_texts("été") == [nfd("Été в Йошкар-Оле")]
    assert suggest_texts("文件") == ["模型文件测试"]
    assert suggest_texts("グ") == [nfd("プラグ付き")]
    assert suggest_texts("名") == ["材料名称"]
    assert suggest_texts("铁") == ["铸铁外壳"]


ENGINE_WORDS = re.compile(
    r"determin|automat|lucene|opensearch|query_shard|shard|failed to|wildcard query|regex|"
    r"Exception|\.keyword|\.inner|metadata\.(key|string)|max_clause|term:|nested",
    re.IGNORECASE,
)
LONG = "ab" * 250
HOSTILE: tuple[JsonObject, ...] = (
    *(
        {"filters": [{"query_string": {"query": body}}]}
        for body in (
            "str_assetname:" + "a*" * 2000,
            "str_key:" + "a?" * 1000,
            "a*" * 2000,
            f"str_key:*{LONG}",
            f"MD_maker:*{LONG}*",
            f"*{LONG}*",
            "MD_" + "a*" * 1000 + ":x",
            "_exists_:MD_" + "a*" * 1000,
            "str_key:*a" + "?" * 29,
            "str_key:*é" + "é?" * 29,
        )
    ),
    {"filters": [{"exists": {"field": "MD_" + "a*" * 2000}}]},
    {"filters": [{"term": {"MD_" + "a*" * 2000: "x"}}]},
    *({"metadataQuery": f"{'a*' * 1000}:x", "metadataSearchMode": m} for m in ("both", "key")),
    *({"metadataQuery": "a*" * 2000, "metadataSearchMode": m} for m in ("both", "value")),
    *({"metadataQuery": text} for text in (f"maker:*{LONG}*", "maker:" + "*é" * 30, "*é*" * 10)),
    *({"query": text} for text in ("a*" * 2000, "*a" * 2000, f"*{LONG}", "a?" * 2000, "**" * 2000)),
    {"query": f"{'a' * 255}~2 {'b' * 255}~2"},
    {"query": "é" * 5000},
)
HOSTILE_FIELDS: tuple[JsonObject, ...] = tuple(
    {field: ["a*" * 500] if field == "tags" else value}
    for field in ("assetName", "fileKey", "tags", "metadataKey", "metadataValue", "databaseId")
    for value in ("a*" * 500, f"*{LONG}")
)


def test_no_reply_has_words_of_the_engine(shelf: Library) -> None:
    def simple(**body: Any) -> object:
        return shelf.service.search_simple(CALLER, SimpleSearchBody.model_validate(body))

    messages = [message_of(shelf.search, body) for body in HOSTILE]
    messages += [message_of(simple, body) for body in HOSTILE_FIELDS]
    assert [message for message in messages if ENGINE_WORDS.search(message)] == []
    assert sum("wildcards" in message for message in messages) >= 20
    with pytest.raises(VitrineError) as refused:
        shelf.engine.search([shelf.pointer.assets_read], {"query": {"unknown": {}}})
    assert not ENGINE_WORDS.search(refused.value.message)


def message_of(search: Callable[..., object], body: JsonObject) -> str:
    try:
        search(**body)
    except VitrineError as error:
        return error.message
    return ""


def test_a_pattern_with_too_many_wildcards_is_named(shelf: Library) -> None:
    request = SearchBody(filters=[{"query_string": {"query": "str_key:" + "a*" * 31}}])
    with pytest.raises(VitrineError, match=r"filters\.0: 31 wildcards .* at most 30 are allowed"):
        shelf.service.search(CALLER, request)
