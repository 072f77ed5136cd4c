"""OpenSearch as the runtime starts it. `tests/contract/search` has what the product uses of it."""

import httpx

from tests.integration.local.engines.support import Site

ENGINE = "opensearch"


def test_pages_of_other_origins_can_neither_read_nor_write(site: Site) -> None:
    url = site.running.endpoint.url
    host = url.removeprefix("http://")
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
    with httpx.Client(base_url=url, timeout=60) as client:
        client.put("/private").raise_for_status()
        client.put("/private/_doc/1", json={"title": "a secret"}).raise_for_status()
        for method, path in requests:
            for headers in foreign:
                body = {"title": "changed"} if "_doc" in path and method != "GET" else None
                answer = client.request(method, path, headers=headers, json=body)
                assert answer.status_code == 403, (method, path, headers)
                assert "access-control-allow-origin" not in answer.headers
        for headers in own:
            document = client.get("/private/_doc/1", headers=headers).raise_for_status().json()
            assert document["_source"] == {"title": "a secret"}
        client.delete("/private").raise_for_status()


def test_an_index_is_not_made_by_writing_to_it(site: Site) -> None:
    answer = httpx.post(f"{site.running.endpoint.url}/nowhere/_doc", json={"a": 1}, timeout=60)
    assert answer.status_code == 404
