"""A quarantined version is listed and deleted, and read or copied by no route."""

from typing import Any

import pytest

from backend.domains.quarantine.service.queries import Quarantine
from backend.spec.key_layouts import glb_key, turntable_key
from tests.factories.exports import exports
from tests.factories.files import AUXILIARY, BUCKET, Gallery, gallery
from tests.factories.quarantine import ScanWorld, scan_event
from tests.factories.versions import versions
from tests.fakes.objects import MemoryObjects
from tests.fakes.tables import MemoryTables
from tests.unit.domains.files.changes import TickingClock, body_of, memory, state_of

REFUSED = (409, "FileQuarantined")
FILE = {"filePath": "/a.glb"}


@pytest.fixture(autouse=True)
def one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    # The store in memory is not made for threads.
    monkeypatch.setattr("backend.core.parallel.WORKERS", 1)


@pytest.fixture
def ports() -> tuple[MemoryTables, MemoryObjects]:
    return memory()


@pytest.fixture
def museum(ports: tuple[MemoryTables, MemoryObjects]) -> Gallery:
    return gallery(*ports, clock=TickingClock(), scans=True)


@pytest.fixture
def scans(ports: tuple[MemoryTables, MemoryObjects]) -> ScanWorld:
    return ScanWorld(*ports)


def infected(museum: Gallery, scans: ScanWorld, path: str = "/a.glb") -> str:
    """A file in whose newest version a threat was found; its version id."""
    version_id = museum.put(path, b"malware")
    scans.deliver_events(scan_event(f"statue{path}", version_id))
    return version_id


def refused(answer: Any) -> tuple[int, str]:
    return answer.status, answer.body["code"]


def test_it_is_not_downloaded_by_any_name(museum: Gallery, scans: ScanWorld) -> None:
    version_id = infected(museum, scans)
    assert refused(museum.download(key="/a.glb")) == REFUSED
    assert refused(museum.download(key="/a.glb", versionId=version_id)) == REFUSED
    infected(museum, scans, "/preview.png")
    assert refused(museum.download(downloadType="assetPreview")) == REFUSED


def test_it_is_not_streamed(museum: Gallery, scans: ScanWorld) -> None:
    version_id = infected(museum, scans)
    requests: tuple[dict[str, Any], ...] = (
        {},
        {"query": {"versionId": version_id}},
        {"headers": {"range": "bytes=0-1"}},
        {"headers": {"if-none-match": "*"}},
    )
    for more in requests:
        assert refused(museum.stream("a.glb", **more)) == REFUSED
    assert museum.stream("a.glb", method="HEAD").status == REFUSED[0]


def test_viewer_files_have_no_results_and_are_streamed(museum: Gallery) -> None:
    museum.objects.put(AUXILIARY, "statue/a.glb/x.bin", b"", content_type="text/plain", metadata={})
    assert museum.stream("a.glb/x.bin", family="auxiliaryPreviewAssets").status == 200


def test_its_previews_are_not_read_by_their_names(museum: Gallery, scans: ScanWorld) -> None:
    for path in ("/a.glb", "/a.glb.previewFile.png", "/a.glb.previewFile.webp", "/b.glb"):
        museum.put(path)
    museum.put("/b.glb.previewFile.png")
    infected(museum, scans)
    for name in ("a.glb.previewFile.png", "a.glb.previewFile.webp"):
        assert refused(museum.download(key=f"/{name}")) == REFUSED
        assert refused(museum.stream(name)) == REFUSED
    assert museum.download(key="/b.glb.previewFile.png").status == 200
    museum.put("/a.glb", b"clean")
    assert museum.stream("a.glb.previewFile.png", method="HEAD").status == 200


def test_what_was_made_of_it_is_not_streamed(museum: Gallery, scans: ScanWorld) -> None:
    clean = museum.put("/a.glb", b"clean")
    bad = infected(museum, scans)
    for version in (clean, bad):
        for key in (
            glb_key("statue", "/a.glb", version),
            turntable_key("statue", "/a.glb", version),
        ):
            museum.objects.put(AUXILIARY, key, b"", content_type="image/png", metadata={})
    for extension in ("glb", "png"):
        found = {
            version: museum.stream(
                f"glb/a.glb/{version}.{extension}", family="auxiliaryPreviewAssets"
            )
            for version in (clean, bad)
        }
        assert found[clean].status == 200
        assert refused(found[bad]) == REFUSED


@pytest.mark.parametrize(
    ("method", "verb", "body"),
    [
        ("POST", "moveFile", {"sourcePath": "/a.glb", "destinationPath": "/b.glb"}),
        ("POST", "copyFile", {"sourcePath": "/a.glb", "destinationPath": "/b.glb"}),
        ("PUT", "setPrimaryFile", {**FILE, "primaryType": "primary"}),
    ],
)
def test_it_is_not_copied_and_nothing_changes(
    museum: Gallery, scans: ScanWorld, method: str, verb: str, body: dict[str, str]
) -> None:
    infected(museum, scans)
    before = dict(scans.objects.buckets[BUCKET])
    assert refused(museum.change(method, verb, body)) == REFUSED
    assert scans.objects.buckets[BUCKET] == before
    assert [item["state"] for item in scans.tables.items.get("Jobs", {}).values()] == []


def test_it_is_archived_and_does_not_come_back(museum: Gallery, scans: ScanWorld) -> None:
    infected(museum, scans)
    assert museum.change("DELETE", "archiveFile", FILE).status == 200
    assert refused(museum.change("POST", "unarchiveFile", FILE)) == REFUSED
    assert state_of(scans.objects) == {"/a.glb": "archived"}


