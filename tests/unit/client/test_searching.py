"""Searches beyond the first 10,000 hits, by typed metadata, and after one's own writes."""

import json

import httpx
import pytest
from pydantic import JsonValue
from vitrine import MetadataFilter, ProtocolError, SearchQuery, Vitrine
from vitrine.metadata_filters import FilterError, parse_facet, parse_filter, parse_where
from vitrine.transport import Writes

from tests.unit.client.fake_server import FakeServer, reply
from tests.unit.client.shell import Shell


def written(token: str) -> httpx.Response:
    return httpx.Response(
        200, json={"assetId": "x", "message": "m"}, headers={"X-Sync-Token": token}
    )


def page(*names: str, **fields: JsonValue) -> httpx.Response:
    hits: list[JsonValue] = [{"_id": name} for name in names]
    return reply({"hits": {"total": {"value": 9, "relation": "eq"}, "hits": hits}, **fields})


def create(client: Vitrine, server: FakeServer, token: str) -> None:
    server.fail("POST", "^/assets$", written(token))
    client.assets.create("museum", "pump", description="A pump")


def test_every_hit_is_fetched_page_after_page(client: Vitrine, server: FakeServer) -> None:
    server.fail("POST", "^/search$", page("a", "b", after="1"), page("c", "d", after="2"), page())
    query = SearchQuery(query="pump", metadata=[MetadataFilter(key="height", op="gte", value=3)])
    assert [hit.id for hit in client.search.everything(query, page_size=2)] == ["a", "b", "c", "d"]
    sent = [request.content for request in server.sent]
    assert [b'"after":"%d"' % n in body for n, body in enumerate(sent)] == [False, True, True]
    assert b'"after":""' in sent[0]
    assert all(b'"metadataFilters":[{"key":"height","op":"gte","value":3}]' in one for one in sent)


def test_a_cursor_that_comes_twice_ends_the_listing(client: Vitrine, server: FakeServer) -> None:
    server.fail("POST", "^/search$", page("a", after="1"), page("b", after="1"))
    with pytest.raises(ProtocolError, match="same cursor twice"):
        list(client.search.everything(SearchQuery()))


def test_a_filter_of_metadata_makes_a_search_full(client: Vitrine, server: FakeServer) -> None:
    server.fail("POST", "^/search$", page("a"))
    query = SearchQuery(metadata=[MetadataFilter(key="made", op="lt", value="2024", type="date")])
    assert client.search.simple(query).hits.hits[0].id == "a"
    assert b'"aggregations":false' in server.sent[-1].content


def test_a_search_that_waits_names_what_was_written(client: Vitrine, server: FakeServer) -> None:
    create(client, server, "one")
    create(client, server, "two")
    lag: JsonValue = {"pending": 1, "of": 2, "seconds": 5.5}
    server.fail("POST", "^/search$", page(lag=lag), page("a"), page("a"), page("a"))
    found = client.search.full(SearchQuery(), wait=True)
    assert found.lag is not None
    assert (found.lag.pending, found.lag.of) == (1, 2)
    assert client.search.full(SearchQuery(), wait=True).lag is None
    client.search.full(SearchQuery(), wait=True)
    create(client, server, "three")
    client.search.full(SearchQuery())
    sent = [one.headers.get("X-After") for one in server.sent if one.url.path == "/search"]
    assert sent == ["two,one", "two,one", None, None]


def test_just_the_first_page_waits(client: Vitrine, server: FakeServer) -> None:
    create(client, server, "one")
    server.fail("POST", "^/search$", page("a", after="1"), page("b"))
    assert len(list(client.search.everything(SearchQuery(), wait=True))) == 2
    assert [one.headers.get("X-After") for one in server.sent[-2:]] == ["one", None]


def test_as_many_writes_are_named_as_a_header_takes_the_newest_first() -> None:
    writes = Writes()
    for token in ("a" * 4000, "b" * 4000, "c"):
        writes.add(token)
    assert writes.recent() == ("c", "b" * 4000)


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("height>=3", {"key": "height", "op": "gte", "value": 3}),
        ("height < -0.5", {"key": "height", "op": "lt", "value": -0.5}),
        ("made>2024-01-01", {"key": "made", "op": "gt", "value": "2024-01-01"}),
        ("maker=Acme = Sons", {"key": "maker", "op": "eq", "value": "Acme = Sons"}),
        ('part="3"', {"key": "part", "op": "eq", "value": "3"}),
        ("is new=true", {"key": "is new", "op": "eq", "value": True}),
        ("maker", {"key": "maker", "op": "exists", "value": True}),
        ("!maker", {"key": "maker", "op": "exists", "value": False}),
    ],
)
def test_a_filter_is_read_as_people_type_it(text: str, body: dict[str, JsonValue]) -> None:
    assert parse_filter(text).body() == body


@pytest.mark.parametrize("text", ["", "!", "=3", ">=", "height>=", 'part="\\x"'])
def test_what_is_no_filter_is_refused(text: str) -> None:
    with pytest.raises(FilterError):
        parse_filter(text)


def test_search_fetches_everything_and_filters_by_typed_metadata(
    shell: Shell, server: FakeServer
) -> None:
    server.fail("POST", "^/search$", page("a", "b", after="1"), page("c"))
    answer = shell.json("search", "*", "--all", "--metadata", "weight>=3", "--metadata", "!color")
    assert answer["total"] == 3
    hits = answer["hits"]
    assert isinstance(hits, list)
    assert len(hits) == 3
    body = json.loads(server.sent[0].content)
    assert body["after"] == ""
    assert body["metadataFilters"] == [
        {"key": "weight", "op": "gte", "value": 3},
        {"key": "color", "op": "exists", "value": False},
    ]


