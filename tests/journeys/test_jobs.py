"""Jobs, ingests and renewals of facts over HTTP."""

from typing import Any
from urllib.parse import quote
from uuid import uuid4

from backend.spec.facts import READERS_VERSION, READERS_VERSION_KEY
from tests.journeys.runtime import Api, Runtime, noise, put_parts, wait_for, wait_until
from tests.journeys.test_facts import Inspector, attributes


def new_tag(api: Api) -> str:
    name = f"tag-{uuid4().hex[:8]}"
    api.ok("POST", "/tag-types", {"tagTypeName": name, "description": "What it is"})
    api.ok("POST", "/tags", {"tagName": name, "description": "A tag", "tagTypeName": name})
    return name


def tags_of(api: Api, database: str) -> list[tuple[str, ...]]:
    """The tags in all documents of a database, assets and files."""
    return [tuple(item.get("list_tags") or ()) for item in api.search(databaseId=database)]


def test_a_deleted_tag_leaves_assets_and_index_before_all_is_drained(
    runtime: Runtime, database: str
) -> None:
    api = runtime.client()
    tag = new_tag(api)
    for number in range(5):
        asset = api.new_asset(database, f"Gear {number}", tags=[tag])
        api.upload(database, asset, {"/a.stl": [b"solid\n"]})
    wait_for(lambda: tags_of(api, database), [(tag,)] * 10)
    job = api.ended(api.ok("DELETE", f"/tags/{tag}")["jobId"])
    assert (job["state"], job["itemsDone"], job["problems"]) == ("done", 5, [])
    assets = api.ok("GET", f"/database/{database}/assets")["Items"]
    assert [asset["tags"] for asset in assets] == [[]] * 5
    wait_for(lambda: tags_of(api, database), [()] * 10)


def test_a_new_name_is_a_job_that_anyone_who_sees_the_asset_can_look_at(
    runtime: Runtime, database: str
) -> None:
    api = runtime.client()
    asset = api.new_asset(database, "Before", assetId=f"Löwe {uuid4().hex[:8]}.v2")
    api.upload(database, asset, {"/a.stl": [b"solid\n"]})
    runtime.drain()  # the asset has its type
    api.ok("PUT", f"/database/{database}/assets/{quote(asset)}", {"assetName": "After"})
    runtime.drain()
    shown = api.ok("GET", f"/database/{database}/assets/{quote(asset)}")
    created = "".join(c for c in shown["currentVersion"]["DateModified"] if c.isdecimal())
    # what files inherit changed with the type, which their asset got from the first, and the name
    path = f"/jobs/{quote(f'fanOut.{database}.{asset}.{created}.3')}"
    job = api.ok("GET", path)
    assert (job["state"], job["itemsDone"], job["cancellable"]) == ("done", 1, False)
    assert api.refused("POST", f"{path}/cancel")[0] == 409
    assert api.refused("POST", f"{path}/resume")[0] == 409
    assert api.refused("GET", "/jobs/fanOut.nowhere.none.2")[0] == 404


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
        result = {path: attributes(self.api, self.base, path) for path in FILES}
        return {
            path: (item.get("fact_triangles"), item.get(READERS_VERSION_KEY))
            for path, item in result.items()
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
        return sum(item["trigger"] == "renewal" for item in reply["Items"])

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


def test_an_asset_is_ingested_in_two_calls(runtime: Runtime, database: str) -> None:
    api = runtime.client()
    asset = f"lion-{uuid4().hex[:8]}"
    model = noise(3000, "model")
    body = _beginning(database, asset, len(model))
    api.ok("POST", "/ingest-asset", body)
    begun = api.ok("POST", "/ingest-asset", body)
    assert begun["assetId"] == asset
    contents = ([model], list[bytes](), [noise(10, "preview")])
    done = [put_parts(file, parts) for file, parts in zip(begun["files"], contents, strict=True)]
    end = {
        "databaseId": database,
        "assetId": asset,
        "uploadId": begun["uploadId"],
        "files": done,
    }
    finished = api.ok("POST", "/ingest-asset", end)
    assert (finished["overallSuccess"], finished["assetType"]) == (True, "folder")
    results = [(result["relativeKey"], result["success"]) for result in finished["fileResults"]]
    assert results == [(file["relativeKey"], True) for file in body["files"]]
    assert api.ok("POST", "/ingest-asset", end) == finished

    root = f"/database/{database}/assets/{asset}"
    assert api.ok("GET", root)["assetName"] == "Lion"
    listed = api.ok("GET", f"{root}/listFiles")["items"]
    files = {item["relativePath"]: item["size"] for item in listed if not item["isFolder"]}
    assert files == {"/empty.txt": 0, "/parts/model.glb": 3000}
    assert api.send("GET", f"{root}/download/stream/parts/model.glb").content == model
    # the asset, the model and the empty file; the preview is part of the model's document
    wait_for(
        lambda: [item["str_assetname"] for item in api.search(databaseId=database)], ["Lion"] * 3
    )


def _beginning(database: str, asset: str, size: int) -> dict[str, Any]:
    """An asset of a model, an empty file, and a preview of the model."""
    sizes = {"parts/model.glb": size, "empty.txt": 0, "parts/model.glb.previewFile.png": 10}
    return {
        "databaseId": database,
        "assetId": asset,
        "assetName": "Lion",
        "description": "made by a test",
        "isDistributable": True,
        "tags": [],
        "files": [
            {"relativeKey": f"{asset}/{path}", "file_size": item, "num_parts": min(item, 1)}
            for path, item in sizes.items()
        ],
    }
