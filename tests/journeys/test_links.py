"""Links and comments of assets."""

import gzip
import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import httpx

from tests.journeys.runtime import Api, Runtime, noise, wait_for, wait_until

DELETED: dict[str, Any] = {"confirmPermanentDelete": True}


def linked(
    api: Api, database: str, source: str, target: str, kind: str = "parentChild", **more: Any
) -> httpx.Response:
    body = {
        "fromAssetId": source,
        "fromAssetDatabaseId": database,
        "toAssetId": target,
        "toAssetDatabaseId": database,
        "relationshipType": kind,
        **more,
    }
    return api.send("POST", "/asset-links", body)


def link(api: Api, database: str, source: str, target: str, **more: Any) -> str:
    answer = linked(api, database, source, target, **more)
    assert answer.status_code == 200, answer.text
    return answer.json()["assetLinkId"]


def shape(nodes: list[Any]) -> Any:
    return {node["assetName"]: shape(node["children"]) for node in nodes}


def links_of(api: Api, database: str, asset: str, **query: Any) -> Any:
    return api.ok("GET", f"/database/{database}/assets/{asset}/asset-links", params=query)


def flags(api: Api, database: str) -> dict[str, tuple[bool, bool, bool]]:
    """The assets with children, parents and related assets, by the search index."""
    names = ("bool_has_asset_children", "bool_has_asset_parents", "bool_has_assets_related")
    hits = api.search(databaseId=database, entityTypes=["asset"])
    return {
        item["str_assetname"]: (item[names[0]], item[names[1]], item[names[2]]) for item in hits
    }


def described(api: Api, asset_link_id: str) -> str:
    """Add metadata to a link; return the path to it."""
    path = f"/asset-links/{asset_link_id}/metadata"
    record = {"metadataKey": "place", "metadataValue": "N", "metadataValueType": "string"}
    assert api.ok("POST", path, {"metadata": [record]})["successCount"] == 1
    assert api.ok("PUT", path, {"metadata": [record], "updateType": "replace_all"})["success"]
    assert [item["metadataKey"] for item in api.ok("GET", path)["metadata"]] == ["place"]
    return path


MANY = 110
"""More records than the transaction removes that removes their link."""


def test_a_link_is_removed_with_all_of_its_metadata(runtime: Runtime, database: str) -> None:
    api = runtime.client()
    hall, statue, plinth = (api.new_asset(database, name) for name in ("hall", "statue", "plinth"))
    paths = [f"/asset-links/{link(api, database, hall, other)}" for other in (statue, plinth)]
    records = [
        {"metadataKey": f"k{n:03}", "metadataValue": "v", "metadataValueType": "string"}
        for n in range(MANY)
    ]
    for path in paths:
        assert api.ok("POST", f"{path}/metadata", {"metadata": records})["successCount"] == MANY
    by_itself, with_its_asset = paths
    api.ok("DELETE", by_itself)
    api.ok("DELETE", f"/database/{database}/assets/{plinth}/deleteAsset", DELETED)
    for path in (by_itself, with_its_asset):
        wait_for(lambda path=path: api.send("GET", f"{path}/metadata").status_code, 404)
    wait_for(lambda: links_of(api, database, hall)["children"], [])


def test_assets_are_linked_shown_as_a_tree_found_and_unlinked(
    runtime: Runtime, database: str
) -> None:
    api = runtime.client()
    hall, statue, plinth, twin = (
        api.new_asset(database, name) for name in ("hall", "statue", "plinth", "twin")
    )
    first = link(api, database, hall, statue, assetLinkAliasId="left", tags=["north"])
    link(api, database, statue, plinth)
    related = link(api, database, statue, twin, kind="related")
    assert linked(api, database, twin, statue, kind="related").status_code == 409
    assert linked(api, database, hall, statue, assetLinkAliasId="left").status_code == 409
    circle = linked(api, database, plinth, hall)
    assert (circle.status_code, circle.json()["code"]) == (409, "AssetLinkCycle")
    tree = links_of(api, database, hall, childTreeView="true")
    assert shape(tree["children"]) == {"statue": {"plinth": {}}}
    assert [item["assetId"] for item in links_of(api, database, twin)["related"]] == [statue]

    path = described(api, first)
    assert api.ok("PUT", f"/asset-links/{first}", {"assetLinkAliasId": "right"})
    assert api.ok("GET", f"/asset-links/single/{first}")["assetLink"]["tags"] == ["north"]
    expected = {
        "hall": (True, False, False),
        "statue": (True, True, True),
        "plinth": (False, True, False),
        "twin": (False, False, True),
    }
    wait_for(lambda: flags(api, database), expected)

    assert api.ok("DELETE", path, {"metadataKeys": ["place"]})["successCount"] == 1
    api.ok("DELETE", f"/asset-links/{related}")
    assert api.refused("GET", f"/asset-links/single/{related}")[0] == 404
    api.ok("DELETE", f"/database/{database}/assets/{statue}/deleteAsset", DELETED)
    wait_for(lambda: links_of(api, database, hall)["children"], [])
    wait_for(lambda: api.send("GET", path).status_code, 404)
    alone = dict.fromkeys(("hall", "plinth", "twin"), (False,) * 3)
    wait_for(lambda: flags(api, database), alone)


