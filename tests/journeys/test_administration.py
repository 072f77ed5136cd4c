"""Roles, profiles and subscriptions; the audit log; input that is refused."""

from typing import Any
from uuid import uuid4

from tests.journeys.runtime import Api, Runtime, noise, put_parts, wait_until
from tests.journeys.test_permissions import constraint, unique


def user_of(runtime: Runtime, *roles: str) -> tuple[str, Api]:
    """A new user with these roles, and its own connection."""
    admin = runtime.client()
    user = f"user-{uuid4().hex[:8]}@example.org"
    admin.ok("POST", "/user-roles", {"userId": user, "roleName": list(roles)})
    body = {"apiKeyName": "Own", "userId": user, "description": "Its own"}
    return user, runtime.client(admin.ok("POST", "/auth/api-keys", body)["apiKey"])


def new_role(api: Api) -> str:
    name = f"role-{uuid4().hex[:8]}"
    made = api.ok("POST", "/roles", {"roleName": name, "description": "Looks around"})
    assert (made["success"], made["roleName"], made["operation"]) == (True, name, "create")
    return name


def roles_of(api: Api, user: str) -> list[str]:
    items = api.ok("GET", "/user-roles")["Items"]
    return {item["userId"]: item["roleName"] for item in items}.get(user, [])


def test_roles_are_created_given_and_taken_and_the_last_administrator_is_kept(
    runtime: Runtime,
) -> None:
    api = runtime.client()
    role = new_role(api)
    user, own = user_of(runtime, role)
    assert api.refused("POST", "/roles", {"roleName": role, "description": "x"})[0] == 409
    assert own.refused("GET", "/roles")[0] == 403
    api.ok("PUT", "/roles", {"roleName": role, "description": "Sees"})
    listed = {item["roleName"]: item for item in api.ok("GET", "/roles")["Items"]}
    assert listed[role]["description"] == "Sees"
    assert roles_of(api, user) == [role]
    api.ok("PUT", "/user-roles", {"userId": user, "roleName": [role, "admin"]})
    assert roles_of(api, user) == ["admin", role]
    api.ok("DELETE", f"/roles/{role}")
    assert roles_of(api, user) == ["admin"]
    api.ok("DELETE", "/user-roles", {"userId": user})
    status, error = api.refused("DELETE", "/user-roles", {"userId": "admin"})
    assert (status, error["code"]) == (409, "LastAdministrator")
    assert api.refused("DELETE", "/roles/admin")[0] == 409
    assert api.refused("DELETE", f"/roles/{role}")[0] == 404
    reply = api.ok("GET", "/audit", params={"entity": f"role:{role}"})["Items"]
    assert [entry["operation"] for entry in reply] == ["delete_role", "update_role", "create_role"]


def test_a_role_of_many_users_is_taken_from_them_by_a_job(runtime: Runtime) -> None:
    api = runtime.client()
    role = new_role(api)
    users = [f"many-{uuid4().hex[:8]}" for _ in range(45)]
    for user in users:
        api.ok("POST", "/user-roles", {"userId": user, "roleName": [role]})
    job_id = api.ok("DELETE", f"/roles/{role}")["jobId"]
    job = api.ended(job_id)
    assert (job["state"], job["itemsDone"], job["problems"]) == ("done", 45, [])
    items = api.ok("GET", "/user-roles")["Items"]
    assert not {item["userId"] for item in items} & set(users)


def test_a_user_without_rights_has_a_profile_features_and_no_pages(runtime: Runtime) -> None:
    role = new_role(runtime.client())
    user, own = user_of(runtime, role)
    path = f"/auth/loginProfile/{user}"
    assert own.ok("GET", path) == {"message": {"Items": [{"userId": user}]}}
    kept = {"message": {"Items": [{"userId": user, "email": "someone@example.org"}]}}
    assert own.ok("POST", path, {"email": "someone@example.org"}) == kept
    assert own.ok("POST", path) == kept
    assert own.ok("GET", path) == kept
    assert own.refused("GET", "/auth/loginProfile/admin")[0] == 403
    assert isinstance(own.ok("GET", "/secure-config")["featuresEnabled"], str)
    pages = {"routes": [{"method": "GET", "route__path": "/assets"}]}
    assert own.ok("POST", "/auth/routes", pages) == {"allowedRoutes": [], "email": user}
    allowed = runtime.client().ok("POST", "/auth/routes", pages)["allowedRoutes"]
    assert [page["route__path"] for page in allowed] == ["/assets"]


def rule_of(asset: str, *users: str) -> dict[str, Any]:
    return {
        "eventName": "Asset Version Change",
        "entityName": "Asset",
        "entityId": asset,
        "subscribers": list(users),
    }


