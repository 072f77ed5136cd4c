"""Facts of files in the deployed product: indexed, searched, followed, and private.

The facts are stored as the functions of the product store them; reading files has separate tests.
"""

from typing import Any
from uuid import uuid4

import httpx

from backend.aws.settings import Settings
from backend.aws.tables import DynamoTables
from backend.domains.facts.models import Inspection
from backend.domains.facts.rules import records_of
from backend.domains.metadata.models import Entity
from backend.domains.metadata.repository import MetadataRepository
from backend.domains.metadata.service.writes import put_facts
from backend.spec.tables.metadata import FILE_ATTRIBUTES, RECORD_SETS
from tests.journeys.runtime import Api, Runtime, wait_until
from tests.journeys.test_database_purges import client_of


class Inspector:
    """Stores results of inspections in the tables of a runtime."""

    def __init__(self, runtime: Runtime, database: str, asset: str) -> None:
        client = client_of(runtime, "dynamodb")
        names = [
            name
            for page in client.get_paginator("list_tables").paginate()
            for name in page["TableNames"]
        ]
        physical = {
            f"TABLE_{table.name}": next(name for name in names if table.name in name)
            for table in (FILE_ATTRIBUTES, RECORD_SETS)
        }
        self._records = MetadataRepository(DynamoTables(client, Settings(physical)))
        self._ids = (database, asset)

    def record(self, path: str, version_id: str, **fields: Any) -> None:
        body = {"version": 1, "source": {"versionId": version_id}, **fields}
        facts = records_of(Inspection.model_validate(body))
        put_facts(self._records, Entity(*self._ids, path, "attribute"), facts)


def attributes(api: Api, base: str, path: str) -> dict[str, str]:
    query = {"filePath": path, "type": "attribute"}
    metadata = api.ok("GET", f"{base}/metadata/file", params=query)["metadata"]
    return {item["metadataKey"]: item["metadataValue"] for item in metadata}


def furnish(runtime: Runtime, api: Api, database: str) -> str:
    """An asset of two models of the same shape, one of which refers to a texture."""
    asset = api.new_asset(database, "Engine")
    paths = ("/a.obj", "/b.obj", "/maps/wood.png")
    api.upload(database, asset, {path: [path.encode()] for path in paths})
    inspector = Inspector(runtime, database, asset)
    shape = [number / 75 for number in range(75)]
    references = [
        {"path": "/maps/wood.png", "kind": "texture", "state": "found"},
        {"path": "gone.png", "kind": "texture", "state": "missing"},
    ]
    facts: dict[str, Any] = {"format": "OBJ", "triangles": 12_000, "texturesMissing": 1}
    inspector.record("/a.obj", "v1", facts=facts, descriptor=shape, references=references)
    inspector.record("/b.obj", "v1", facts={"triangles": 9, "format": "OBJ"}, descriptor=shape)
    return asset


def test_facts_are_searched_followed_and_compared(
    runtime: Runtime, api: Api, database: str
) -> None:
    asset = furnish(runtime, api, database)
    base = f"/database/{database}/assets/{asset}"
    mine = [{"query_string": {"query": f'str_databaseid:"{database}"'}}]

    def found(**body: Any) -> Any:
        return api.ok("POST", "/search", {"filters": mine, "aggregations": False, **body})

    def keys(**body: Any) -> list[str]:
        hits = found(entityTypes=["file"], **body)["hits"]["hits"]
        return [hit["_source"]["str_key"] for hit in hits]

    many = [{"key": "fact_triangles", "op": "gt", "value": 10_000}]
    wait_until(lambda: keys(metadataFilters=many) == [f"{asset}/a.obj"])
    by_size = [f"{asset}/a.obj", f"{asset}/b.obj"]
    wait_until(lambda: keys(sort=[{"fact_triangles": "desc"}])[:2] == by_size)
    facets = [{"key": "fact_format"}, {"key": "fact_texturesMissing", "ranges": [{"from": 1}]}]
    # The order above holds also before the facts of the second file are indexed.
    both = [{"key": "OBJ", "doc_count": 2}]
    wait_until(lambda: found(metadataFacets=facets)["metadataFacets"][0]["buckets"] == both)
    missing = found(metadataFacets=facets)["metadataFacets"][1]
    assert missing["ranges"] == [{"from": 1.0, "doc_count": 1}]

    (item,) = api.ok("GET", f"{base}/dependencies")["items"]
    assert [
        (reference["state"], reference.get("filePath")) for reference in item["references"]
    ] == [
        ("found", "/maps/wood.png"),
        ("missing", None),
    ]
    users = api.ok("GET", f"{base}/dependents", params={"filePath": "/maps/wood.png"})
    assert users["items"] == [{"filePath": "/a.obj"}]
    (similar,) = api.ok("GET", f"{base}/files/similar", params={"filePath": "/a.obj", "size": 1})[
        "items"
    ]
    assert (similar["filePath"], similar["similarity"]) == ("/b.obj", 1)


def test_facts_go_with_their_file_and_belong_to_the_product(
    runtime: Runtime, api: Api, database: str
) -> None:
    asset = furnish(runtime, api, database)
    base = f"/database/{database}/assets/{asset}"
    facts = attributes(api, base, "/a.obj")
    assert facts["fact_triangles"] == "12000"
    record = {"metadataKey": "fact_triangles", "metadataValue": "1"}
    body = {"filePath": "/a.obj", "type": "attribute", "metadata": [record]}
    for method in ("POST", "PUT"):
        status, refused = api.refused(method, f"{base}/metadata/file", body)
        assert (status, "is reserved" in refused["message"]) == (400, True)
    wanted = {"filePath": "/a.obj", "type": "attribute", "metadataKeys": ["fact_triangles"]}
    removed = api.ok("DELETE", f"{base}/metadata/file", wanted)
    assert (removed["success"], removed["failureCount"]) == (False, 1)
    move = {"sourcePath": "/a.obj", "destinationPath": "/parts/a.obj"}
    api.completed("POST", f"{base}/moveFile", move)
    wait_until(lambda: attributes(api, base, "/parts/a.obj") == facts)
    assert attributes(api, base, "/a.obj") == {}


def test_an_uploaded_model_has_a_glb_under_its_own_address(api: Api) -> None:
    database = api.new_database(f"db-{uuid4().hex[:12]}", processing=True)
    asset = api.new_asset(database, "Tile")
    tile = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"
    api.upload(database, asset, {"/tile.obj": [tile], "/notes.txt": [b"notes"]})
    path = f"/database/{database}/assets/{asset}/files/glb"

    def glb(key: str) -> Any:
        return api.ok("GET", path, params={"key": key})

    assert glb("/notes.txt")["glbMissing"]["reason"] == "none"
    wait_until(lambda: "glb" in glb("/tile.obj"))
    result = glb("/tile.obj")["glb"]
    fetched = httpx.get(result["url"])
    assert (fetched.content[:4], len(fetched.content)) == (b"glTF", result["size"])
    assert fetched.headers["Content-Type"] == "model/gltf-binary"
