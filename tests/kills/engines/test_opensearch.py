"""Writes that OpenSearch acknowledged survive a kill -9."""

import httpx

from tests.integration.local.engines.support import Site

ENGINE = "opensearch"


def _write(http: httpx.Client, method: str, name: str, version: int) -> int:
    query = {"version": version, "version_type": "external"}
    body = None if method == "DELETE" else {"n": version}
    return http.request(method, f"/durable/_doc/{name}", params=query, json=body).status_code


def test_every_acknowledged_document_and_version_survives_a_crash(site: Site) -> None:
    with httpx.Client(base_url=site.running.endpoint.url, timeout=60) as http:
        http.put("/durable").raise_for_status()
        assert [_write(http, "PUT", str(number), 10) for number in range(10)] == [201] * 10
        http.post("/durable/_refresh").raise_for_status()
        assert _write(http, "PUT", "unrefreshed", 3) == 201
        assert _write(http, "DELETE", "0", 12) == 200
    site.crash_and_restart()
    with httpx.Client(base_url=site.running.endpoint.url, timeout=60) as http:
        http.post("/durable/_refresh").raise_for_status()
        hits = http.get("/durable/_search", params={"size": 20}).raise_for_status().json()["hits"]
        names = {hit["_id"] for hit in hits["hits"]}
        assert names == {*map(str, range(1, 10)), "unrefreshed"}
        assert _write(http, "PUT", "1", 10) == 409
