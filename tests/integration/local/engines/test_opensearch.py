"""OpenSearch: all features that the product uses."""

import json
from collections.abc import Iterator, Mapping
from typing import TypeAlias, cast

import httpx
import pytest

from tests.integration.local.engines.support import Site

ENGINE = "opensearch"

Operation: TypeAlias = tuple[Mapping[str, object], object]
Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"

INDEX = {
    "settings": {
        "number_of_shards": 1,
        "number_of_replicas": 0,
        "analysis": {
            "analyzer": {
                "words": {
                    "type": "custom",
                    "tokenizer": "standard",
                    "filter": ["lowercase", "asciifolding", "porter_stem"],
                }
            },
            "normalizer": {"folded": {"type": "custom", "filter": ["lowercase", "asciifolding"]}},
        },
    },
    "mappings": {
        "dynamic_templates": [
            {
                "strings": {
                    "match_mapping_type": "string",
                    "match": "str_*",
                    "mapping": {"type": "keyword", "ignore_above": 256},
                }
            }
        ],
        "properties": {
            "kind": {"type": "keyword", "normalizer": "folded"},
            "title": {"type": "text", "analyzer": "words"},
            "n": {"type": "long"},
            "meta": {"type": "flat_object"},
            "place": {"type": "geo_point"},
            "area": {"type": "geo_shape"},
            "parts": {"type": "nested", "properties": {"name": {"type": "keyword"}}},
        },
    },
}


class Server:
    """A simple client: method, path, body; replies are JSON."""

    def __init__(self, url: str) -> None:
        self._client = httpx.Client(base_url=url, timeout=60)

    def send(self, method: str, path: str, body: object = None, *, expect: int = 200) -> Json:
        answer = self._client.request(method, path, json=body)
        assert answer.status_code == expect, answer.text
        return cast("Json", answer.json())

    def bulk(self, index: str, *operations: Operation) -> list[int]:
        """Send a bulk and return the statuses of its items."""
        lines = [json.dumps(part) for pair in operations for part in pair if part is not None]
        answer = self._client.post(
            f"/{index}/_bulk?refresh=true",
            content="\n".join(lines) + "\n",
            headers={"Content-Type": "application/x-ndjson"},
        )
        items = answer.raise_for_status().json()["items"]
        return [next(iter(item.values()))["status"] for item in items]

    def find(self, index: str, **body: object) -> list[str]:
        """Return the ids of the hits."""
        path = f"/{index}/_search" if index else "/_search"
        answer = self._client.post(path, json=body).raise_for_status().json()
        return [hit["_id"] for hit in answer["hits"]["hits"]]

    def aggregate(self, index: str, **aggregation: object) -> list[tuple[str, int]]:
        """Return the buckets of one aggregation."""
        body = {"size": 0, "aggs": {"it": aggregation}}
        answer = self._client.post(f"/{index}/_search", json=body).raise_for_status().json()
        return [
            (each["key"], each["doc_count"]) for each in answer["aggregations"]["it"]["buckets"]
        ]

    def close(self) -> None:
        self._client.close()


@pytest.fixture
def server(site: Site) -> Iterator[Server]:
    client = Server(site.running.endpoint.url)
    yield client
    client.close()


def test_pages_of_other_origins_can_neither_read_nor_write(site: Site, server: Server) -> None:
    server.send("PUT", "/private", INDEX)
    server.bulk("private", ({"index": {"_id": "1"}}, {"title": "a secret"}))
    host = site.running.endpoint.url.removeprefix("http://")
    own = (
        *({"Host": host, "Origin": f"http://{host}"}, {"Host": "localhost"}, {"Host": "[::1]:1"}),
        {"Sec-Fetch-Site": "none"},
    )
    foreign = (
        *({"Host": "evil.example"}, {"Host": f"{host}@evil.example"}, {"Origin": "null"}),
        *({"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"}),
    )
    requests = (
        *(("GET", "/_search"), ("GET", "/private/_doc/1"), ("GET", "/_cat/indices")),
        *(("POST", "/private/_search"), ("POST", "/_refresh"), ("GET", "/"), ("HEAD", "/private")),
        *(("DELETE", "/private"), ("PUT", "/private/_doc/1"), ("POST", "/private/_doc")),
    )
    with httpx.Client(base_url=site.running.endpoint.url, timeout=60) as client:
        for method, path in requests:
            for headers in foreign:
                body = {"title": "changed"} if "_doc" in path and method != "GET" else None
                answer = client.request(method, path, headers=headers, json=body)
                assert answer.status_code == 403, (method, path, headers)
                assert "access-control-allow-origin" not in answer.headers
        for headers in own:
            found = client.get("/private/_doc/1", headers=headers).raise_for_status().json()
            assert found["_source"] == {"title": "a secret"}
    server.send("DELETE", "/private")


def document(number: int) -> dict[str, object]:
    return {
        "kind": "Mesh" if number % 2 else "cloud",
        "title": f"Running rivers number {number}",
        "n": number,
        "str_owner": f"owner{number % 3}",
        "meta": {"camera": {"model": f"m{number % 5}"}, "any key": "vä lue"},
        "place": {"lat": 40 + number, "lon": -3},
        "area": {"type": "Point", "coordinates": [number, number]},
        "parts": [{"name": f"p{number}"}, {"name": "all"}],
    }


