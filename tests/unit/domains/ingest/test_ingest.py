"""Ingest: an asset and the upload of its files in one call, and again after a lost reply."""

from dataclasses import dataclass
from functools import partial
from typing import Any
from unittest.mock import patch

import pytest

from backend.aws.clients import s3
from backend.aws.objects import S3Objects
from backend.core.errors import UnavailableError
from backend.core.paging import PageRequest
from backend.core.tables import Tables
from backend.domains.assets.models import Asset
from backend.domains.ingest.routes import build_router
from backend.domains.ingest.service import IngestService
from backend.spec.tables.assets import ASSET_UPLOADS, ASSETS
from tests.factories.assets import created_database
from tests.factories.files import BUCKET, GLB, Gallery, gallery
from tests.factories.http import Client, Response
from tests.factories.lifecycle import interrupt
from tests.unit.domains.uploads.calls import MIB, named, stored_part

ASSET: dict[str, Any] = {
    "databaseId": "museum",
    "assetId": "bust",
    "assetName": "A bust",
    "description": "Made of clay",
    "isDistributable": True,
    "tags": ["red"],
}
FILE: dict[str, Any] = {"relativeKey": "bust/scans/a.glb", "file_size": len(GLB)}
EMPTY: dict[str, Any] = {"relativeKey": "bust/empty.txt", "file_size": 0}


@dataclass(frozen=True)
class IngestSetup:
    """Where things are ingested; the database `museum` has an asset `statue` already."""

    gallery: Gallery
    service: IngestService
    tables: Tables

    def send(self, body: Any, user_id: str = "admin") -> Response:
        client = Client(build_router(self.service), user_id=user_id)
        return client.send("POST", "/ingest-asset", body=body)

    def begin(self, *files: dict[str, Any], **more: Any) -> Response:
        return self.send({**ASSET, "files": list(files), **more})

    def end(self, upload_id: str, *files: dict[str, Any], **more: Any) -> Response:
        ids = {name: ASSET[name] for name in ("databaseId", "assetId")}
        return self.send({**ids, "uploadId": upload_id, "files": list(files), **more})

    @property
    def asset(self) -> Asset | None:
        return self.gallery.assets.find_asset("museum", "bust")

    @property
    def written(self) -> int:
        """Rows of assets and uploads."""
        pages = (self.tables.scan(table, PageRequest(100)) for table in (ASSETS, ASSET_UPLOADS))
        return sum(len(page.items) for page in pages)


@pytest.fixture
def desk(tables: Tables, objects: S3Objects) -> IngestSetup:
    museum = gallery(tables, S3Objects(s3()), per_minute=3)
    return IngestSetup(museum, IngestService(museum.assets, museum.uploads), tables)


def stored(started: Response, number: int = 0, body: bytes = GLB) -> dict[str, Any]:
    """A file of the end of an ingest, whose one part is stored."""
    file = started.body["files"][number]
    return named(file, *(stored_part(file, n, body) for n in range(1, file["numParts"] + 1)))


def test_an_asset_and_its_files_come_of_two_calls(desk: IngestSetup) -> None:
    started = desk.begin(FILE, EMPTY)
    assert (started.status, started.body["assetId"]) == (200, "bust")
    assert set(started.body) == {"message", "uploadId", "assetId", "files"}
    paths = ["bust/scans/a.glb", "bust/empty.txt"]
    assert [file["relativeKey"] for file in started.body["files"]] == paths
    assert len(started.body["files"][0]["partUploadUrls"]) == 1
    asset = desk.asset
    assert asset is not None
    assert (asset.asset_name, asset.tags, asset.asset_type) == ("A bust", ["red"], "none")

    done = desk.end(started.body["uploadId"], stored(started), stored(started, 1))
    assert done.status == 200
    assert done.body["overallSuccess"] is True
    results = {file["relativeKey"]: file["success"] for file in done.body["fileResults"]}
    assert results == dict.fromkeys(paths, True)
    assert (done.body["assetId"], done.body["assetType"]) == ("bust", "folder")
    assert desk.gallery.objects.read_start(BUCKET, "bust/scans/a.glb", length=999) == GLB
    assert "files" not in done.body


