"""Assets are archived, restored and deleted over HTTP.

It takes over 20 seconds: archiving and deleting are jobs, and an id is free only after the settle
delay.
"""

from typing import Any
from urllib.parse import quote
from uuid import uuid4

from tests.journeys.runtime import Api, Runtime, noise, wait_for

CONFIRMED: dict[str, dict[str, Any]] = {
    "archive": {"confirmArchive": True},
    "unarchive": {"confirmUnarchive": True},
    "delete": {"confirmPermanentDelete": True},
}
ODD = ("/with blank.stl", "/a+b.stl", "/Löwe 獅子 😀.stl")


def change(api: Api, operation: str, path: str) -> Any:
    method = "PUT" if operation == "unarchive" else "DELETE"
    return api.ok(method, f"{path}/{operation}Asset", CONFIRMED[operation])


def versions(api: Api, path: str) -> dict[str, str]:
    """The S3 version ids of the files of an asset."""
    items = api.ok("GET", f"{path}/listFiles")["items"]
    return {item["relativePath"]: item["versionId"] for item in items}


def states(api: Api, database: str) -> dict[str, bool]:
    """The documents of a database, archived ones included: types, and whether they are archived."""
    hits = api.search(databaseId=database, includeArchived=True)
    return {str(item.get("str_key", item["str_assetid"])): item["bool_archived"] for item in hits}


def test_an_archived_asset_leaves_all_that_is_shown_and_comes_back_whole(
    runtime: Runtime, database: str
) -> None:
    api = runtime.client()
    asset = api.new_asset(database, "Lion", assetId=f"Löwe 1+1 {uuid4().hex[:6]}")
    kept = api.new_asset(database, "Pump")
    path = f"/database/{database}/assets/{quote(asset)}"
    api.upload(database, asset, {name: [noise(20, name)] for name in ODD})
    names = {asset, *(f"{asset}{name}" for name in ODD)}
    wait_for(lambda: states(api, database), dict.fromkeys({*names, kept}, False))
    before = versions(api, path)

    reply = change(api, "archive", path)
    assert (reply["operation"], reply["assetId"], reply["success"]) == ("archive", asset, True)
    runtime.drain()
    assert api.refused("GET", path)[0] == 404
    assert api.ok("GET", f"{path}?showArchived=true")["status"] == "archived"
    listed = f"/database/{database}/assets"
    assert [a["assetId"] for a in api.ok("GET", listed)["Items"]] == [kept]
    both = api.ok("GET", f"{listed}?showArchived=true")["Items"]
    assert [(a["assetId"], a["status"]) for a in both] == [(kept, "active"), (asset, "archived")]
    assert {item["str_assetid"] for item in api.search(databaseId=database)} == {kept}
    assert states(api, database) == {**dict.fromkeys(names, True), kept: False}
    assert api.refused("DELETE", f"{path}/archiveAsset", CONFIRMED["archive"])[0] == 409

    change(api, "unarchive", path)
    wait_for(lambda: states(api, database), dict.fromkeys({*names, kept}, False))
    wait_for(lambda: versions(api, path), before)  # nothing was copied


def test_a_deleted_asset_leaves_nothing_and_its_id_can_be_taken_again(
    runtime: Runtime, database: str
) -> None:
    api = runtime.client()
    asset = api.new_asset(database, "Lion", assetId=f"lion-{uuid4().hex[:8]}")
    path = f"/database/{database}/assets/{asset}"
    api.upload(database, asset, {name: [noise(20, name)] for name in ODD})
    record = {"metadataKey": "maker", "metadataValue": "Boulton", "metadataValueType": "string"}
    api.ok("POST", f"{path}/metadata", {"metadata": [record]})
    wait_for(lambda: set(states(api, database)), {asset, *(f"{asset}{name}" for name in ODD)})
    job_id = change(api, "delete", path)["jobId"]
    assert api.refused("GET", f"{path}?showArchived=true")[0] == 404
    assert api.refused("DELETE", f"{path}/deleteAsset", CONFIRMED["delete"])[0] in {404, 409}
    assert api.ended(job_id)["state"] == "done"
    wait_for(lambda: states(api, database), {})

    again = api.new_asset(database, "Tiger", assetId=asset)
    assert again == asset
    api.upload(database, asset, {"/tiger.stl": [noise(20, "tiger")]})
    api.ok("PUT", path, {"assetName": "Big tiger"})

    def documents() -> list[tuple[str, bool]]:
        hits = api.search(databaseId=database, includeArchived=True)
        return [(item["str_assetname"], "MD_" in item) for item in hits]

    wait_for(documents, [("Big tiger", False)] * 2)
    assert [f["relativePath"] for f in api.ok("GET", f"{path}/listFiles")["items"]] == [
        "/tiger.stl"
    ]


def test_a_database_can_be_deleted_when_its_assets_are_archived(
    runtime: Runtime, database: str
) -> None:
    api = runtime.client()
    asset = api.new_asset(database, "Lion")
    path = f"/database/{database}/assets/{asset}"
    assert api.refused("DELETE", f"/database/{database}")[0] == 409
    change(api, "archive", path)
    api.ok("DELETE", f"/database/{database}")
    status, body = api.refused("PUT", f"{path}/unarchiveAsset", CONFIRMED["unarchive"])
    assert (status, body["code"]) == (400, "DatabaseDeleted")


def job(api: Api, job_id: str) -> Any:
    return api.ok("GET", f"/jobs/{quote(job_id)}")
