"""Renewals of facts through the deployed product: old facts are read again, and only once.

It takes over 20 seconds: files are inspected twice, in functions that start for it.
"""

from typing import Any
from uuid import uuid4

from backend.spec.facts import READERS_VERSION, READERS_VERSION_KEY
from tests.journeys.runtime import Api, Runtime, wait_for, wait_until
from tests.journeys.test_facts import Inspector, attributes

TILE = b"v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n"
STL = b"solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\n"
STL += b"endloop\nendfacet\nendsolid a\n"
FILES = {"/tile.obj": TILE, "/part.stl": STL}


def test_old_facts_are_read_again_and_only_once(runtime: Runtime, api: Api) -> None:
    database = api.new_database(f"db-{uuid4().hex[:12]}", processing=True)
    asset = api.new_asset(database, "Tiles")
    base = f"/database/{database}/assets/{asset}"
    api.upload(database, asset, {path: [body] for path, body in FILES.items()})

    def triangles() -> dict[str, tuple[str | None, str | None]]:
        found = {path: attributes(api, base, path) for path in FILES}
        return {
            path: (one.get("fact_triangles"), one.get(READERS_VERSION_KEY))
            for path, one in found.items()
        }

    current = str(READERS_VERSION)
    true = {"/tile.obj": ("2", current), "/part.stl": ("1", current)}
    wait_for(triangles, true)
    versions = {path: attributes(api, base, path)["fact_sourceVersionId"] for path in FILES}
    # As the first version stored them, with a mistake of its own.
    inspector = Inspector(runtime, database, asset)
    for path in FILES:
        inspector.record(path, versions[path], facts={"triangles": 77, "format": "OLD"})
    assert triangles() == dict.fromkeys(FILES, ("77", None))

    def runs() -> list[dict[str, Any]]:
        reply = api.ok("GET", f"{base}/workflows/executions")["message"]
        return [one for one in reply["Items"] if one.get("trigger") == "renewal"]

    def renew(**body: Any) -> dict[str, Any]:
        started = api.ok("POST", "/admin/facts/renew", {"databaseId": database, **body})
        assert started["started"] is True
        job = api.ended(started["jobId"])
        assert job["state"] == "done"
        return job

    def found(operator: str) -> int:
        mine = [{"query_string": {"query": f'str_databaseid:"{database}"'}}]
        wanted = {"key": READERS_VERSION_KEY, "op": operator, "value": READERS_VERSION}
        body = {"filters": mine, "metadataFilters": [wanted], "entityTypes": ["file"]}
        return len(api.ok("POST", "/search", body)["hits"]["hits"])

    assert renew(formats=["stl"])["itemsDone"] == 1
    wait_for(triangles, {**true, "/tile.obj": ("77", None)})
    assert renew()["itemsDone"] == 1
    wait_for(triangles, true)
    wait_until(lambda: found("gte") == len(FILES))
    before = len(runs())
    assert renew()["itemsDone"] == 0
    assert len(runs()) == before == len(FILES)
    assert {path: attributes(api, base, path)["fact_sourceVersionId"] for path in FILES} == versions
