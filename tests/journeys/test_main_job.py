"""The main path of the product: create, upload, describe, find.

It takes over 20 seconds: each change passes streams, queues and the settle delay into both indexes,
and the consumers' functions start here for the first time.
"""

from typing import Any

import httpx

from tests.journeys.runtime import Api, Runtime, noise, wait_for

MIB = 1024 * 1024


def test_uploaded_files_with_metadata_are_found(runtime: Runtime, database: str) -> None:
    api = runtime.client()
    asset = api.new_asset(database, "Beam Engine")
    parts = [noise(5 * MIB, "first"), noise(1000, "second")]
    reply = api.upload(database, asset, {"/models/engine.glb": parts, "/empty.txt": []})
    assert reply["overallSuccess"] is True
    path = f"/database/{database}/assets/{asset}/metadata"
    entry = {"metadataKey": "maker", "metadataValue": "Boulton", "metadataValueType": "string"}
    assert api.ok("POST", path, {"metadata": [entry]})["successCount"] == 1
    file_path = f"{path}/file"
    described = {"filePath": "/models/engine.glb", "type": "metadata", "metadata": [entry]}
    assert api.ok("POST", file_path, described)["successCount"] == 1

    def itself() -> list[tuple[str, str, Any]]:
        found = api.search(query="beam", databaseId=database, entityTypes=["asset"])
        return [(f["str_assetname"], f["str_assetid"], f.get("MD_")) for f in found]

    def files(**more: str) -> set[tuple[str, int]]:
        found = api.search(databaseId=database, entityTypes=["file"], **more)
        return {(f["str_key"], f["num_filesize"]) for f in found}

    model = (f"{asset}/models/engine.glb", 5 * MIB + 1000)
    wait_for(itself, [("Beam Engine", asset, {"maker": "Boulton"})])
    wait_for(files, {model, (f"{asset}/empty.txt", 0)})
    wait_for(lambda: files(metadataKey="maker", metadataValue="boulton"), {model})


def test_a_downloaded_file_is_the_one_that_was_uploaded(api: Api, database: str) -> None:
    asset = api.new_asset(database, "Pump")
    content = noise(70_000, "pump")
    api.upload(database, asset, {"/pump.stl": [content]})
    body = {"downloadType": "assetFile", "key": "/pump.stl"}
    reply = api.ok("POST", f"/database/{database}/assets/{asset}/download", body)
    fetched = httpx.get(reply["downloadUrl"])
    assert fetched.content == content
    assert reply["expiresIn"] <= 3600


def test_edits_and_removals_reach_the_index(runtime: Runtime, database: str) -> None:
    api = runtime.client()
    asset = api.new_asset(database, "Old name")
    metadata = f"/database/{database}/assets/{asset}/metadata"
    entry = {"metadataKey": "state", "metadataValue": "worn", "metadataValueType": "string"}
    api.ok("POST", metadata, {"metadata": [entry]})
    api.ok("PUT", f"/database/{database}/assets/{asset}", {"assetName": "New name"})

    def documents() -> list[tuple[str, Any]]:
        found = api.search(databaseId=database)
        return [(one["str_assetname"], one.get("MD_", {})) for one in found]

    wait_for(documents, [("New name", {"state": "worn"})])
    api.ok("DELETE", metadata, {"metadataKeys": ["state"]})
    wait_for(documents, [("New name", {})])


def test_a_new_name_reaches_the_documents_of_the_files(runtime: Runtime, database: str) -> None:
    api = runtime.client()
    asset = api.new_asset(database, "Before")
    api.upload(database, asset, {f"/part-{n}.obj": [b"v 0 0 0\n"] for n in range(12)})

    def names() -> list[str]:
        found = api.search(databaseId=database, entityTypes=["file"])
        return [one["str_assetname"] for one in found]

    wait_for(names, ["Before"] * 12)
    api.ok("PUT", f"/database/{database}/assets/{asset}", {"assetName": "After"})
    wait_for(names, ["After"] * 12)


def test_full_search_pages_and_counts_facets(runtime: Runtime, database: str) -> None:
    api = runtime.client()
    for number in range(3):
        asset = api.new_asset(database, f"Gear {number}")
        api.upload(database, asset, {"/a.stl": [b"solid\n"], "/b.ply": [b"ply\n"]})
    wait_for(lambda: len(api.search(databaseId=database)), 9)
    only = [{"query_string": {"query": f"str_databaseid:{database}"}}]
    pages = [
        api.ok("POST", "/search", {"filters": only, "from": start, "size": 2})
        for start in range(0, 9, 2)
    ]
    assert {page["hits"]["total"]["value"] for page in pages} == {9}
    seen = [hit["_id"] for page in pages for hit in page["hits"]["hits"]]
    assert len(seen) == len(set(seen)) == 9
    facets = pages[0]["aggregations"]
    extensions = facets["str_fileext"]["filtered_fileext"]["buckets"]
    assert {(b["key"], b["doc_count"]) for b in extensions} == {(".stl", 3), (".ply", 3)}
    assert facets["str_assettype"]["doc_count"] == 3


def test_both_mappings_are_returned(api: Api) -> None:
    mappings = api.ok("GET", "/search")["mappings"]
    assert mappings["asset_index"]["mappings"]["properties"]["MD_"]["type"] == "flat_object"
    assert mappings["file_index"]["mappings"]["properties"]["AB_"]["type"] == "flat_object"
