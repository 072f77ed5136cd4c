"""Presigned URLs of files and previews: what may be downloaded, and how it is served."""

from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlsplit

import pytest

from backend.aws.clients import s3
from backend.aws.objects import S3Objects
from backend.core.reads import Read, ReadAsset
from backend.core.tables import Tables
from backend.core.transactions import Put
from backend.domains.downloads.routes import build_router
from backend.spec.tables.assets import ASSET_FILE_VERSIONS, ASSET_VERSIONS
from tests.factories.files import BUCKET, PARAMETERS, PATH, Gallery, gallery
from tests.factories.http import Client


@pytest.fixture
def museum(tables: Tables, objects: S3Objects) -> Gallery:
    return gallery(tables, S3Objects(s3()))


def query_of(url: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}


def stored_version(tables: Tables, version: str, s3_version: str, **more: Any) -> None:
    if "versionAlias" in more:
        reserved = {"assetVersionId": f"alias#{more['versionAlias']}", "version": version}
        item = {"databaseId:assetId": "museum:statue", **reserved}
        tables.write(Put(table=ASSET_VERSIONS, item=item))
    tables.write(
        Put(
            table=ASSET_VERSIONS,
            item={
                "databaseId:assetId": "museum:statue",
                "assetVersionId": version,
                "comment": "",
                "description": "",
                "dateCreated": "2026-03-01",
                "createdAt": "2026-03-01",
                "createdBy": "admin",
                **more,
            },
        )
    )
    tables.write(
        Put(
            table=ASSET_FILE_VERSIONS,
            item={
                "databaseId:assetId:assetVersionId": f"museum:statue:{version}",
                "databaseId:assetId": "museum:statue",
                "fileKey": "/a.glb",
                "versionId": s3_version,
            },
        )
    )


def test_the_url_of_a_file_expires_at_the_stated_time(museum: Gallery) -> None:
    version_id = museum.put("/scans/ä b.glb")
    answer = museum.download(key="/scans/ä b.glb")
    assert answer.status == 200
    assert (answer.body["expiresIn"], answer.body["versionId"]) == (900, version_id)
    assert answer.body["downloadType"] == "assetFile"
    url = str(answer.body["downloadUrl"])
    assert unquote(urlsplit(url).path).endswith("statue/scans/ä b.glb")
    query = query_of(url)
    assert query["X-Amz-Expires"] == "900"
    assert query["versionId"] == version_id
    assert query["response-content-type"] == "model/gltf-binary"
    disposition = "inline; filename*=UTF-8''%C3%A4%20b.glb"
    assert query["response-content-disposition"] == disposition


def test_what_can_run_a_script_is_only_downloaded(museum: Gallery) -> None:
    for name in ("a.svg", "a.HTML", "a.htm", "a.xml", "a.js", "a.mjs", "a.xhtml", "a.dae"):
        museum.put(f"/{name}")
        query = query_of(museum.download(key=f"/{name}").body["downloadUrl"])
        assert query["response-content-disposition"].startswith("attachment"), name
    museum.put("/a.png")
    query = query_of(museum.download(key="/a.png").body["downloadUrl"])
    assert query["response-content-disposition"].startswith("inline")


@pytest.mark.parametrize("name", ["ä.png", "a.jpg", "a.txt", "a.json", "a.pdf", "a.glb", "a.svg"])
def test_a_file_is_saved_on_request(museum: Gallery, name: str) -> None:
    museum.put(f"/{name}")
    shown, saved = (
        query_of(museum.download(key=f"/{name}", **wanted).body["downloadUrl"])
        for wanted in ({}, {"attachment": True})
    )
    disposition = f"attachment; filename*=UTF-8''{quote(name)}"
    assert saved["response-content-disposition"] == disposition
    assert saved["response-content-type"] == shown["response-content-type"]