def test_clients_that_link_at_the_same_time_make_no_circle(runtime: Runtime, database: str) -> None:
    api = runtime.client()
    ring = [api.new_asset(database, f"part {number}") for number in range(6)]
    pairs = [(ring[number], ring[(number + 1) % len(ring)]) for number in range(len(ring))]
    pairs += [(child, parent) for parent, child in pairs]

    def attempt(pair: tuple[str, str]) -> int:
        return linked(api, database, *pair).status_code

    with ThreadPoolExecutor(12) as pool:
        statuses = list(pool.map(attempt, pairs))
    assert set(statuses) <= {200, 409}
    below = {parent: links_of(api, database, parent)["children"] for parent in ring}
    made = {(parent, element["assetId"]) for parent, item in below.items() for element in item}
    assert len(made) == statuses.count(200) >= 3
    left = set(ring)
    while free := {item for item in left if not any(c == item and p in left for p, c in made)}:
        left -= free
    assert left == set(), "there is a circle"
    parents = {f"part {ring.index(parent)}" for parent, _ in made}
    children = {f"part {ring.index(child)}" for _, child in made}
    names = {f"part {number}" for number in range(len(ring))}
    expected = {name: (name in parents, name in children, False) for name in names}
    wait_for(lambda: flags(api, database), expected)


def test_a_tree_is_exported_page_by_page_and_compressed(runtime: Runtime, database: str) -> None:
    api = runtime.client()
    root = api.new_asset(database, "root")
    parts = [api.new_asset(database, f"part {number}") for number in range(3)]
    for part in parts:
        link(api, database, root, part)
    files = {f"/sub/file {number}.bin": [noise(20, str(number))] for number in range(100)}
    api.upload(database, root, files)
    path = f"/database/{database}/assets/{root}/export"
    pages: list[Any] = []
    body: dict[str, Any] = {"generatePresignedUrls": True, "maxAssets": 2}
    while not pages or "NextToken" in pages[-1]:
        token = {"startingToken": pages[-1]["NextToken"]} if pages else {}
        pages.append(api.ok("POST", path, {**body, **token}))
    assets = [asset for page in pages for asset in page["assets"]]
    assert [asset["assetid"] for asset in assets] == [root, *sorted(parts)]
    assert {page["totalAssetsInTree"] for page in pages} == {4}
    assert {relationship["childAssetId"] for relationship in pages[0]["relationships"]} == set(
        parts
    )
    listed_files = assets[0]["files"]
    assert {file["relativePath"] for file in listed_files} == set(files)
    first = next(file for file in listed_files if file["fileName"] == "file 0.bin")
    got = httpx.get(first["presignedFileDownloadUrl"], timeout=30)
    assert got.content == noise(20, "0")
    assert api.refused("POST", path, {"startingToken": pages[0]["NextToken"]})[0] == 400
    _is_compressed(runtime, path)
    stored = api.send("POST", path, {"generatePresignedUrls": True, "maxFiles": 100})
    assert (stored.status_code, len(stored.headers["Location"]) < 4096) == (303, True)
    # Followed as stock clients do: without the credentials.
    page = httpx.get(stored.headers["Location"], timeout=30)
    assert {file["relativePath"] for file in page.json()["assets"][0]["files"]} == set(files)
    assert page.headers["Content-Type"] == "application/json"


def _is_compressed(runtime: Runtime, path: str) -> None:
    headers = {"Authorization": runtime.endpoint["adminApiKey"], "Accept-Encoding": "gzip"}
    url, body = runtime.endpoint["api"] + path, {"generatePresignedUrls": True}
    with httpx.stream("POST", url, json=body, headers=headers, timeout=35) as answer:
        content = b"".join(answer.iter_raw())
    assert (answer.status_code, answer.headers["content-encoding"]) == (200, "gzip")
    assert json.loads(gzip.decompress(content))["totalAssetsInTree"] == 4


KEY = "assetVersionId:commentId"


def test_comments_live_and_go_with_their_asset(runtime: Runtime, database: str) -> None:
    api = runtime.client()
    asset = api.new_asset(database, "Lion", assetId=f"Löwe {uuid4().hex[:8]}")
    root = f"/comments/assets/{quote(asset)}"
    place = f"{root}/{KEY}"
    for key in ("0:first", "0:second", "0:third"):
        done = api.ok("POST", f"{place}/{key}", {"commentBody": f"On {key} ä"})
        assert done == {"message": "Succeeded"}
    assert [row[KEY] for row in api.ok("GET", root)["message"]] == [
        "0:third",
        "0:second",
        "0:first",
    ]
    page = api.ok("GET", f"{root}/assetVersionId/0?maxItems=2")
    assert [row[KEY] for row in page["message"]] == ["0:third", "0:second"]
    rest = api.ok("GET", f"{root}/assetVersionId/0?startingToken={quote(page['NextToken'])}")
    assert [row[KEY] for row in rest["message"]] == ["0:first"]
    assert api.ok("GET", f"{root}/assetVersionId/1") == {"message": []}

    row = api.ok("GET", f"{place}/0%3Afirst")["message"]
    assert (row["assetId"], row["commentBody"]) == (asset, "On 0:first ä")
    assert row["commentOwnerID"] == row["commentOwnerUsername"]
    assert api.ok("PUT", f"{place}/0:first", {"commentBody": "New"}) == {"message": "Succeeded"}
    assert api.ok("DELETE", f"{place}/0:second") == {"message": "Comment deleted"}
    assert [item[KEY] for item in api.ok("GET", root)["message"]] == ["0:third", "0:first"]
    (deleted,) = api.ok("GET", f"{root}?showDeleted=true")["message"]
    assert (deleted["assetId"], deleted["commentBody"]) == (asset, "On 0:second ä")

    path = f"/database/{database}/assets/{quote(asset)}"
    job = api.ok("DELETE", f"{path}/deleteAsset", {"confirmPermanentDelete": True})["jobId"]
    assert api.refused("GET", root)[0] == 404
    job_path = f"/jobs/{quote(job)}"
    wait_until(lambda: api.ok("GET", job_path)["state"] == "done")
    api.new_asset(database, "Tiger", assetId=asset)
    for query in ("", "?showDeleted=true"):
        assert api.ok("GET", root + query) == {"message": []}