def test_search_refuses_what_is_no_filter(shell: Shell) -> None:
    shell.run("search", "*", "--metadata", ">=3")
    assert shell.code != 0
    assert "has no key or no value" in shell.err
    shell.run("search", "*", "--all", "--facets")
    assert shell.code == 2


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("triangles > 10000", {"key": "fact_triangles", "op": "gt", "value": 10_000}),
        ("fact_format=OBJ", {"key": "fact_format", "op": "eq", "value": "OBJ"}),
        ("watertight=false", {"key": "fact_watertight", "op": "eq", "value": False}),
        ("!unit", {"key": "fact_unit", "op": "exists", "value": False}),
        ("metadata.width<3", {"key": "width", "op": "lt", "value": 3}),
        ("AB_maker=Acme", {"key": "AB_maker", "op": "eq", "value": "Acme"}),
    ],
)
def test_a_bare_name_is_a_fact(text: str, body: dict[str, JsonValue]) -> None:
    assert parse_where(text).body() == body


@pytest.mark.parametrize("text", ["format=OBJ", "triangles > 3", "watertight >= true", "=3"])
def test_what_is_no_facet_is_refused(text: str) -> None:
    with pytest.raises(FilterError):
        parse_facet(text)


def test_search_filters_counts_and_orders_by_facts(shell: Shell, server: FakeServer) -> None:
    counted: list[JsonValue] = [
        {"key": "fact_format", "documents": 3, "buckets": [{"key": "OBJ", "doc_count": 3}]},
        {
            "key": "fact_texturesMissing",
            "documents": 3,
            "buckets": [{"key": 0, "doc_count": 2}],
            "ranges": [{"from": 1.0, "doc_count": 1}],
        },
    ]
    server.fail("POST", "^/search$", *[page("a", metadataFacets=counted)] * 2)
    request = ("search", "", "--where", "triangles > 10000", "--sort=-triangles")
    facets = ("--facet", "format", "--facet", "texturesMissing >= 1")
    answer = shell.json(*request, *facets)
    assert answer["metadataFacets"] == counted
    body = json.loads(server.sent[-1].content)
    assert body["metadataFilters"] == [{"key": "fact_triangles", "op": "gt", "value": 10_000}]
    assert body["metadataFacets"] == [
        {"key": "fact_format"},
        {"key": "fact_texturesMissing", "ranges": [{"from": 1}]},
    ]
    assert body["sort"] == [{"fact_triangles": "desc"}]
    shell.run(*request, *facets)
    assert "fact_format: OBJ 3" in shell.err
    assert "fact_texturesMissing: from 1.0: 1" in shell.err
    shell.run("search", "", "--all", "--facet", "format")
    assert shell.code == 2


FOLDED: JsonValue = {
    "_id": "museum:pump",
    "_source": {"str_assetid": "pump", "str_assetname": "Pump", "_rectype": "asset"},
    "files": [{"_id": "f", "_source": {"str_assetid": "pump", "str_key": "pump/a/b.glb"}}],
}
HISTOGRAMS: list[JsonValue] = [
    {
        "field": "num_filesize",
        "buckets": [{"to": 1000, "documents": 2}, {"from": 1000, "documents": 0}],
    },
    {
        "field": "date_lastmodified",
        "interval": "1y",
        "buckets": [{"from": "2026-01-01", "documents": 3}],
    },
]
COUNTED: dict[str, JsonValue] = {
    "hits": {"total": {"value": 9, "relation": "eq"}, "hits": [FOLDED]},
    "histograms": HISTOGRAMS,
    "assetsFound": 1,
    "reindexDue": "A reindex is due",
}


def test_search_chooses_facets_counts_histograms_and_folds_files(
    shell: Shell, server: FakeServer
) -> None:
    server.fail("POST", "^/search$", reply(COUNTED), reply(COUNTED))
    request = ("search", "pump", "--choose", "ext=glb", "--choose", "ext=.obj", "--fold")
    request += ("--choose", "metadata.maker=Acme")
    more = ("--choose", "watertight=true", "--histogram", "size", "--histogram", "modified")
    answer = shell.json(*request, *more)
    assert (answer["assetsFound"], answer["histograms"]) == (1, HISTOGRAMS)
    body = json.loads(server.sent[-1].content)
    assert body["facetChoices"] == [
        {"facet": "str_fileext", "values": [".glb", ".obj"]},
        {"facet": "metadata.maker", "values": ["Acme"]},
        {"facet": "fact_watertight", "values": [True]},
    ]
    assert body["histograms"] == ["num_filesize", "date_lastmodified"]
    assert (body["foldFiles"], body["didYouMean"]) == (True, True)
    shell.run(*request, *more)
    assert "a/b.glb" in shell.out
    assert "num_filesize: below 1000: 2" in shell.err
    assert "date_lastmodified: 2026-01-01: 3 (each 1y)" in shell.err
    assert "1 of 1 assets, 9 hits" in shell.err
    assert "A reindex is due" in shell.err
    shell.run("search", "pump", "--choose", "glb")
    assert "is not a facet value" in shell.err


def test_a_folded_page_without_a_removed_asset_is_not_taken_for_the_last_one(
    shell: Shell, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vitrine.cli.search.LARGEST_FOLDED_PAGE", 2)
    pages = (page("a", assetsFound=5), page("c", "d", assetsFound=5), page("e", assetsFound=5))
    server.fail("POST", "^/search(/simple)?$", *pages)
    shell.run("search", "pump", "--fold", "--limit", "5", "--json")
    found = json.loads(shell.out)
    assert [hit["_id"] for hit in found["hits"]] == ["a", "c", "d", "e"]
    bodies = [json.loads(request.content) for request in server.sent]
    assert [(body["from"], body["size"]) for body in bodies] == [(0, 2), (2, 2), (4, 2)]