def test_an_asset_that_is_not_distributable_is_refused(tables: Tables, objects: S3Objects) -> None:
    museum = gallery(tables, objects, is_distributable=False)
    museum.put("/a.glb")
    answer = museum.download(key="/a.glb")
    assert (answer.status, answer.body["message"]) == (400, "Asset not distributable")
    assert answer.body["code"] == "AssetNotDistributable"


def test_absent_things_are_not_found(museum: Gallery) -> None:
    museum.put("/a.glb")
    for code, body in (
        ("FileNotFound", {"key": "/none.glb"}),
        ("FileNotFound", {"key": "/a.glb", "versionId": "none"}),
        ("AssetVersionNotFound", {"key": "/a.glb", "assetVersionId": "7"}),
        ("FileNotFound", {"key": "/a.glb", "assetVersionId": "0"}),
        ("AssetVersionNotFound", {"key": "/a.glb", "assetVersionIdAlias": "opening"}),
        ("PreviewNotFound", {"downloadType": "assetPreview"}),
    ):
        answer = museum.download(**body)
        assert (answer.status, answer.body["code"]) == (404, code), body


@pytest.mark.parametrize("way", [{"assetVersionId": "0"}, {"assetVersionIdAlias": "opening"}])
def test_a_preview_of_a_version_of_the_asset_is_refused_not_another_one_served(
    museum: Gallery, way: dict[str, str]
) -> None:
    answer = museum.download(downloadType="assetPreview", **way)
    assert answer.status == 400
    assert "do not contain its preview" in answer.body["message"]


def test_a_preview_at_the_root_of_the_asset_is_its_preview_and_a_file(museum: Gallery) -> None:
    museum.put("/preview.png", b"png")
    listed = museum.list_files().body["items"]
    assert [item["relativePath"] for item in listed] == ["/preview.png"]
    for way in ({"downloadType": "assetPreview"}, {"key": "/preview.png"}):
        answer = museum.download(**way)
        assert answer.status == 200
        assert "statue/preview.png" in answer.body["downloadUrl"]
    museum.assets.set_content(museum.asset, preview_key="previews/statue/front.png")
    front = "previews/statue/front.png"
    museum.objects.put(BUCKET, front, b"png", content_type="image/png", metadata={})
    url = museum.download(downloadType="assetPreview").body["downloadUrl"]
    assert "previews/statue/front.png" in url


def test_an_archived_file_is_absent_and_its_versions_are_not(museum: Gallery) -> None:
    version_id = museum.put("/a.glb")
    museum.objects.delete(BUCKET, "statue/a.glb")
    marker = museum.objects.list_versions(BUCKET, "statue/").versions[0].version_id
    assert museum.download(key="/a.glb").status == 410
    assert museum.download(key="/a.glb", versionId=marker).status == 410
    assert museum.download(key="/a.glb", versionId=version_id).status == 200


def test_a_version_is_named_in_one_of_three_ways(museum: Gallery, tables: Tables) -> None:
    first = museum.put("/a.glb")
    museum.put("/a.glb", b"newer")
    stored_version(tables, "3", first, versionAlias="opening")
    for way in (
        {"versionId": first},
        {"assetVersionId": "3"},
        {"assetVersionIdAlias": "opening"},
    ):
        answer = museum.download(key="/a.glb", **way)
        assert (answer.status, answer.body["versionId"]) == (200, first)
    both = museum.download(key="/a.glb", versionId=first, assetVersionId="3")
    assert both.status == 400
    assert [each["field"] for each in both.body["errors"]] == ["assetVersionId"]
    assert "at most one" in both.body["message"]


def test_an_archived_version_of_the_asset_is_absent(museum: Gallery, tables: Tables) -> None:
    stored_version(tables, "3", museum.put("/a.glb"), isArchived=True)
    assert museum.download(key="/a.glb", assetVersionId="3").status == 410


