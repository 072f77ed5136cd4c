"""Renewals of facts in the deployed product: old facts are read again, and only once.

It takes over 20 seconds: files are inspected twice, in functions that start for it.
"""

from typing import Any
from uuid import uuid4

from backend.spec.facts import READERS_VERSION, READERS_VERSION_KEY
from tests.journeys.runtime import Api, Runtime, wait_for, wait_until
from tests.journeys.test_facts import Inspector, attributes

TILE = b"v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n"
PART = (
    b"solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\n"
    b"endloop\nendfacet\nendsolid a\n"
)
FILES = {"/tile.obj": TILE, "/part.stl": PART}
READ = {"/tile.obj": ("2", str(READERS_VERSION)), "/part.stl": ("1", str(READERS_VERSION))}


class Tiles:
    """An asset of two inspected files."""

    def __init__(self, runtime: Runtime, api: Api) -> None:
        self.runtime, self.api = runtime, api
        self.database = api.new_database(f"db-{uuid4().hex[:12]}", processing=True)
        self.asset = api.new_asset(self.database, "Tiles")
        self.base = f"/database/{self.database}/assets/{self.asset}"
        api.upload(self.database, self.asset, {path: [body] for path, body in FILES.items()})
        wait_for(self.triangles, READ)
        self.versions = self.sources()

    def triangles(self) -> dict[str, tuple[str | None, str | None]]:
        """The triangles of each file, and the version of the readers that counted them."""
        found = {path: attributes(self.api, self.base, path) for path in FILES}
        return {
            path: (one.get("fact_triangles"), one.get(READERS_VERSION_KEY))
            for path, one in found.items()
        }

    def sources(self) -> dict[str, str]:
        return {
            path: attributes(self.api, self.base, path)["fact_sourceVersionId"] for path in FILES
        }

    def age(self) -> None:
        """Store facts as the first version did, with an error of that version."""
        inspector = Inspector(self.runtime, self.database, self.asset)
        for path, version in self.versions.items():
            inspector.record(path, version, facts={"triangles": 77, "format": "OLD"})

    def renew(self, **body: Any) -> int:
        """Renew facts; return the number of files whose inspections were requested."""
        wanted = {"databaseId": self.database, **body}
        started = self.api.ok("POST", "/admin/facts/renew", wanted)
        assert started["started"] is True
        job = self.api.ended(started["jobId"])
        assert job["state"] == "done"
        return job["itemsDone"]

    def renewals(self) -> int:
        reply = self.api.ok("GET", f"{self.base}/workflows/executions")["message"]
        return sum(one["trigger"] == "renewal" for one in reply["Items"])

    def found(self) -> int:
        """The number of files that search finds by the current version."""
        mine = [{"query_string": {"query": f'str_databaseid:"{self.database}"'}}]
        wanted = {"key": READERS_VERSION_KEY, "op": "gte", "value": READERS_VERSION}
        body = {"filters": mine, "metadataFilters": [wanted], "entityTypes": ["file"]}
        return len(self.api.ok("POST", "/search", body)["hits"]["hits"])


def test_old_facts_are_read_again_and_only_once(runtime: Runtime, api: Api) -> None:
    tiles = Tiles(runtime, api)
    tiles.age()
    assert tiles.triangles() == dict.fromkeys(FILES, ("77", None))
    assert tiles.renew(formats=["stl"]) == 1
    wait_for(tiles.triangles, {**READ, "/tile.obj": ("77", None)})
    assert tiles.renew() == 1
    wait_for(tiles.triangles, READ)
    wait_until(lambda: tiles.found() == len(FILES))
    assert tiles.renew() == 0
    assert tiles.renewals() == len(FILES)
    assert tiles.sources() == tiles.versions
