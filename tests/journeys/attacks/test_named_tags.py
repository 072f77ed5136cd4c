"""A rule on tags cannot be avoided by changing or deleting the tag."""

from typing import Any

from tests.journeys.attacks.actors import (
    ANY_ROUTE,
    connect,
    give_rule,
    new_role,
    new_user,
    permissions,
    unique,
)
from tests.journeys.runtime import Api, Runtime, wait_for


def new_tag(admin: Api, tag_type: str) -> str:
    name = unique("tag")
    body = {"tagName": name, "description": "Of an attack", "tagTypeName": tag_type}
    admin.ok("POST", "/tags", body)
    return name


def test_a_tag_that_rules_name_is_not_moved_by_a_right_to_the_asset(
    runtime: Runtime, database: str
) -> None:
    admin = runtime.client()
    tag_type = unique("type")
    admin.ok("POST", "/tag-types", {"tagTypeName": tag_type, "description": "Of an attack"})
    secret, free, lost = (new_tag(admin, tag_type) for _ in range(3))
    editor = new_role(admin, ANY_ROUTE, ("asset", "databaseId", "equals", database))
    seen = permissions("groupId", editor, actions=("GET", "DELETE"))
    tags = ("tag", "tagTypeName", "equals", tag_type)
    give_rule(admin, tags, groupPermissions=seen)
    denied = ("asset", "tags", "starts_with", secret)
    rule = give_rule(
        admin, denied, groupPermissions=permissions("groupId", new_role(admin), "deny")
    )
    attacker = connect(runtime, new_user(admin, editor))
    asset = admin.new_asset(database, "A secret", tags=[secret, free])
    path = f"/database/{database}/assets/{asset}"
    made = {"databaseId": database, "description": "made by a test", "isDistributable": True}
    ingested = {**made, "assetId": unique("new"), "assetName": "New", "tags": [secret]}
    file = {"relativeKey": f"{ingested['assetId']}/a.txt", "file_size": 0}
    attempts: list[tuple[str, str, Any]] = [
        ("PUT", path, {"tags": []}),
        ("PUT", path, {"tags": [free]}),
        ("POST", "/assets", {**made, "assetName": "New", "tags": [secret]}),
        ("POST", "/ingest-asset", {**ingested, "files": [file]}),
        ("DELETE", f"/tags/{secret}", None),
    ]
    for method, route, body in attempts:
        status, reply = attacker.refused(method, route, body)
        assert (status, reply["code"]) == (403, "PermissionDenied"), (method, route, reply)
    attacker.ok("PUT", path, {"tags": [secret, lost]})
    attacker.ok("DELETE", f"/tags/{lost}")
    wait_for(lambda: attacker.ok("GET", path)["tags"], [secret])
    admin.ok("DELETE", f"/auth/constraints/{rule}")
    attacker.ok("PUT", path, {"tags": [free]})
    attacker.ok("DELETE", f"/tags/{secret}")


def test_a_deleted_name_that_rules_mention_is_not_taken_by_others(runtime: Runtime) -> None:
    admin = runtime.client()
    name, free = unique("old"), unique("old")
    own = [
        (kind, field, "starts_with", "old-")
        for kind, field in (
            ("database", "databaseId"),
            ("tagType", "tagTypeName"),
            ("role", "roleName"),
        )
    ]
    attacker = connect(runtime, new_user(admin, new_role(admin, ANY_ROUTE, *own)))
    bucket = admin.own_bucket()["bucketId"]

    def described(word: str) -> list[tuple[str, str, dict[str, str]]]:
        about = {"description": "Of an attack"}
        return [
            ("/database", "/database/", {**about, "databaseId": word, "defaultBucketId": bucket}),
            ("/tag-types", "/tag-types/", {**about, "tagTypeName": word}),
            ("/roles", "/roles/", {**about, "roleName": word}),
        ]

    for word in (name, free):
        for path, one, body in described(word):
            attacker.ok("POST", path, body)
            attacker.ok("DELETE", f"{one}{word}")
    grantee = permissions("groupId", new_role(admin))
    give_rule(admin, ("asset", "databaseId", "equals", name), groupPermissions=grantee)
    give_rule(admin, ("tag", "tagTypeName", "is_one_of", [name]), groupPermissions=grantee)
    give_rule(admin, ("userRole", "roleName", "is_not_one_of", [name]), groupPermissions=grantee)
    for path, _, body in described(name):
        status, reply = attacker.refused("POST", path, body)
        assert (status, reply["code"]) == (403, "PermissionDenied"), reply
        admin.ok("POST", path, body)
    for path, _, body in described(free):
        attacker.ok("POST", path, body)
