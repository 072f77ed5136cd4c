"""Bad input results in a status, a code, the field and the problem.

Never a 500 or a partial change.
"""

from tests.journeys.runtime import Api, Runtime, noise, put_parts


def test_missing_fields_are_all_named(api: Api) -> None:
    status, body = api.refused("POST", "/database", {})
    assert status == 400
    named = {error["field"] for error in body["errors"]}
    assert named == {"databaseId", "description", "defaultBucketId"}


def test_a_body_over_the_limit_is_too_large(api: Api) -> None:
    body = '{"databaseId": "' + "x" * (11 * 1024 * 1024) + '"}'
    assert api.send("POST", "/database", content=body).status_code == 413


def test_a_part_list_that_does_not_match_creates_nothing(api: Api, database: str) -> None:
    asset = api.new_asset(database, "parts")
    scope = {"assetId": asset, "databaseId": database, "uploadType": "assetFile"}
    wanted = [{"relativeKey": "/a.glb", "file_size": 10, "num_parts": 1}]
    begun = api.ok("POST", "/uploads", {**scope, "files": wanted})
    done = put_parts(begun["files"][0], [noise(10, "a")])
    done["parts"][0]["ETag"] = "0" * 32
    complete = f"/uploads/{begun['uploadId']}/complete"
    status, reply = api.refused("POST", complete, {**scope, "files": [done]})
    assert (status, reply["overallSuccess"]) == (409, False)
    assert reply["fileResults"][0]["error"]
    assert api.ok("GET", f"/database/{database}/assets/{asset}/listFiles")["items"] == []


def test_unknown_routes_and_methods_are_not_found(api: Api) -> None:
    assert api.send("GET", "/nothing/here").status_code == 404
    assert api.send("PUT", "/api/version").status_code == 404


def test_requests_without_valid_credentials_are_refused(runtime: Runtime) -> None:
    api = runtime.client()
    for key in ("vams_wrong", "Bearer vams_wrong", "Bearer a.b.c", "Basic YTpi"):
        assert api.send("GET", "/database", headers={"Authorization": key}).status_code == 403
    del api.http.headers["Authorization"]
    assert api.send("GET", "/database").status_code == 401
    assert api.ok("GET", "/api/version")["version"] == "2.5.1"


def test_who_is_no_administrator_may_nothing(runtime: Runtime, database: str) -> None:
    admin = runtime.client()
    status, body = admin.refused(
        "POST",
        "/auth/api-keys",
        {"apiKeyName": "k", "userId": "nobody", "description": "has no role"},
    )
    assert (status, body["errors"][0]["field"]) == (400, "userId")
    assert admin.send("GET", f"/database/{database}").status_code == 200
