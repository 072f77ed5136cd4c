"""Searches beyond the first 10,000 hits, by typed metadata, and after one's own writes."""

import json
from pathlib import Path

import httpx
import pytest
from pydantic import JsonValue
from vitrine import MetadataFilter, ProtocolError, SearchQuery, Vitrine
from vitrine.metadata_filters import (
    FilterError,
    parse_facet,
    parse_filter,
    parse_geo,
    parse_where,
)
from vitrine.transport import Writes

from tests.unit.client.fake_server import FakeServer, reply
from tests.unit.client.shell import Shell


def written_reply(token: str) -> httpx.Response:
    return httpx.Response(
        200, json={"assetId": "x", "message": "m"}, headers={"X-Sync-Token": token}
    )


def page(*names: str, **fields: JsonValue) -> httpx.Response:
    hits: list[JsonValue] = [{"_id": name} for name in names]
    return reply({"hits": {"total": {"value": 9, "relation": "eq"}, "hits": hits}, **fields})


def create(client: Vitrine, server: FakeServer, token: str) -> None:
    server.fail("POST", "^/assets$", written_reply(token))
    client.assets.create("museum", "pump", description="A pump")


def test_every_hit_is_fetched_page_after_page_also_by_metadata(
    client: Vitrine, server: FakeServer
) -> None:
    server.fail("POST", "^/search$", page("a", "b", after="1"), page("c", "d", after="2"), page())
    query = SearchQuery(query="pump", metadata=[MetadataFilter(key="height", op="gte", value=3)])
    assert [hit.id for hit in client.search.everything(query, page_size=2)] == ["a", "b", "c", "d"]
    sent = [request.content for request in server.sent]
    assert [b'"after":"%d"' % n in body for n, body in enumerate(sent)] == [False, True, True]
    assert b'"after":""' in sent[0]
    assert all(
        b'"metadataFilters":[{"key":"height","op":"gte","value":3}]' in request for request in sent
    )
    server.fail("POST", "^/search$", page("a"))
    query = SearchQuery(metadata=[MetadataFilter(key="made", op="lt", value="2024", type="date")])
    assert client.search.simple(query).hits.hits[0].id == "a"
    assert b'"aggregations":false' in server.sent[-1].content


def test_a_cursor_that_comes_twice_ends_the_listing_and_just_the_first_page_waits(
    client: Vitrine, server: FakeServer
) -> None:
    server.fail("POST", "^/search$", page("a", after="1"), page("b", after="1"))
    with pytest.raises(ProtocolError, match="same cursor twice"):
        list(client.search.everything(SearchQuery()))
    create(client, server, "one")
    server.fail("POST", "^/search$", page("a", after="1"), page("b"))
    assert len(list(client.search.everything(SearchQuery(), wait=True))) == 2
    assert [request.headers.get("X-After") for request in server.sent[-2:]] == ["one", None]


def test_a_search_that_waits_names_what_was_written(client: Vitrine, server: FakeServer) -> None:
    create(client, server, "one")
    create(client, server, "two")
    lag: JsonValue = {"pending": 1, "of": 2, "seconds": 5.5}
    server.fail("POST", "^/search$", page(lag=lag), page("a"), page("a"), page("a"))
    result = client.search.full(SearchQuery(), wait=True)
    assert result.lag is not None
    assert (result.lag.pending, result.lag.of) == (1, 2)
    assert client.search.full(SearchQuery(), wait=True).lag is None
    client.search.full(SearchQuery(), wait=True)
    create(client, server, "three")
    client.search.full(SearchQuery())
    sent = [
        request.headers.get("X-After") for request in server.sent if request.url.path == "/search"
    ]
    assert sent == ["two,one", "two,one", None, None]


def test_as_many_writes_are_named_as_a_header_takes_the_newest_first() -> None:
    writes = Writes()
    for token in ("a" * 4000, "b" * 4000, "c"):
        writes.add(token)
    assert writes.recent() == ("c", "b" * 4000)


