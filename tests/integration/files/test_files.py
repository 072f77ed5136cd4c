"""Files on real engines: uploads, downloads, the life of assets, and workers that are late."""

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from itertools import count
from threading import Event
from typing import Any

import httpx
import pytest

from backend.aws.objects import S3Objects
from backend.aws.tables import DynamoTables
from backend.core.errors import ConflictError, NotFoundError, VitrineError
from backend.core.objects import ObjectHead
from backend.domains.asset_versions.repository import VersionRepository
from backend.domains.assets.models import UpdateAssetBody
from backend.domains.files.repository import FileChangeRepository
from backend.domains.metadata.models import Entity, NewRecord
from backend.entrypoints.wiring.file_changes import change_steps
from backend.entrypoints.wiring.jobs import runner
from backend.entrypoints.wiring.metadata import metadata, records
from tests.factories.assets import ADMIN, created_asset
from tests.factories.files import BUCKET, GLB, Gallery, Response, sha256
from tests.factories.lifecycle import Lifecycle, lifecycle
from tests.factories.versions import Versions, versions

MIB = 1024**2
_MOVES = 12


def sent(museum: Gallery, files: dict[str, bytes], **more: Any) -> tuple[str, list[dict[str, Any]]]:
    """Upload parts to their URLs; return the upload, and the files as a completion names them."""
    announced = [
        {
            "relativeKey": path,
            "file_size": len(body),
            "checksumSha256": sha256(body),
            **more,
        }
        for path, body in files.items()
    ]
    answer = museum.initialise(*announced)
    assert answer.status == 200, answer.body
    done: list[dict[str, Any]] = []
    for file in answer.body["files"]:
        body = files[file["relativeKey"]]
        size = -(-len(body) // max(file["numParts"], 1))
        parts: list[dict[str, Any]] = []
        for part in file["partUploadUrls"]:
            start = (part["PartNumber"] - 1) * size
            reply = httpx.put(part["UploadUrl"], content=body[start : start + size])
            assert reply.status_code == 200, reply.text
            parts.append({"PartNumber": part["PartNumber"], "ETag": reply.headers["ETag"]})
        done.append(
            {
                "relativeKey": file["relativeKey"],
                "uploadIdS3": file["uploadIdS3"],
                "parts": parts,
            }
        )
    return answer.body["uploadId"], done


def uploaded(museum: Gallery, files: dict[str, bytes], **more: Any) -> Response:
    upload_id, done = sent(museum, files, **more)
    return museum.complete(upload_id, *done)


def temporary(museum: Gallery) -> list[str]:
    versions = museum.objects.list_versions(BUCKET, "temp-uploads/").versions
    return [version.key for version in versions]


def test_bytes_come_back_as_they_were_sent(museum: Gallery) -> None:
    big = bytes(range(256)) * (11 * MIB // 256)
    files = {"/scans/ä b+%.glb": GLB, "/empty.txt": b"", "/scans/big.bin": big}
    upload_id, done = sent(museum, {"/scans/big.bin": big}, num_parts=2)
    assert museum.complete(upload_id, *done).body["overallSuccess"]
    answer = uploaded(museum, {path: body for path, body in files.items() if len(body) < MIB})
    assert answer.body["overallSuccess"], answer.body
    assert answer.body["assetType"] == "folder"
    for path, body in files.items():
        info = museum.file_info(path).body
        assert (info["size"], info["checksumSha256"], info["checksumVerified"]) == (
            len(body),
            sha256(body),
            True,
        )
        reply = httpx.get(museum.download(key=path).body["downloadUrl"])
        assert (reply.status_code, reply.content) == (200, body)
    assert temporary(museum) == []


def test_a_download_has_the_type_and_disposition_that_the_server_chose(museum: Gallery) -> None:
    assert uploaded(museum, {"/ä.svg": b"<svg/>"}).body["overallSuccess"]
    reply = httpx.get(museum.download(key="/ä.svg").body["downloadUrl"])
    assert reply.headers["Content-Type"] == "image/svg+xml"
    assert reply.headers["Content-Disposition"] == "attachment; filename*=UTF-8''%C3%A4.svg"


def test_a_url_is_good_for_its_own_file_only(museum: Gallery) -> None:
    uploaded(museum, {"/a.glb": GLB, "/b.glb": GLB})
    url = museum.download(key="/a.glb").body["downloadUrl"]
    assert httpx.get(url.replace("/a.glb", "/b.glb")).status_code == 403


def test_a_file_beside_a_folder_of_its_name_is_refused_with_a_reason(museum: Gallery) -> None:
    answer = uploaded(museum, {"/a": GLB, "/fine.glb": GLB})
    assert answer.body["overallSuccess"]
    answer = uploaded(museum, {"/a/b.glb": GLB, "/c.glb": GLB})
    assert answer.status == 200
    refused, made = answer.body["fileResults"]
    assert "the object store rejected it" in refused["error"]
    assert made["success"]
    assert temporary(museum) == []


def test_both_in_one_upload_end_with_one_reason(museum: Gallery) -> None:
    answer = uploaded(museum, {"/a": GLB, "/a/b.glb": GLB})
    assert answer.status == 200
    results = [result["success"] for result in answer.body["fileResults"]]
    assert sorted(results) == [False, True]


def test_a_name_too_long_for_the_store_is_refused_with_a_reason(museum: Gallery) -> None:
    name = "/" + "ä" * 200 + ".glb"
    answer = uploaded(museum, {name: GLB, "/fine.glb": GLB})
    refused, made = answer.body["fileResults"]
    assert "the object store rejected it" in refused["error"]
    assert made["success"]


def test_parts_that_are_too_small_are_refused_with_a_reason(museum: Gallery) -> None:
    answer = museum.initialise({"relativeKey": "/a.bin", "num_parts": 2})
    (file,) = answer.body["files"]
    parts = [
        {
            "PartNumber": url["PartNumber"],
            "ETag": httpx.put(url["UploadUrl"], content=b"x").headers["ETag"],
        }
        for url in file["partUploadUrls"]
    ]
    done = museum.complete(
        answer.body["uploadId"],
        {"relativeKey": "/a.bin", "uploadIdS3": file["uploadIdS3"], "parts": parts},
    )
    assert done.status == 409
    assert "EntityTooSmall" in done.body["fileResults"][0]["error"]
    assert museum.abort(answer.body["uploadId"]).status == 200


def test_an_upload_that_was_abandoned_takes_no_more_parts(museum: Gallery) -> None:
    answer = museum.initialise({"relativeKey": "/a.glb", "file_size": 5 * MIB})
    assert museum.abort(answer.body["uploadId"]).status == 200
    url = answer.body["files"][0]["partUploadUrls"][0]["UploadUrl"]
    assert httpx.put(url, content=GLB).status_code == 404


def test_what_is_put_whole_after_its_upload_was_abandoned_is_no_file(museum: Gallery) -> None:
    answer = museum.initialise({"relativeKey": "/a.glb", "file_size": 64})
    upload_id, (file,) = answer.body["uploadId"], answer.body["files"]
    assert museum.abort(upload_id).status == 200
    reply = httpx.put(file["partUploadUrls"][0]["UploadUrl"], content=GLB)
    parts = [{"PartNumber": 1, "ETag": reply.headers["ETag"]}]
    done = {"relativeKey": "/a.glb", "uploadIdS3": file["uploadIdS3"], "parts": parts}
    assert museum.complete(upload_id, done).status == 404
    assert museum.file_info("/a.glb").status == 404


def test_a_second_upload_makes_a_second_version(museum: Gallery) -> None:
    uploaded(museum, {"/a.glb": GLB})
    uploaded(museum, {"/a.glb": GLB + b"newer"})
    versions = museum.file_info("/a.glb", includeVersions="true").body["versions"]
    assert [(version["size"], version["isLatest"]) for version in versions] == [
        (69, True),
        (64, False),
    ]
    old = museum.download(key="/a.glb", versionId=versions[1]["versionId"]).body["downloadUrl"]
    assert httpx.get(old).content == GLB


FILES = 60
OWN = ("/d1/own.glb", "/own ä+b.glb")


@pytest.fixture
def estate(ports: tuple[DynamoTables, S3Objects]) -> Lifecycle:
    return lifecycle(*ports, files=7, versions=50)


def furnished(estate: Lifecycle) -> dict[str, str]:
    """Files in folders and beside them, some archived by their user.

    Return the versions of the others.
    """
    names = [f"/d{n % 3}/f {n:03}+ä.glb" for n in range(FILES)]
    versions = {name: estate.gallery.put(name) for name in (*names, "/d1.glb")}
    for path in OWN:
        estate.gallery.put(path)
        estate.hide(path)
    return versions


def hidden(estate: Lifecycle, paths: Iterable[str]) -> dict[str, bool]:
    """The result of `files` when all of these are archived."""
    return dict.fromkeys([*paths, *OWN], True)


def test_files_follow_their_asset_and_come_back_with_the_versions_they_had(
    estate: Lifecycle,
) -> None:
    versions = furnished(estate)
    for _ in range(2):
        estate.work_off(estate.archive())
        assert estate.files() == hidden(estate, versions)
        estate.work_off(estate.unarchive())
        assert estate.files() == hidden(estate, ()) | dict.fromkeys(versions, False)
    for path, version_id in versions.items():
        head = estate.objects.head(BUCKET, "statue" + path)
        assert isinstance(head, ObjectHead)
        assert head.version.version_id == version_id


def test_nothing_of_a_deleted_asset_is_left_in_its_bucket(estate: Lifecycle) -> None:
    furnished(estate)
    estate.work_off(estate.archive())
    assert estate.work_off(estate.delete()).state == "done"
    assert estate.files() == {}
    assert estate.objects.list_versions(BUCKET, "").versions == ()


def test_of_many_archivings_at_once_exactly_one_happens(estate: Lifecycle) -> None:
    estate.gallery.put("/a.glb")

    def archive(_: int) -> str:
        try:
            estate.service.archive_asset(ADMIN, "museum", "statue")
        except VitrineError as error:
            return error.code
        return "archived"

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(archive, range(8)))
    assert sorted(results) == ["AssetArchived"] * 7 + ["archived"]
    counted = estate.gallery.assets.databases.databases.get_counted("museum")
    assert counted is not None
    assert counted.asset_count == 0


def test_edits_archivings_and_returns_at_once_leave_a_state_that_some_order_explains(
    estate: Lifecycle,
) -> None:
    for number in range(10):
        estate.gallery.put(f"/{number}.glb")

    def edit(number: int) -> str:
        ids = ("museum", "statue")
        try:
            if number % 3 == 0:
                estate.service.archive_asset(ADMIN, *ids)
            elif number % 3 == 1:
                estate.service.unarchive_asset(ADMIN, *ids)
            else:
                body = UpdateAssetBody(asset_name=f"Name {number}")
                estate.gallery.assets.update_asset(ADMIN, *ids, body)
        except VitrineError as error:
            return error.code
        return "done"

    with ThreadPoolExecutor(6) as pool:
        results = set(pool.map(edit, range(60)))
    known = {"AssetArchived", "AssetActive", "AssetBusy", "AssetNotFound", "AssetRevisionConflict"}
    assert results - known == {"done"}
    asset = estate.asset()
    assert asset is not None
    assert asset.lifecycle_job_id is not None
    assert estate.work_off(asset.lifecycle_job_id).state == "done"
    assert set(estate.files().values()) == {asset.is_archived}
    counted = estate.gallery.assets.databases.databases.get_counted("museum")
    assert counted is not None
    assert counted.asset_count == (0 if asset.is_archived else 1)


def test_metadata_that_is_written_while_a_file_moves_moves_with_it(museum: Gallery) -> None:
    """Every accepted key is found where the file is, however often it was moved meanwhile."""
    paths = ("/a/b.glb", "/c/d.glb")
    museum.put(paths[0])
    service, accepted = metadata(museum.changing), set[str]()
    moving = Event()

    def write(number: int) -> None:
        for turn in count():
            if moving.is_set():
                return
            key = f"k{number}.{turn}"
            sent = NewRecord(metadata_key=key, metadata_value="v")
            entity = Entity("museum", "statue", paths[turn % 2])
            try:
                result = service.add_metadata(ADMIN, entity, [sent])
            except (ConflictError, NotFoundError):
                continue
            assert result.done == (key,)
            accepted.add(key)

    with ThreadPoolExecutor() as pool:
        writers = [pool.submit(write, number) for number in range(3)]
        try:
            for turn in range(_MOVES):
                source, target = paths[turn % 2], paths[1 - turn % 2]
                body = {"sourcePath": source, "destinationPath": target}
                answer = museum.change("POST", "moveFile", body)
                assert answer.status == 200, answer.body
        finally:
            moving.set()
        for writer in writers:
            writer.result()
    assert len(accepted) > _MOVES
    stored = [
        {
            record.metadata_key
            for record in records(museum.changing).records_of(Entity("museum", "statue", path))
        }
        for path in paths
    ]
    assert stored[_MOVES % 2] == accepted
    assert stored[1 - _MOVES % 2] == set()


FOLDER = {"filePath": "/ä/", "isPrefix": True}
LATE = ("/ä/1 +.glb", "/ä/2.glb", "/ä/2.glb.previewFile.png")


@pytest.fixture
def raced(ports: tuple[DynamoTables, S3Objects]) -> Lifecycle:
    result = lifecycle(*ports)
    for path in LATE:
        result.gallery.put(path)
    return result


def another_has_the_job(raced: Lifecycle) -> None:
    job_id = FileChangeRepository(raced.tables).state("statue").job_id
    assert job_id is not None
    raced.hands.now += timedelta(minutes=5)
    until, changing = raced.hands.now + timedelta(minutes=1), raced.gallery.changing
    job = runner(changing).run(job_id, change_steps(changing).step, until=until)
    assert job is not None
    assert job.state == "done"


@pytest.mark.parametrize("body", [{"filePath": LATE[1]}, FOLDER], ids=["file", "folder"])
def test_files_that_were_restored_are_shown(
    raced: Lifecycle, monkeypatch: pytest.MonkeyPatch, body: dict[str, object]
) -> None:
    delete_many, moments = S3Objects.delete_many, iter([True])

    def late(objects: S3Objects, bucket: str, wanted: Sequence[tuple[str, str | None]]) -> None:
        if next(moments, False):
            another_has_the_job(raced)
            answer = raced.gallery.change("POST", "unarchiveFile", {"filePath": LATE[1]})
            assert answer.status == 200, answer.body
        delete_many(objects, bucket, wanted)

    monkeypatch.setattr(S3Objects, "delete_many", late)
    assert raced.gallery.change("DELETE", "archiveFile", body).status == 200
    assert raced.files() == {
        LATE[0]: "isPrefix" in body,
        LATE[1]: False,
        LATE[2]: False,
    }


@pytest.mark.parametrize("body", [{"filePath": LATE[1]}, FOLDER], ids=["file", "folder"])
def test_markers_that_another_worker_met_stay(
    raced: Lifecycle, monkeypatch: pytest.MonkeyPatch, body: dict[str, object]
) -> None:
    delete_many, moments = S3Objects.delete_many, iter([True])

    def awake(objects: S3Objects, bucket: str, wanted: Sequence[tuple[str, str | None]]) -> None:
        delete_many(objects, bucket, wanted)
        if next(moments, False):
            another_has_the_job(raced)

    monkeypatch.setattr(S3Objects, "delete_many", awake)
    assert raced.gallery.change("DELETE", "archiveFile", body).status == 200
    assert raced.files() == {LATE[0]: "isPrefix" in body, LATE[1]: True, LATE[2]: True}


@pytest.fixture
def versioned(ports: tuple[DynamoTables, S3Objects]) -> Versions:
    result = versions(*ports)
    for path in LATE:
        result.lifecycle.gallery.put(path)
    return result


def test_creators_at_once_draw_numbers_of_their_own_and_the_highest_is_current(
    versioned: Versions,
) -> None:
    asset, repository = versioned.lifecycle.gallery.asset, versioned.creation.repository
    with ThreadPoolExecutor(8) as pool:
        drawn = list(pool.map(repository.draw_number, [asset] * 40))
        assert sorted(map(int, drawn)) == list(range(1, 41))
        answers = list(pool.map(versioned.create, [f"number {n}" for n in range(12)]))
    for answer in answers:
        assert answer.status == 200, answer.body
    # They waited for the others, or the others changed the asset all the time.
    versioned.work_off_all(answer.body["jobId"] for answer in answers if "jobId" in answer.body)
    listed = versioned.listed()
    assert [item["Version"] for item in listed] == [*map(str, range(52, 40, -1)), "0"]
    assert [item["isCurrent"] for item in listed] == [True, *([False] * 12)]
    assert [item["fileCount"] for item in listed] == [*([2] * 12), 0]
    changed = versioned.lifecycle.asset()
    assert changed is not None
    assert changed.current_version.version == "52"


def test_a_worker_that_wakes_up_late_writes_under_its_own_number(
    versioned: Versions, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_files, moments, museum = VersionRepository.put_files, iter([True]), versioned.lifecycle

    def late(self: VersionRepository, asset: Any, number: str, files: Any) -> None:
        if next(moments, False):
            museum.hands.now += timedelta(minutes=5)
            museum.work_off(museum.delete())
            created_asset(museum.gallery.assets)
            museum.gallery.put("/new.glb")
            assert versioned.made() == "2"
        put_files(self, asset, number, files)

    monkeypatch.setattr(VersionRepository, "put_files", late)
    job_id = versioned.create().body["jobId"]
    assert versioned.work_off(job_id).state == "failed"
    museum.jobs.resume_job(ADMIN, job_id)
    assert versioned.work_off(job_id).state == "failed"
    assert versioned.files("2").keys() == {"/new.glb"}
    assert [item["Version"] for item in versioned.listed()] == ["2", "0"]
