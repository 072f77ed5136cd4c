"""Files are moved, copied, archived, reverted and deleted over HTTP.

It takes over 20 seconds: changes of folders are jobs, each of which is followed into the indexes.
"""

from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from tests.journeys.runtime import Api, Runtime, noise, wait_for
from tests.journeys.test_bucket_sync import s3
from tests.journeys.test_search import drift

__all__ = ["s3"]

ODD = "/Löwe 獅子 +1.stl"
RECORD = {"metadataKey": "maker", "metadataValue": "Boulton", "metadataValueType": "string"}


def shown(api: Api, path: str, **query: str) -> dict[str, dict[str, Any]]:
    """The files of an asset by path, without folders."""
    request = "&".join(f"{name}={quote(value)}" for name, value in query.items())
    items = api.ok("GET", f"{path}/listFiles?{request}")["items"]
    return {item["relativePath"]: item for item in items if not item["isFolder"]}


def found(api: Api, database: str) -> set[str]:
    """The paths of files that a search finds."""
    hits = api.search(databaseId=database, entityTypes=["file"])
    return {str(hit["str_key"]).partition("/")[2] for hit in hits if "str_key" in hit}


def content(api: Api, path: str, file: str) -> bytes:
    link = api.ok("POST", f"{path}/download", {"downloadType": "assetFile", "key": file})
    return httpx.get(link["downloadUrl"], timeout=20).content


TAGS = [{"Key": "project", "Value": "a=b + c"}]


def tags(s3: Any, api: Api, path: str, file: str) -> list[dict[str, str]]:
    """The tags of the current version of a file."""
    place = {"Bucket": api.own_bucket()["bucketName"], "Key": path.rpartition("/")[2] + file}
    return s3.get_object_tagging(**place)["TagSet"]


def records(api: Api, path: str, file: str, kind: str = "metadata") -> list[str]:
    request = f"{path}/metadata/file?filePath={quote(file)}&type={kind}"
    return [record["metadataKey"] for record in api.ok("GET", request)["metadata"]]


@pytest.fixture
def lion(api: Api, database: str) -> str:
    """The path of an asset with some files."""
    asset = api.new_asset(database, "Lion")
    files = {"/a.stl": [noise(50, "a")], ODD: [noise(60, "odd")], "/parts/1.stl": [noise(9, "1")]}
    api.upload(database, asset, files)
    return f"/database/{database}/assets/{asset}"