def test_it_is_deleted(museum: Gallery, scans: ScanWorld) -> None:
    version_id = infected(museum, scans)
    body = {**FILE, "confirmPermanentDelete": True}
    assert museum.change("DELETE", "deleteFile", body).status == 200
    assert state_of(scans.objects) == {}
    # A result may be delivered again afterwards; the next version of the name is another one.
    scans.deliver_events(scan_event("statue/a.glb", version_id))
    museum.put("/a.glb")
    assert museum.download(key="/a.glb").status == 200


def test_an_older_clean_version_is_restored(museum: Gallery, scans: ScanWorld) -> None:
    clean = museum.put("/a.glb", b"clean")
    bad = infected(museum, scans)
    assert museum.download(key="/a.glb", versionId=clean).status == 200
    assert refused(museum.change("POST", "revertFileVersion", FILE, versionId=bad)) == REFUSED
    assert museum.change("POST", "revertFileVersion", FILE, versionId=clean).status == 200
    assert body_of(scans.objects, "/a.glb") == b"clean"
    assert museum.download(key="/a.glb").status == 200


def test_lists_mark_quarantined_files_and_versions(museum: Gallery, scans: ScanWorld) -> None:
    clean = museum.put("/a.glb", b"clean")
    bad = infected(museum, scans)
    museum.put("/parts/b.glb")
    rows = {one["relativePath"]: one for one in museum.list_files().body["items"]}
    marks = {path: one.get("isQuarantined") for path, one in rows.items()}
    assert marks == {"/a.glb": True, "/parts/": None, "/parts/b.glb": False}
    reply = museum.file_info("/a.glb", includeVersions="true").body
    assert reply["isQuarantined"] is True
    assert {one["versionId"]: one["isQuarantined"] for one in reply["versions"]} == {
        bad: True,
        clean: False,
    }
    basic = museum.list_files(basic="true").body["items"]
    assert not [one for one in basic if "isQuarantined" in one]


def test_where_uploads_are_not_scanned_no_result_is_read(
    ports: tuple[MemoryTables, MemoryObjects], scans: ScanWorld
) -> None:
    museum = gallery(*ports, clock=TickingClock(), scans=False)
    infected(museum, scans)
    assert museum.download(key="/a.glb").status == 200
    assert "isQuarantined" not in museum.file_info("/a.glb").body


def test_a_verdict_between_the_request_and_the_copy_stops_the_copy(
    museum: Gallery, scans: ScanWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    version_id = museum.put("/a.glb", b"malware")
    check_clean = Quarantine.check_clean

    def late(self: Quarantine, bucket: str, key: str, version: str) -> None:
        check_clean(self, bucket, key, version)
        scans.deliver_events(scan_event("statue/a.glb", version_id))

    monkeypatch.setattr(Quarantine, "check_clean", late)
    body = {"sourcePath": "/a.glb", "destinationPath": "/b.glb"}
    answer = museum.change("POST", "copyFile", body)
    assert refused(answer) == (409, "FileChangeFailed")
    assert "quarantined" in answer.body["message"]
    assert state_of(scans.objects) == {"/a.glb": "active"}


def test_a_quarantined_preview_is_left_behind(museum: Gallery, scans: ScanWorld) -> None:
    museum.put("/a.glb")
    infected(museum, scans, "/a.glb.previewFile.png")
    body = {"sourcePath": "/a.glb", "destinationPath": "/b.glb"}
    assert museum.change("POST", "moveFile", body).status == 200
    assert state_of(scans.objects) == {
        "/a.glb": "archived",
        "/a.glb.previewFile.png": "archived",
        "/b.glb": "active",
    }


def test_a_quarantined_preview_does_not_come_back_with_its_file(
    museum: Gallery, scans: ScanWorld
) -> None:
    museum.put("/a.glb")
    infected(museum, scans, "/a.glb.previewFile.png")
    assert museum.change("DELETE", "archiveFile", FILE).status == 200
    assert museum.change("POST", "unarchiveFile", FILE).status == 200
    assert state_of(scans.objects) == {"/a.glb": "active", "/a.glb.previewFile.png": "archived"}


def test_exports_have_no_url_of_it() -> None:
    scans = ScanWorld()
    museum = exports(scans.tables, scans.objects)
    for path in ("/a.glb", "/b.glb"):
        museum.put("statue", path)
    versions = scans.objects.list_versions(BUCKET, "statue/a.glb").versions[0]
    scans.deliver_events(scan_event("statue/a.glb", versions.version_id))
    (asset,) = museum.export(
        "statue", generatePresignedUrls=True, fetchAssetRelationships=False
    ).body["assets"]
    urls = {
        one["fileName"]: (one["isQuarantined"], one["presignedFileDownloadUrl"] is None)
        for one in asset["files"]
    }
    assert urls == {"a.glb": (True, True), "b.glb": (False, False)}


def test_reverting_an_asset_to_a_version_leaves_quarantined_files_out() -> None:
    scans = ScanWorld(objects=memory()[1])
    museum = versions(scans.tables, scans.objects)
    shown = museum.lifecycle.gallery
    bad, _ = shown.put("/a.glb", b"malware"), shown.put("/b.glb")
    museum.made("one")
    shown.put("/a.glb", b"clean")
    shown.put("/b.glb", b"newer")
    scans.deliver_events(scan_event("statue/a.glb", bad))
    answer = museum.revert("1")
    assert (answer.status, answer.body["skippedFiles"]) == (200, ["/a.glb"])
    assert museum.files(answer.body["assetVersionId"]).keys() == {"/b.glb"}
    assert body_of(scans.objects, "/a.glb") == b"clean"
