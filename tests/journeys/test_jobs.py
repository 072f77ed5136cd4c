"""Jobs over HTTP: started by a request, read, completed in the background.

It takes over 20 seconds: jobs of many steps are stopped, resumed and waited for.
"""

from urllib.parse import quote
from uuid import uuid4

from tests.journeys.runtime import Api, Runtime, wait_for


def new_tag(api: Api) -> str:
    name = f"tag-{uuid4().hex[:8]}"
    api.ok("POST", "/tag-types", {"tagTypeName": name, "description": "What it is"})
    api.ok("POST", "/tags", {"tagName": name, "description": "A tag", "tagTypeName": name})
    return name


def tags_of(api: Api, database: str) -> list[tuple[str, ...]]:
    """The tags in all documents of a database, assets and files."""
    return [tuple(found.get("list_tags") or ()) for found in api.search(databaseId=database)]


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