def test_a_file_is_moved_and_copied_with_its_companions(
    api: Api, s3: Any, database: str, lion: str
) -> None:
    asset = lion.rpartition("/")[2]
    api.upload(database, asset, {f"{ODD}.previewFile.png": [b"png"]})
    auxiliary = next(
        bucket["Name"] for bucket in s3.list_buckets()["Buckets"] if "auxil" in bucket["Name"]
    )
    for path in (f"{ODD}/preview/octree.bin", "/PotreeViewer/cloud.js"):
        s3.put_object(Bucket=auxiliary, Key=asset + path, Body=b"viewer")
    for kind in ("metadata", "attribute"):
        body = {"filePath": ODD, "type": kind, "metadata": [RECORD]}
        api.ok("POST", f"{lion}/metadata/file", body)
    place = {"Bucket": api.own_bucket()["bucketName"], "Key": asset + ODD}
    scanned = [*TAGS, {"Key": "GuardDutyMalwareScanStatus", "Value": "NO_THREATS_FOUND"}]
    s3.put_object_tagging(**place, Tagging={"TagSet": scanned})
    to = {"sourcePath": ODD, "destinationPath": f"/parts{ODD}"}
    reply = api.completed("POST", f"{lion}/moveFile", to)
    assert reply["success"] is True
    assert reply["affectedFiles"] == [ODD, f"/parts{ODD}"]
    listed = shown(api, lion)
    assert set(listed) == {"/a.stl", "/parts/1.stl", f"/parts{ODD}"}
    assert listed[f"/parts{ODD}"]["previewFile"].endswith(f"{ODD}.previewFile.png")
    assert content(api, lion, f"/parts{ODD}") == noise(60, "odd")
    assert tags(s3, api, lion, f"/parts{ODD}") == TAGS
    assert records(api, lion, f"/parts{ODD}") == ["maker"]
    assert records(api, lion, f"/parts{ODD}", "attribute") == ["maker"]
    assert records(api, lion, ODD) == []
    listed = s3.list_objects_v2(Bucket=auxiliary, Prefix=f"{asset}/")["Contents"]
    moved = f"{asset}/parts{ODD}/preview/octree.bin"
    assert {item["Key"] for item in listed} == {f"{asset}/PotreeViewer/cloud.js", moved}
    viewer = f"{lion}/auxiliaryPreviewAssets/stream"
    for path in ("PotreeViewer/cloud.js", moved.partition("/")[2]):
        assert api.send("GET", f"{viewer}/{quote(path)}").content == b"viewer"
    assert api.refused("POST", f"{lion}/moveFile", to)[0] == 400  # the source is archived
    taken = {"sourcePath": "/a.stl", "destinationPath": "/parts/1.stl"}
    assert api.refused("POST", f"{lion}/moveFile", taken)[0] == 409

    other = _copied_elsewhere(api, database, lion)
    wait_for(lambda: found(api, other), {"copy.stl"})
    wait_for(lambda: found(api, database), {"a.stl", "parts/1.stl", f"parts{ODD}"})

    back = {"sourcePath": f"/parts{ODD}", "destinationPath": ODD}
    api.completed("POST", f"{lion}/moveFile", back)
    assert set(shown(api, lion)) == {"/a.stl", "/parts/1.stl", ODD}
    assert content(api, lion, ODD) == noise(60, "odd")
    assert records(api, lion, ODD) == records(api, lion, ODD, "attribute") == ["maker"]
    assert tags(s3, api, lion, ODD) == TAGS
    wait_for(lambda: found(api, database), {"a.stl", "parts/1.stl", ODD[1:]})
    kept = {"sourcePath": "/a.stl", "destinationPath": ODD}
    api.completed("DELETE", f"{lion}/archiveFile", {"filePath": ODD})
    status, error = api.refused("POST", f"{lion}/copyFile", kept)
    assert (status, error["code"]) == (409, "FileExists")
    assert "metadata would be replaced" in error["message"]


def _copied_elsewhere(api: Api, database: str, lion: str) -> str:
    """Copy the file with its metadata to an asset of a new database; return the database."""
    other = api.new_database(f"{database}-2")
    bust = api.new_asset(other, "Bust")
    copy = {
        "sourcePath": f"/parts{ODD}",
        "destinationPath": "/copy.stl",
        "destinationAssetId": bust,
        "destinationDatabaseId": other,
    }
    assert api.completed("POST", f"{lion}/copyFile", copy)["affectedFiles"] == ["/copy.stl"]
    theirs = f"/database/{other}/assets/{bust}"
    assert content(api, theirs, "/copy.stl") == noise(60, "odd")
    assert records(api, theirs, "/copy.stl") == ["maker"]
    return other