def test_wrong_fields_are_refused(museum: Gallery) -> None:
    museum.objects.put(BUCKET, "vase/secret.glb", b"s", content_type="text/plain", metadata={})
    for body, field in (
        ({"key": "/../vase/secret.glb"}, "key"),
        ({"key": "/cafe\u0301.glb"}, "key"),
        ({"key": ""}, "key"),
        ({"key": 7}, "key"),
        ({"key": "/a", "assetVersionId": "one"}, "assetVersionId"),
        ({"key": "/a", "versionId": ""}, "versionId"),
        ({"downloadType": "all", "key": "/a"}, "downloadType"),
        ({}, "key"),
        ({"downloadType": "assetPreview", "assetVersionIdAlias": "a"}, "assetVersionIdAlias"),
    ):
        answer = museum.download(**body)
        assert answer.status == 400, body
        assert answer.body["errors"][0]["field"] == field, body
    assert museum.download(key="vase/secret.glb").status == 404


def test_a_stranger_gets_no_url(museum: Gallery) -> None:
    museum.put("/a.glb")
    assert museum.as_user("stranger").download(key="/a.glb").status == 403


def test_each_of_many_files_has_its_own_result(museum: Gallery, tables: Tables) -> None:
    first = museum.put("/a.glb")
    newest = museum.put("/a.glb", b"newer")
    museum.put("/b.glb")
    museum.objects.delete(BUCKET, "statue/b.glb")
    old = {"key": "/a.glb", "versionId": first}
    answer = museum.download(keys=["/none.glb", "/a.glb", old, "/b.glb", "/../x", "statue/a.glb"])
    assert answer.status == 200, answer.body
    files = answer.body["files"]
    assert [(file["key"], file["success"], file["versionId"]) for file in files] == [
        ("/none.glb", False, None),
        ("/a.glb", True, newest),
        ("/a.glb", True, first),
        ("/b.glb", False, None),
        ("/../x", False, None),
        ("statue/a.glb", True, newest),
    ]
    assert [file["downloadUrl"] is not None for file in files] == [
        file["error"] is None for file in files
    ]
    assert "is archived" in files[3]["error"]
    assert answer.body["downloadUrl"] == files[1]["downloadUrl"]
    assert answer.body["message"] == "3 of 6 files can be downloaded for 900 seconds"
    client = Client(build_router(museum.downloads, museum.streams))
    body = {"downloadType": "assetFile", "keys": ["/none.glb", "/a.glb", old]}
    client.send("POST", f"{PATH}/download", parameters=PARAMETERS, body=body)
    ((*_, read),) = client.reads.recorded
    assert read == Read((ReadAsset("museum", "statue", ("/a.glb",)),), urls=True, all_named=True)
    stored_version(tables, "3", first)
    held = museum.download(keys=["/a.glb", "/b.glb"], assetVersionId="3").body["files"]
    assert [file["versionId"] for file in held] == [first, None]


@pytest.mark.parametrize(
    ("body", "field", "fact"),
    [
        ({"keys": ["/gone.glb"]}, "keys", "no file of 1 can be downloaded"),
        ({"keys": []}, "keys", "at least 1"),
        ({"keys": ["/a.glb"] * 1501}, "keys", "at most 1500"),
        ({"keys": ["/a.glb"], "key": "/a.glb"}, "keys", "must not be used with key"),
        ({"keys": ["/a.glb"], "versionId": "x"}, "versionId", "of each key"),
        ({"keys": ["/a.glb"], "downloadType": "assetPreview"}, "keys", "assetFile"),
        (
            {"keys": [{"key": "/a.glb", "versionId": "x"}], "assetVersionId": "0"},
            "keys.0.versionId",
            "must not be used with assetVersionId",
        ),
        ({"keys": [{"versionId": "x"}]}, "keys.0.key", "required"),
    ],
)
def test_wrong_requests_for_many_files_are_refused(
    museum: Gallery, body: dict[str, Any], field: str, fact: str
) -> None:
    museum.put("/a.glb")
    answer = museum.download(**body)
    assert answer.status == 400, answer.body
    assert fact in answer.body["message"]
    assert field in [error["field"] for error in answer.body["errors"]]