def index_ten(server: Server, name: str) -> None:
    server.send("PUT", f"/{name}", INDEX)
    operations: list[Operation] = [
        ({"index": {"_id": str(i), "version": 10, "version_type": "external"}}, document(i))
        for i in range(10)
    ]
    assert server.bulk(name, *operations) == [201] * 10


def test_it_listens_on_the_loopback_address_only(site: Site) -> None:
    assert site.listens_on_loopback_only()


def test_an_older_external_version_is_refused_even_after_a_delete(server: Server) -> None:
    server.send("PUT", "/versions", INDEX)

    def action(verb: str, version: int) -> Operation:
        line = {verb: {"_id": "x", "version": version, "version_type": "external"}}
        return line, (None if verb == "delete" else {"n": version})

    assert server.bulk("versions", action("index", 5), action("index", 4)) == [201, 409]
    assert server.bulk("versions", action("delete", 7), action("index", 6)) == [200, 409]
    assert server.bulk("versions", action("delete", 3), action("index", 8)) == [409, 201]
    assert server.bulk("versions", action("index", 8)) == [409]


def test_the_mapping_is_as_declared_and_dynamic_where_declared(server: Server) -> None:
    index_ten(server, "mapped")
    found = json.dumps(server.send("GET", "/mapped/_mapping"))
    assert '"str_owner": {"type": "keyword", "ignore_above": 256}' in found
    assert '"meta": {"type": "flat_object"}' in found
    assert server.find("mapped", query={"term": {"kind": "MESH"}}, sort=["n"])[:2] == ["1", "3"]
    assert len(server.find("mapped", query={"match": {"title": "run river"}})) == 10


def test_flat_objects_are_found_by_path_by_value_and_by_being_there(server: Server) -> None:
    index_ten(server, "flat")
    by_path = {"term": {"meta.camera.model": "m3"}}
    assert server.find("flat", query=by_path, sort=["n"]) == ["3", "8"]
    assert len(server.find("flat", query={"term": {"meta": "vä lue"}})) == 10
    assert len(server.find("flat", query={"exists": {"field": "meta.camera.model"}})) == 10
    assert server.find("flat", query={"exists": {"field": "meta.camera.lens"}}) == []


def test_nested_geo_and_script_queries_work(server: Server) -> None:
    index_ten(server, "queries")
    nested = {"nested": {"path": "parts", "query": {"term": {"parts.name": "p4"}}}}
    assert server.find("queries", query=nested) == ["4"]
    near = {"geo_distance": {"distance": "10km", "place": {"lat": 42, "lon": -3}}}
    assert server.find("queries", query=near) == ["2"]
    box = {"type": "envelope", "coordinates": [[4.5, 6.5], [6.5, 4.5]]}
    inside = {"geo_shape": {"area": {"shape": box, "relation": "within"}}}
    assert server.find("queries", query=inside, sort=["n"]) == ["5", "6"]
    scored = {
        "script_score": {
            "query": {"exists": {"field": "n"}},
            "script": {"source": "doc['n'].value"},
        }
    }
    assert server.find("queries", query=scored, size=1) == ["9"]


def test_aggregations_count(server: Server) -> None:
    index_ten(server, "counted")
    assert server.aggregate("counted", terms={"field": "kind"}) == [("cloud", 5), ("mesh", 5)]
    assert server.aggregate("counted", terms={"field": "str_owner"})[0] == ("owner0", 4)


def test_a_point_in_time_does_not_see_what_comes_after(server: Server) -> None:
    index_ten(server, "frozen")
    opened = server.send("POST", "/frozen/_search/point_in_time?keep_alive=1m")
    assert isinstance(opened, dict)
    server.bulk("frozen", ({"index": {"_id": "late"}}, document(99)))
    pit = {"id": opened["pit_id"], "keep_alive": "1m"}
    seen: list[str] = []
    while found := server.find(
        "", size=4, pit=pit, sort=["n"], **({"search_after": [int(seen[-1])]} if seen else {})
    ):
        seen += found
    assert seen == [str(number) for number in range(10)]
    server.send("DELETE", "/_search/point_in_time", {"pit_id": [opened["pit_id"]]})


def test_an_alias_moves_to_a_reindexed_index_in_one_step(server: Server) -> None:
    index_ten(server, "old")
    server.send("PUT", "/new", INDEX)
    server.send("POST", "/_aliases", {"actions": [{"add": {"index": "old", "alias": "live"}}]})
    copied = server.send(
        "POST",
        "/_reindex?refresh=true",
        {
            "source": {"index": "old"},
            "dest": {"index": "new", "version_type": "external"},
            "script": {"source": "ctx._source.n += 100"},
        },
    )
    assert isinstance(copied, dict)
    assert copied["created"] == 10
    swap = [
        {"remove": {"index": "old", "alias": "live"}},
        {"add": {"index": "new", "alias": "live", "is_write_index": True}},
    ]
    server.send("POST", "/_aliases", {"actions": swap})
    assert server.find("live", query={"term": {"n": 103}}) == ["3"]


def test_an_index_is_not_made_by_writing_to_it(server: Server) -> None:
    server.send("POST", "/nowhere/_doc", {"a": 1}, expect=404)