def test_a_file_is_archived_restored_reverted_and_deleted(
    api: Api, s3: Any, database: str, lion: str
) -> None:
    file = {"filePath": ODD}
    first = shown(api, lion)[ODD]["versionId"]
    place = {"Bucket": api.own_bucket()["bucketName"], "Key": lion.rpartition("/")[2] + ODD}
    s3.put_object_tagging(**place, Tagging={"TagSet": TAGS})
    assert api.completed("PUT", f"{lion}/setPrimaryFile", {**file, "primaryType": "lod1"})[
        "success"
    ]
    described = api.ok("GET", f"{lion}/fileInfo?filePath={quote(ODD)}&includeVersions=true")
    assert described["primaryType"] == "lod1"  # by a new version; the local store keeps the old one
    asset = lion.rpartition("/")[2]
    api.upload(database, asset, {ODD: [noise(70, "newer")]})
    assert content(api, lion, ODD) == noise(70, "newer")
    path = f"{lion}/revertFileVersion/{quote(first, safe='')}"
    reverted, newest = api.completed("POST", path, file), shown(api, lion)[ODD]["versionId"]
    # a job that continues a revert omits it
    assert reverted.get("newVersionId", newest) == newest != first
    assert tags(s3, api, lion, ODD) == TAGS
    assert content(api, lion, ODD) == noise(60, "odd")

    wait_for(lambda: found(api, database), {"a.stl", ODD[1:], "parts/1.stl"})
    api.completed("DELETE", f"{lion}/archiveFile", file)
    assert ODD not in shown(api, lion)
    assert shown(api, lion, includeArchived="true")[ODD]["isArchived"] is True
    assert api.refused("DELETE", f"{lion}/archiveFile", file)[0] == 409
    wait_for(lambda: found(api, database), {"a.stl", "parts/1.stl"})
    api.completed("POST", f"{lion}/unarchiveFile", file)
    assert tags(s3, api, lion, ODD) == TAGS
    assert content(api, lion, ODD) == noise(60, "odd")
    wait_for(lambda: found(api, database), {"a.stl", ODD[1:], "parts/1.stl"})

    gone = {**file, "confirmPermanentDelete": True}
    assert api.refused("DELETE", f"{lion}/deleteFile", file)[0] == 400
    api.completed("DELETE", f"{lion}/deleteFile", gone)
    assert ODD not in shown(api, lion, includeArchived="true")
    assert api.refused("DELETE", f"{lion}/deleteFile", gone)[0] == 404
    wait_for(lambda: found(api, database), {"a.stl", "parts/1.stl"})


def test_previews_are_shown_and_archived_files_keep_their_facts(
    runtime: Runtime, api: Api, s3: Any, database: str, lion: str
) -> None:
    asset, bucket = lion.rpartition("/")[2], api.own_bucket()["bucketName"]
    resembling = "photo.previewfile.jpg"
    for name in (resembling, "preview.png", "a.stl.previewFile.gif", "a.stl.previewFile.png"):
        s3.put_object(Bucket=bucket, Key=f"{asset}/{name}", Body=name.encode())
    version = shown(api, lion)[ODD]["versionId"]
    api.completed("DELETE", f"{lion}/archiveFile", {"filePath": ODD})
    runtime.drain()
    listed = shown(api, lion)
    assert set(listed) == {"/a.stl", "/parts/1.stl", f"/{resembling}", "/preview.png"}
    assert found(api, database) == {"a.stl", "parts/1.stl", resembling}
    (itself,) = api.search(databaseId=database, entityTypes=["asset"])
    assert itself["str_previewfilekey"] == f"{asset}/preview.png"
    link = api.ok("POST", f"{lion}/download", {"downloadType": "assetPreview"})
    assert httpx.get(link["downloadUrl"], timeout=20).content == b"preview.png"

    files = api.search(databaseId=database, entityTypes=["file"], includeArchived=True)
    documents = {file["str_key"].partition("/")[2]: file for file in files}
    assert set(documents) == {"a.stl", ODD[1:], "parts/1.stl", resembling}
    archived, active = documents[ODD[1:]], documents["a.stl"]
    assert (archived["bool_archived"], archived["num_filesize"]) == (True, 60)
    assert archived["str_s3_version_id"] == version
    assert archived["str_etag"]
    assert active["str_previewfilekey"] == listed["/a.stl"]["previewFile"]
    assert "source_bytes" not in active
    assert drift(api, database) == set()

    api.ok("DELETE", f"{lion}/deleteAssetPreview")

    def previews() -> list[str | None]:
        hits = api.search(databaseId=database, entityTypes=["asset"])
        return [item.get("str_previewfilekey") for item in hits]

    wait_for(previews, [None])


