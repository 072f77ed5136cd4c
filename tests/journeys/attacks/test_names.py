"""Names that look like others, and rules on tags, cannot be avoided by changing names."""

from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import quote
from uuid import uuid4

import pytest

from tests.journeys.attacks.actors import (
    ANY_ROUTE,
    connect,
    give_rule,
    new_role,
    new_user,
    permissions,
    unique,
)
from tests.journeys.runtime import Api, Runtime, noise, wait_for
from tests.journeys.test_bucket_sync import s3


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
        for path, item, body in described(word):
            attacker.ok("POST", path, body)
            attacker.ok("DELETE", f"{item}{word}")
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


__all__ = ["s3"]

HIDDEN = ("a\u200bb", "a\u202egpj", "\ufeffa", "a\u200db")
VISIBLE = ("می\u200cخواهم", "👩\u200d🚀", "क्\u200dष")  # noqa: RUF001 - Persian


class NamingRequest(NamedTuple):
    """A request that names something."""

    field: str
    method: str
    path: str
    body: dict[str, Any]


class NamingSetup(NamedTuple):
    database: str
    asset: str

    @property
    def path(self) -> str:
        return f"/database/{self.database}/assets/{self.asset}"


@pytest.fixture
def bench(api: Api, database: str) -> NamingSetup:
    asset = api.new_asset(database, "Lion")
    api.upload(database, asset, {"/a.stl": [noise(50, "a")]})
    return NamingSetup(database, asset)


def namings(bench: NamingSetup, name: str) -> Iterator[NamingRequest]:
    """Every request that names an asset, a file, a folder or a version."""
    described = {"databaseId": bench.database, "description": "made by a test"}
    asset: dict[str, Any] = {**described, "isDistributable": True, "tags": []}
    yield NamingRequest("assetName", "POST", "/assets", {**asset, "assetName": name})
    chosen = f"{name} {uuid4().hex[:8]}"
    body = {**asset, "assetName": "Lion", "assetId": chosen}
    yield NamingRequest("assetId", "POST", "/assets", body)
    yield NamingRequest("assetName", "PUT", bench.path, {"assetName": name})
    for target in (f"/{name}/x.stl", f"/x/{name}.stl"):
        to = {"sourcePath": "/a.stl", "destinationPath": target}
        yield NamingRequest("destinationPath", "POST", f"{bench.path}/copyFile", to)
    to = {"sourcePath": "/a.stl", "destinationPath": f"/{name}.stl"}
    yield NamingRequest("destinationPath", "POST", f"{bench.path}/moveFile", to)
    folder = {"relativeKey": f"/new/{name}/"}
    yield NamingRequest("relativeKey", "POST", f"{bench.path}/createFolder", folder)
    file = {"relativeKey": f"/up/{name}.stl", "file_size": 3, "num_parts": 1}
    scope = {"databaseId": bench.database, "assetId": bench.asset, "uploadType": "assetFile"}
    yield NamingRequest("files.0.relativeKey", "POST", "/uploads", {**scope, "files": [file]})
    new = f"ingest-{uuid4().hex[:8]}"
    file = {**file, "relativeKey": f"{new}/{name}.stl"}
    ingest = {**asset, "assetId": new, "assetName": "Lion", "files": [file]}
    yield NamingRequest("files.0.relativeKey", "POST", "/ingest-asset", ingest)
    version = {"comment": "x", "useLatestFiles": True, "versionAlias": name}
    yield NamingRequest("versionAlias", "POST", f"{bench.path}/createVersion", version)


@pytest.mark.parametrize("name", HIDDEN, ids=ascii)
def test_no_request_chooses_a_name_with_hidden_characters(
    api: Api, bench: NamingSetup, name: str
) -> None:
    for naming in namings(bench, name):
        status, body = api.refused(naming.method, naming.path, naming.body)
        assert (status, [error["field"] for error in body["errors"]]) == (400, [naming.field])
        assert "invisible character U+" in body["errors"][0]["message"]


@pytest.mark.parametrize("name", VISIBLE, ids=ascii)
def test_joiners_that_shape_a_name_are_taken(api: Api, bench: NamingSetup, name: str) -> None:
    for naming in namings(bench, name):
        api.ok(naming.method, naming.path, naming.body)


def test_stored_names_remain_readable_and_deletable(
    runtime: Runtime, api: Api, bench: NamingSetup, s3: Any
) -> None:
    path = f"/{HIDDEN[0]}.txt"
    bucket = api.own_bucket()["bucketName"]
    s3.put_object(Bucket=bucket, Key=bench.asset + path, Body=b"stored")
    folder = f"sync {HIDDEN[1]} {uuid4().hex[:8]}"
    s3.put_object(Bucket=bucket, Key=f"{folder}/a.stl", Body=b"stored")
    runtime.drain()
    listed = api.ok("GET", f"{bench.path}/listFiles")["items"]
    assert path in {item["relativePath"] for item in listed}
    read = api.send("GET", f"{bench.path}/download/stream/{quote(path[1:])}")
    assert read.content == b"stored"
    to = {"sourcePath": path, "destinationPath": "/visible.txt"}
    api.completed("POST", f"{bench.path}/copyFile", to)
    api.completed(
        "DELETE", f"{bench.path}/deleteFile", {"filePath": path, "confirmPermanentDelete": True}
    )

    adopted = f"/database/imported/assets/{quote(folder)}"
    reply = api.ok("GET", adopted)
    assert reply["assetName"] == folder
    api.ok("PUT", adopted, {"assetName": folder, "description": "found in the bucket"})
    api.ok("DELETE", f"{adopted}/deleteAsset", {"confirmPermanentDelete": True})
