"""Names that look like others are refused in new names, and accepted for existing objects."""

from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import quote
from uuid import uuid4

import pytest

from tests.journeys.runtime import Api, Runtime, noise
from tests.journeys.test_bucket_sync import s3

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
        assert (status, [each["field"] for each in body["errors"]]) == (400, [naming.field])
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
    assert path in {each["relativePath"] for each in listed}
    read = api.send("GET", f"{bench.path}/download/stream/{quote(path[1:])}")
    assert read.content == b"stored"
    to = {"sourcePath": path, "destinationPath": "/visible.txt"}
    api.completed("POST", f"{bench.path}/copyFile", to)
    api.completed(
        "DELETE", f"{bench.path}/deleteFile", {"filePath": path, "confirmPermanentDelete": True}
    )

    adopted = f"/database/imported/assets/{quote(folder)}"
    found = api.ok("GET", adopted)
    assert found["assetName"] == folder
    api.ok("PUT", adopted, {"assetName": folder, "description": "found in the bucket"})
    api.ok("DELETE", f"{adopted}/deleteAsset", {"confirmPermanentDelete": True})