def test_subscribers_of_an_asset_are_notified_without_failures(
    runtime: Runtime, database: str
) -> None:
    api = runtime.client()
    asset = api.new_asset(database, "A statue")
    (user, _), (other, _) = user_of(runtime, "admin"), user_of(runtime, "admin")
    done = {"message": "success"}
    assert api.ok("POST", "/subscriptions", rule_of(asset, user)) == done
    assert api.refused("POST", "/subscriptions", rule_of(asset, user))[0] == 409
    assert api.refused("POST", "/subscriptions", rule_of(asset, "no-address"))[0] == 400
    assert api.refused("POST", "/subscriptions", rule_of("nothing", user))[0] == 404
    assert api.ok("PUT", "/subscriptions", rule_of(asset, user, other)) == done
    items = api.ok("GET", "/subscriptions")["message"]["Items"]
    (shown,) = [item for item in items if item["entityId"] == asset]
    expected = {**rule_of(asset, user, other), "entityValue": "A statue"}
    assert shown == {**expected, "databaseId": database}
    check = {"userId": user, "assetId": asset}
    assert api.ok("POST", "/check-subscription", check) == done
    api.ok("PUT", f"/database/{database}/assets/{asset}", {"assetName": "A bust"})
    runtime.drain()
    failures = api.ok("GET", "/admin/failures", params={"consumer": "Notifier"})["Items"]
    assert failures == []
    assert api.ok("DELETE", "/unsubscribe", rule_of(asset, user)) == done
    assert api.ok("POST", "/check-subscription", check) == {"message": "Not subscribed"}
    assert api.ok("DELETE", "/subscriptions", rule_of(asset, user)) == done
    assert api.refused("DELETE", "/subscriptions", rule_of(asset, user))[0] == 404
    for element in (user, other):
        api.ok("DELETE", "/user-roles", {"userId": element})


def test_an_administrator_whom_everything_is_denied_can_still_take_that_back(
    runtime: Runtime,
) -> None:
    admin = runtime.client()
    user, name = unique("locked"), unique("deny")
    admin.ok("POST", "/user-roles", {"userId": user, "roleName": ["admin"]})
    key = {"apiKeyName": "Own", "userId": user, "description": "Its own"}
    own = runtime.client(admin.ok("POST", "/auth/api-keys", key)["apiKey"])
    assert own.ok("GET", "/roles")
    denied = constraint(
        "admin",
        objectType="api",
        criteriaAnd=[{"field": "route__path", "operator": "contains", "value": ".*"}],
        groupPermissions=[],
        userPermissions=[
            {"userId": user, "permission": method, "permissionType": "deny"}
            for method in ("GET", "PUT", "POST", "DELETE")
        ],
    )
    path = f"/auth/constraints/{name}"
    own.ok("PUT", path, denied)
    wait_until(lambda: own.send("GET", "/roles").status_code == 403)
    assert own.ok("GET", path)["constraintId"] == name
    own.ok("DELETE", path)
    wait_until(lambda: own.send("GET", "/roles").status_code == 200)
    admin.ok("DELETE", "/user-roles", {"userId": user})


def test_the_audit_log_lists_changes_and_the_creation_newest_first(
    runtime: Runtime, database: str
) -> None:
    api = runtime.client()
    asset = api.new_asset(database, "Before")
    path = f"/database/{database}/assets/{asset}"
    api.ok("PUT", path, {"assetName": "After"})
    record = {"metadataKey": "note", "metadataValue": "x" * 5000, "metadataValueType": "string"}
    api.ok("POST", f"{path}/metadata", {"metadata": [record]})
    api.upload(database, asset, {"/a.stl": [b"solid\n"]})
    api.refused("PUT", path, {"tags": ["no such tag"]})

    def audit_items() -> list[dict[str, Any]]:
        return api.ok("GET", "/audit", params={"entity": f"asset:{database}:{asset}"})["Items"]

    expected = ["complete_upload", "create_asset_metadata", "update_asset", "create_asset"]
    wait_until(lambda: [entry["operation"] for entry in audit_items()] == expected)
    uploaded, described, renamed, created = audit_items()
    assert renamed["changes"] == {"assetName": {"before": "Before", "after": "After"}}
    assert created["changes"]["assetName"] == {"after": "Before"}
    assert uploaded["changes"]["files"]["after"] == {"/a.stl": "uploaded"}
    stored = described["changes"]["metadata.note"]["afterStored"]
    query = {"entity": described["entity"], "at": described["at"]}
    value = api.ok("GET", f"/audit/values/{stored['sha256']}", params=query)["value"]
    assert value == {"value": record["metadataValue"], "valueType": "string"}
    (made,) = api.ok("GET", "/audit", params={"entity": f"database:{database}"})["Items"]
    assert made["operation"] == "create_database"
    newest = api.ok("GET", "/audit", params={"userId": made["userId"], "maxItems": "1"})
    assert "NextToken" in newest


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