@pytest.mark.parametrize("shown", [None, True, False])
def test_both_calls_may_be_repeated(desk: IngestSetup, shown: bool | None) -> None:
    asset = {name: value for name, value in ASSET.items() if name != "isDistributable"}
    more = {} if shown is None else {"isDistributable": shown}
    assert desk.send({**asset, "files": [EMPTY], **more}).status == 200
    assert desk.asset is not None
    # an asset may be downloaded unless that is denied
    assert desk.asset.is_distributable is (shown is not False)
    started = desk.begin(EMPTY, assetName="Another name")
    assert started.status == 200
    assert desk.asset.asset_name == "A bust"  # what is there stays as it is
    first = desk.end(started.body["uploadId"], stored(started))
    again = desk.end(started.body["uploadId"], stored(started))
    assert (first.status, first.body) == (again.status, again.body)
    versions = desk.gallery.objects.list_versions(BUCKET, "bust/empty.txt").versions
    assert len(versions) == 1


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"assetName": None}, "assetName"),
        ({"description": None}, "description"),
        ({"isDistributable": "yes"}, "isDistributable"),
        ({"assetId": None}, "assetId"),
        ({"assetId": "a/b"}, "assetId"),
        ({"databaseId": "x"}, "databaseId"),
        ({"tags": ["unknown"]}, "tags"),
        ({"tags": "red"}, "tags"),
        ({"files": []}, "files"),
        ({"files": None}, "files"),
        ({"files": [EMPTY] * 1001}, "files"),
        ({"files": [{**EMPTY, "relativeKey": "other/a.txt"}]}, "files.0.relativeKey"),
        ({"files": [EMPTY, {**EMPTY, "relativeKey": "/a.txt"}]}, "files.1.relativeKey"),
        ({"files": [{**EMPTY, "relativeKey": "bust2/a.txt"}]}, "files.0.relativeKey"),
        ({"files": [{**EMPTY, "relativeKey": "bust/../a.txt"}]}, "files.0.relativeKey"),
        ({"files": [{**EMPTY, "relativeKey": "bust/"}]}, "files.0.relativeKey"),
        ({"files": [{**EMPTY, "relativeKey": "bust//a.txt"}]}, "files.0.relativeKey"),
        ({"files": [{**EMPTY, "relativeKey": "bust/a.exe"}]}, "files.0.relativeKey"),
        ({"files": [EMPTY, EMPTY]}, "files.0.relativeKey"),
        ({"files": [{**FILE, "file_size": -1}]}, "files.0.file_size"),
        ({"files": [{"relativeKey": "bust/a.txt"}]}, "files.0.file_size"),
        ({"files": [{**FILE, "num_parts": 10_001}]}, "files.0.num_parts"),
    ],
)
def test_what_is_wrong_is_named_and_nothing_is_written(
    desk: IngestSetup, more: dict[str, Any], field: str
) -> None:
    body = {**ASSET, "files": [FILE], **more}
    answer = desk.send({name: value for name, value in body.items() if value is not None})
    assert answer.status == 400, answer.body
    assert field in [error["field"] for error in answer.body["errors"]]
    assert (desk.asset, desk.written) == (None, 1)


def test_files_go_into_an_asset_that_is_there_if_it_is_of_the_database(desk: IngestSetup) -> None:
    created_database(desk.gallery.assets, "cellar")
    file = {"relativeKey": "statue/a.txt", "file_size": 0}
    answer = desk.begin(file, assetId="statue", databaseId="cellar")
    assert (answer.status, answer.body["code"]) == (409, "AssetIdTaken")
    assert "museum" not in answer.body["message"]
    started = desk.begin(file, assetId="statue")
    done = desk.end(started.body["uploadId"], stored(started), assetId="statue")
    assert done.body["fileResults"][0]["relativeKey"] == "statue/a.txt"


def test_too_many_uploads_make_no_asset(desk: IngestSetup) -> None:
    for number in range(3):
        file = {"relativeKey": "statue/a.txt", "file_size": 0}
        assert desk.begin(file, assetId="statue").status == 200, number
    answer = desk.begin(EMPTY)
    assert (answer.status, answer.body["code"]) == (429, "RateLimited")
    assert desk.asset is None


def test_a_beginning_that_the_storage_fails_continues_when_it_is_repeated(
    desk: IngestSetup,
) -> None:
    large, outage = {**FILE, "file_size": 5 * MIB}, UnavailableError("S3 does not answer")
    with patch.object(S3Objects, "create_multipart", side_effect=outage):
        assert desk.begin(large).status == 503
    assert desk.begin(large).status == 200


def test_two_beginnings_at_once_make_one_asset(
    desk: IngestSetup, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupt(monkeypatch, IngestService, "_there", partial(desk.begin, EMPTY), after=True)
    answer = desk.begin(EMPTY)
    assert answer.status == 200, answer.body
    assert desk.written == 4  # statue, bust, and two uploads


def test_the_end_needs_an_upload_of_this_asset(desk: IngestSetup) -> None:
    started = desk.begin(EMPTY)
    sent = stored(started)
    assert desk.end("y-none", sent).status == 404
    other = {**sent, "relativeKey": "statue/empty.txt"}
    assert desk.end(started.body["uploadId"], other, assetId="statue").status == 404
    without = {"relativeKey": sent["relativeKey"]}
    answer = desk.end(started.body["uploadId"], without)
    assert answer.body["errors"][0]["field"] == "files.0.uploadIdS3"
    wrong = {**sent, "relativeKey": "empty.txt"}
    answer = desk.end(started.body["uploadId"], wrong)
    assert answer.body["errors"][0]["field"] == "files.0.relativeKey"


def test_an_end_in_which_all_files_fail_is_a_conflict_with_the_whole_reply(
    desk: IngestSetup,
) -> None:
    started = desk.begin(FILE)
    sent = {**stored(started), "parts": [{"PartNumber": 1, "ETag": "other"}]}
    answer = desk.end(started.body["uploadId"], sent)
    assert answer.status == 409
    (failed,) = answer.body["fileResults"]
    assert (failed["relativeKey"], failed["success"]) == ("bust/scans/a.glb", False)
