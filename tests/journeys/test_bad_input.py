"""Bad input results in a status, a code, the field and the problem.

Never a 500 or a partial change.
"""

from typing import Any

import pytest

from tests.journeys.runtime import Api, Runtime, noise, put_parts


def field_of(answer: tuple[int, Any]) -> tuple[int, str]:
    status, body = answer
    return status, body["errors"][0]["field"]


@pytest.mark.parametrize(
    "bad", ["ab", "a#b", "a:b", "a/b", "a\tb", "x" * 256, "", "GLOBAL", 7, None, ["abc"]]
)
def test_a_bad_database_id_is_named(api: Api, bad: object) -> None:
    bucket = api.own_bucket()["bucketId"]
    body = {"databaseId": bad, "description": "made by a test", "defaultBucketId": bucket}
    assert field_of(api.refused("POST", "/database", body)) == (400, "databaseId")


@pytest.mark.parametrize("bad", ["a#b", "a:b", "a/b", "a\u0007b", "x" * 256, "", "dot.", "e\u0301"])
def test_a_bad_asset_id_is_named(api: Api, database: str, bad: str) -> None:
    body: dict[str, Any] = {
        "databaseId": database,
        "assetName": "fine",
        "description": "made by a test",
        "isDistributable": True,
        "tags": [],
        "assetId": bad,
    }
    assert field_of(api.refused("POST", "/assets", body)) == (400, "assetId")


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"databaseId": NaN}', "\x00", "{}}"])
def test_a_body_that_is_no_json_object_is_refused(api: Api, text: str) -> None:
    assert api.send("POST", "/database", content=text).status_code == 400


def test_missing_fields_are_all_named(api: Api) -> None:
    status, body = api.refused("POST", "/database", {})
    assert status == 400
    named = {error["field"] for error in body["errors"]}
    assert named == {"databaseId", "description", "defaultBucketId"}


def test_a_number_beyond_38_digits_is_refused(api: Api, database: str) -> None:
    asset = api.new_asset(database, "numbers")
    for value in ("1" * 39, "NaN", "Infinity", "1e400", "12a"):
        entry = {"metadataKey": "n", "metadataValue": value, "metadataValueType": "number"}
        path = f"/database/{database}/assets/{asset}/metadata"
        reply = api.send("POST", path, {"metadata": [entry]})
        assert reply.status_code == 400, (value, reply.text)


def test_a_value_near_400_kb_is_too_large(api: Api, database: str) -> None:
    asset = api.new_asset(database, "large")
    entry = {"metadataKey": "k", "metadataValue": "x" * 410_000, "metadataValueType": "string"}
    path = f"/database/{database}/assets/{asset}/metadata"
    assert api.refused("POST", path, {"metadata": [entry]})[0] == 413
    assert [m for m in api.ok("GET", path)["metadata"] if m["metadataKey"] == "k"] == []


def test_a_body_over_the_limit_is_too_large(api: Api) -> None:
    body = '{"databaseId": "' + "x" * (11 * 1024 * 1024) + '"}'
    assert api.send("POST", "/database", content=body).status_code == 413


def test_a_forged_page_token_is_refused(api: Api) -> None:
    answer = api.refused("GET", "/database?startingToken=Zm9yZ2Vk")
    assert field_of(answer) == (400, "startingToken")


def test_a_taken_id_or_prefix_is_a_conflict(api: Api, database: str) -> None:
    asset = api.new_asset(database, "first", assetId=f"{database}-taken")
    body: dict[str, Any] = {
        "databaseId": database,
        "assetName": "second",
        "description": "made by a test",
        "isDistributable": True,
        "tags": [],
    }
    assert api.refused("POST", "/assets", {**body, "assetId": asset})[0] == 409
    api.upload(database, asset, {"/inner/part.stl": [b"solid\n"]})
    inside = {**body, "assetId": f"{database}-new", "bucketExistingKey": f"{asset}/inner/"}
    assert api.refused("POST", "/assets", inside)[0] == 409


def test_a_stale_if_match_changes_nothing(api: Api, database: str) -> None:
    asset = api.new_asset(database, "one")
    path = f"/database/{database}/assets/{asset}"
    etag = api.send("GET", path).headers["ETag"]
    api.ok("PUT", path, {"assetName": "two"}, headers={"If-Match": etag})
    stale = api.send("PUT", path, {"assetName": "three"}, headers={"If-Match": etag})
    assert stale.status_code == 412
    assert api.ok("GET", path)["assetName"] == "two"


@pytest.mark.parametrize(
    "path",
    [
        "/../up.glb",
        "/a/../../b.glb",
        "/./a.glb",
        "/a//b.glb",
        "/e\u0301.glb",
        "/a\u0000.glb",
        "/" + "n" * 256,
        "/run.EXE",
        "/a\\b.glb",
        "/dot.",
        "",
        "/",
    ],
)
def test_a_bad_path_is_refused_before_anything_is_made(api: Api, database: str, path: str) -> None:
    asset = api.new_asset(database, "paths")
    body = {
        "assetId": asset,
        "databaseId": database,
        "uploadType": "assetFile",
        "files": [{"relativeKey": path, "file_size": 1}],
    }
    status, reply = api.refused("POST", "/uploads", body)
    assert status == 400
    assert reply["errors"][0]["field"].startswith("files")
    assert api.ok("GET", f"/database/{database}/assets/{asset}/listFiles")["items"] == []


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


def test_an_executable_in_disguise_is_refused(api: Api, database: str) -> None:
    asset = api.new_asset(database, "disguise")
    scope = {"assetId": asset, "databaseId": database, "uploadType": "assetFile"}
    wanted = [{"relativeKey": "/a.glb", "file_size": 100, "num_parts": 1}]
    begun = api.ok("POST", "/uploads", {**scope, "files": wanted})
    done = put_parts(begun["files"][0], [b"\x7fELF" + noise(96, "elf")])
    complete = f"/uploads/{begun['uploadId']}/complete"
    status, _ = api.refused("POST", complete, {**scope, "files": [done]})
    assert status == 409
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
