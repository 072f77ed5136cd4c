"""Comments over HTTP: created, changed, deleted, and deleted with their asset."""

from urllib.parse import quote
from uuid import uuid4

from tests.journeys.runtime import Api, Runtime, wait_until

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
    assert [one[KEY] for one in api.ok("GET", root)["message"]] == ["0:third", "0:first"]
    (deleted,) = api.ok("GET", f"{root}?showDeleted=true")["message"]
    assert (deleted["assetId"], deleted["commentBody"]) == (asset, "On 0:second ä")
    _refusals(api, place)

    path = f"/database/{database}/assets/{quote(asset)}"
    job = api.ok("DELETE", f"{path}/deleteAsset", {"confirmPermanentDelete": True})["jobId"]
    assert api.refused("GET", root)[0] == 404
    job_path = f"/jobs/{quote(job)}"
    wait_until(lambda: api.ok("GET", job_path)["state"] == "done")
    api.new_asset(database, "Tiger", assetId=asset)
    for query in ("", "?showDeleted=true"):
        assert api.ok("GET", root + query) == {"message": []}


def _refusals(api: Api, place: str) -> None:
    for method, key, body, status in (
        ("POST", "0:first", {"commentBody": "Again"}, 409),
        ("POST", "0:second", {"commentBody": "Again"}, 409),
        ("POST", "7:first", {"commentBody": "Of no version"}, 404),
        ("POST", "first", {"commentBody": "Of no version"}, 400),
        ("POST", "0:fourth", {"commentBody": ""}, 400),
        ("POST", "0:fourth", {"commentBody": "x" * 10_001}, 400),
        ("PUT", "0:fourth", {"commentBody": "New"}, 404),
        ("PUT", "0:second", {"commentBody": "New"}, 404),
        ("DELETE", "0:second", None, 404),
        ("GET", "0:second", None, 404),
    ):
        found, error = api.refused(method, f"{place}/{key}", body)
        assert (found, bool(error["code"])) == (status, True), (method, key, error)
    assert api.refused("GET", f"/comments/assets/none-{uuid4().hex}")[0] == 404