def test_folders_are_made_archived_and_deleted_whole(api: Api, database: str, lion: str) -> None:
    asset = lion.rpartition("/")[2]
    made = api.completed("POST", f"{lion}/createFolder", {"relativeKey": "/parts/empty/"})
    assert made["relativeKey"] == "/parts/empty/"
    assert api.refused("POST", f"{lion}/createFolder", {"relativeKey": "/parts/empty/"})[0] == 409
    many = {f"/parts/many/{n:03}.bin": [noise(9, str(n))] for n in range(120)}
    api.upload(database, asset, many)
    folder = {"filePath": "/parts/many/", "isPrefix": True}
    reply = api.completed("DELETE", f"{lion}/archiveFile", folder)
    assert len(reply["affectedFiles"]) == 120
    wait_for(lambda: set(shown(api, lion)), {"/a.stl", ODD, "/parts/1.stl"})
    everything = {"filePath": "/parts", "isPrefix": True, "confirmPermanentDelete": True}
    api.completed("DELETE", f"{lion}/deleteFile", everything)
    wait_for(lambda: set(shown(api, lion, includeArchived="true")), {"/a.stl", ODD})
    wait_for(lambda: found(api, database), {"a.stl", ODD[1:]})
    assert api.refused("DELETE", f"{lion}/deleteFile", everything)[0] == 404


def test_a_folder_moves_with_its_metadata_into_another_one(
    api: Api, database: str, lion: str
) -> None:
    asset = lion.rpartition("/")[2]
    many = {f"/many/{n:03}.bin": [noise(9, str(n))] for n in range(60)}
    api.upload(database, asset, {**many, "/parts/many/007.bin": [noise(5, "kept")]})
    note = {"filePath": "/many/001.bin", "type": "metadata", "metadata": [RECORD]}
    api.ok("POST", f"{lion}/metadata/file", note)
    api.completed("POST", f"{lion}/createFolder", {"relativeKey": "/many/empty/"})
    to = {"sourcePath": "/many/", "destinationPath": "/parts/many/"}
    reply = api.completed("POST", f"{lion}/moveFolder", to)
    assert reply["affectedFiles"] == ["/many/", "/parts/many/"]
    job = api.ok("GET", f"/jobs/{reply['jobId']}")
    assert (job["state"], job["itemsDone"], job["itemsTotal"]) == ("done", 59, 60)
    (problem,) = job["problems"]
    assert problem.startswith("/many/007.bin: ")
    moved = {f"/parts{path}" for path in many}
    kept = {"/a.stl", ODD, "/parts/1.stl", "/many/007.bin"}
    assert set(shown(api, lion)) == moved | kept
    assert content(api, lion, "/parts/many/007.bin") == noise(5, "kept")
    assert content(api, lion, "/parts/many/059.bin") == noise(9, "59")
    assert records(api, lion, "/parts/many/001.bin") == ["maker"]
    assert records(api, lion, "/many/001.bin") == []
    items = api.ok("GET", f"{lion}/listFiles?pageSize=1000&maxItems=1000")["items"]
    folders = {item["relativePath"].strip("/") for item in items if item["isFolder"]}
    assert folders == {"many", "parts", "parts/many", "parts/many/empty"}
    wait_for(lambda: found(api, database), {path[1:] for path in moved | kept})
    inside = {"sourcePath": "/parts", "destinationPath": "/parts/many/x"}
    assert api.refused("POST", f"{lion}/moveFolder", inside)[0] == 400


def test_of_moves_of_one_file_at_the_same_time_one_succeeds(
    runtime: Runtime, database: str, lion: str
) -> None:
    api = runtime.client()

    def move(number: int) -> int:
        body = {"sourcePath": "/a.stl", "destinationPath": f"/b{number}.stl"}
        return runtime.client().send("POST", f"{lion}/moveFile", body).status_code

    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(move, range(6)))
    assert answers.count(200) == 1
    assert set(answers) <= {200, 400, 409}
    moved = [path for path in shown(api, lion) if path.startswith("/b")]
    assert moved == [f"/b{answers.index(200)}.stl"]
    wait_for(lambda: found(api, database), {moved[0][1:], ODD[1:], "parts/1.stl"})