def test_a_filter_is_read_as_people_type_it_and_what_is_none_refused() -> None:
    for text, body in (
        ("height>=3", {"key": "height", "op": "gte", "value": 3}),
        ("height < -0.5", {"key": "height", "op": "lt", "value": -0.5}),
        ("made>2024-01-01", {"key": "made", "op": "gt", "value": "2024-01-01"}),
        ("maker=Acme = Sons", {"key": "maker", "op": "eq", "value": "Acme = Sons"}),
        ('part="3"', {"key": "part", "op": "eq", "value": "3"}),
        ("is new=true", {"key": "is new", "op": "eq", "value": True}),
        ("maker", {"key": "maker", "op": "exists", "value": True}),
        ("!maker", {"key": "maker", "op": "exists", "value": False}),
    ):
        assert parse_filter(text).body() == body
    for text in ("", "!", "=3", ">=", "height>=", 'part="\\x"'):
        with pytest.raises(FilterError):
            parse_filter(text)


def test_a_bare_name_is_a_fact_and_what_is_no_facet_refused() -> None:
    for text, body in (
        ("triangles > 10000", {"key": "fact_triangles", "op": "gt", "value": 10_000}),
        ("fact_format=OBJ", {"key": "fact_format", "op": "eq", "value": "OBJ"}),
        ("watertight=false", {"key": "fact_watertight", "op": "eq", "value": False}),
        ("!unit", {"key": "fact_unit", "op": "exists", "value": False}),
        ("metadata.width<3", {"key": "width", "op": "lt", "value": 3}),
        ("AB_maker=Acme", {"key": "AB_maker", "op": "eq", "value": "Acme"}),
    ):
        assert parse_where(text).body() == body
    for text in ("format=OBJ", "triangles > 3", "watertight >= true", "=3"):
        with pytest.raises(FilterError):
            parse_facet(text)


def test_a_place_is_read_as_people_type_it_and_what_is_none_refused(
    shell: Shell, server: FakeServer, tmp_path: Path
) -> None:
    shape: JsonValue = {"type": "Point", "coordinates": [8.5, 47.4]}
    area = tmp_path / "area.geojson"
    area.write_text(json.dumps(shape))
    corners = {"topLeft": {"lat": 48, "lon": 8}, "bottomRight": {"lat": 47, "lon": 9}}
    for options, expected in (
        (["--geo-point", "47.4, -8.5"], {"point": {"lat": 47.4, "lon": -8.5}}),
        (["--geo-point=-47,8,500"], {"point": {"lat": -47, "lon": 8, "radiusMeters": 500}}),
        (["--geo-bbox", "48,8,47,9", "--where", "unit"], {"bbox": corners}),
        (["--geo-geojson", str(area), "--geo-relation", "within"], {"geoJson": shape}),
    ):
        shell.run("search", "", *options)
        sent = json.loads(server.sent[-1].content)["geoSearch"]
        relation = "within" if "within" in options else "intersects"
        assert sent == {**expected, "relation": relation}
    for point, bbox, geo_json in (
        ("47", None, None),
        ("47,8,9,1", None, None),
        ("47,east", None, None),
        (None, "1,2,3", None),
        (None, None, b"\xff"),
        ("47,8", "48,8,47,9", None),
        (None, None, None),
    ):
        with pytest.raises(FilterError):
            parse_geo(point, bbox, geo_json, "within")


def test_a_folded_page_without_a_removed_asset_is_not_taken_for_the_last_one(
    shell: Shell, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vitrine.cli.search.LARGEST_FOLDED_PAGE", 2)
    pages = (page("a", assetsFound=5), page("c", "d", assetsFound=5), page("e", assetsFound=5))
    server.fail("POST", "^/search(/simple)?$", *pages)
    shell.run("search", "pump", "--fold", "--limit", "5", "--json")
    reply = json.loads(shell.out)
    assert [hit["_id"] for hit in reply["hits"]] == ["a", "c", "d", "e"]
    bodies = [json.loads(request.content) for request in server.sent]
    assert [(body["from"], body["size"]) for body in bodies] == [(0, 2), (2, 2), (4, 2)]
