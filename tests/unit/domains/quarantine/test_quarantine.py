"""Results of scans quarantine versions, which are listed and deleted, and read by no route."""

from datetime import datetime
from typing import Any

import pytest

from backend.domains.quarantine.service.queries import Quarantine
from backend.entrypoints.wiring.quarantine import scan_results
from backend.spec.key_layouts import glb_key, structure_key, turntable_key
from backend.spec.queues import SCAN_RESULTS
from tests.factories.assets import asset_service, created_asset, created_database
from tests.factories.audit import entries
from tests.factories.buckets import BUCKET_ID
from tests.factories.exports import exports
from tests.factories.files import AUXILIARY, Gallery, gallery
from tests.factories.outages import unavailable
from tests.factories.quarantine import BUCKET, EICAR, ScanWorld, scan_event
from tests.factories.versions import versions
from tests.fakes.objects import MemoryObjects
from tests.fakes.tables import MemoryTables
from tests.unit.domains.files.changes import TickingClock, body_of, memory, state_of
from tests.unit.domains.files.test_views import save

KEY = "statue/a.glb"
CLEAN = "NO_THREATS_FOUND"
NAMED = {"bucketName": BUCKET, "objectKey": KEY, "versionId": "v1"}


@pytest.fixture
def world() -> ScanWorld:
    """The asset `statue` in the deployment's own bucket."""
    world = ScanWorld()
    assets = asset_service(world.tables, world.objects)
    created_database(assets)
    created_asset(assets)
    return world


def audited(world: ScanWorld) -> list[tuple[str, str]]:
    """Entity and operation of the audit entries of scans."""
    return [
        (entry["entity"], entry["operation"])
        for entry in entries(world.tables)
        if entry["operation"] in {"quarantine_file", "release_file"}
    ]


def test_versions_are_quarantined_audited_and_released(world: ScanWorld) -> None:
    assert world.deliver_events(scan_event(KEY, "v1")) == {"batchItemFailures": []}
    assert world.is_quarantined(KEY, "v1")
    assert not world.is_quarantined(KEY, "v2")
    assert not world.is_quarantined("statue/b.glb", "v1")
    assert audited(world) == [("file:museum:statue:/a.glb", "quarantine_file")]
    (entry,) = (e for e in entries(world.tables) if e["operation"] == "quarantine_file")
    after = {name: change["after"] for name, change in entry["changes"].items()}
    assert after == {
        "key": KEY,
        "versionId": "v1",
        "scanStatus": "THREATS_FOUND",
        "threats": [EICAR],
    }
    assert entry["userId"] == "SYSTEM"
    world.deliver_events(scan_event(KEY, "v1"), scan_event(KEY, "v1"))
    world.deliver_events(scan_event(KEY, "v1"))
    assert world.is_quarantined(KEY, "v1")
    assert len(audited(world)) == 1
    world.deliver_events(scan_event(KEY, "v1", time="2026-03-01T12:00:01Z"))
    world.deliver_events(scan_event(KEY, "v1", CLEAN, time="2026-03-02T12:00:00Z"))
    assert not world.is_quarantined(KEY, "v1")
    assert {operation for _, operation in audited(world)} == {"quarantine_file", "release_file"}


def test_clean_versions_and_empty_messages_change_nothing(world: ScanWorld) -> None:
    before = {name: dict(items) for name, items in world.tables.items.items()}
    for status in (CLEAN, "UNSUPPORTED", "ACCESS_DENIED", "FAILED"):
        world.deliver_events(scan_event(KEY, "v1", status))
    assert {name: dict(items) for name, items in world.tables.items.items()} == before
    assert world.kept == []
    scan_results(world.context)({"Records": [{"messageId": "one"}]})
    assert [kept["reason"] for kept in world.kept] == ["the message has no body"]


@pytest.mark.parametrize(
    ("statuses", "is_quarantined"),
    [
        # each with the second of its scan, in the order of arrival
        ([("THREATS_FOUND", 1), (CLEAN, 2), ("THREATS_FOUND", 1)], False),
        ([("THREATS_FOUND", 2), (CLEAN, 1)], True),
        ([("THREATS_FOUND", 1), (CLEAN, 2), (CLEAN, 4), ("THREATS_FOUND", 3)], False),
        ([("THREATS_FOUND", 1), (CLEAN, 2), ("THREATS_FOUND", 3)], True),
        ([(CLEAN, 1), ("THREATS_FOUND", 1)], True),
        ([("THREATS_FOUND", 1), (CLEAN, 1)], True),
    ],
)
def test_the_last_scan_counts_whenever_its_result_arrives(
    world: ScanWorld, statuses: list[tuple[str, int]], is_quarantined: bool
) -> None:
    for status, second in statuses:
        world.deliver_events(scan_event(KEY, "v1", status, time=f"2026-03-01T12:00:0{second}Z"))
    assert world.is_quarantined(KEY, "v1") is is_quarantined


def test_times_are_compared_and_stored_in_one_form(world: ScanWorld) -> None:
    world.deliver_events(scan_event(KEY, "v1", time="2026-03-01T12:00:00+00:00"))
    world.deliver_events(scan_event(KEY, "v1", CLEAN, time="2026-03-01T12:30:00+01:00"))
    assert world.is_quarantined(KEY, "v1")
    world.deliver_events(scan_event(KEY, "v1", time="2026-03-01T13:00:00+01:00"))
    (item,) = (
        item
        for item in world.tables.items["Reservations"].values()
        if str(item["reservationKey"]).startswith("Quarantine#")
    )
    assert datetime.fromisoformat(item["scannedAt"]) == datetime.fromisoformat(
        "2026-03-01T12:00:00+00:00"
    )


def test_objects_without_asset_or_version_are_quarantined(world: ScanWorld) -> None:
    settings = world.context.settings
    environment = {**settings.environment, "SETTING_IMPORTED_BUCKETS": "theirs,others"}
    vars(world.context)["settings"] = type(settings)(environment)
    world.deliver_events(scan_event("a/b", "v1", bucket="theirs"))
    assert world.is_quarantined("a/b", "v1", "theirs")
    assert audited(world) == []
    # Its asset may be created a moment later, or was deleted a moment ago.
    world.deliver_events(scan_event("hall/a.glb", "v1"))
    assert world.is_quarantined("hall/a.glb", "v1")
    assert audited(world) == [(f"bucket:{BUCKET_ID}", "quarantine_file")]
    world.deliver_events(scan_event(KEY, None))
    assert world.is_quarantined(KEY, "null")


@pytest.mark.parametrize(
    "body",
    [
        "",
        "[]",
        "null",
        "{" * 5000,
        '{"detail": {}}',
        scan_event(KEY, "v1") | {"time": "yesterday"},
        scan_event(KEY, "v1") | {"time": "2026-03-01T12:00:01"},
        scan_event(KEY, "v1") | {"time": "0001-01-01T00:00:00+14:00"},
        scan_event(KEY, "v1") | {"detail": {"s3ObjectDetails": NAMED}},
        scan_event(KEY, "v1", bucket="somebody-elses"),
        scan_event(KEY, "v1", bucket=""),
        scan_event("", "v1"),
        scan_event("k" * 1024, "v" * 1024),
        scan_event(KEY, "v#1"),
        scan_event("statue/\ud800", "v1"),  # JSON escapes what is no text
    ],
)
def test_what_is_not_understood_is_kept_and_stops_nothing(world: ScanWorld, body: Any) -> None:
    assert world.deliver_events(body, scan_event(KEY, "v2")) == {"batchItemFailures": []}
    (kept,) = world.kept
    assert (kept["consumer"], kept["body"]["messageId"]) == ("Quarantine", "message-0")
    assert kept["reason"]
    assert world.is_quarantined(KEY, "v2")
    assert not world.is_quarantined(KEY, "v1")


@pytest.mark.parametrize("threats", [None, "EICAR", [1, {"name": 2}], [{"name": "x" * 999}] * 99])
def test_threats_of_any_form_quarantine(world: ScanWorld, threats: Any) -> None:
    event = scan_event(KEY, "v1")
    event["detail"]["scanResultDetails"]["threats"] = threats
    world.deliver_events(event)
    assert world.is_quarantined(KEY, "v1")
    assert world.kept == []


def test_an_outage_returns_the_whole_batch(world: ScanWorld) -> None:
    world.tables.before = unavailable
    reply = world.deliver_events(scan_event(KEY, "v1"), scan_event(KEY, "v2"))
    assert len(reply["batchItemFailures"]) == 2
    assert {name for name, *_ in world.queues.postponed} == {SCAN_RESULTS.name}
    world.tables.before = lambda operation: None
    world.deliver_events(scan_event(KEY, "v1"), scan_event(KEY, "v2"))
    assert world.is_quarantined(KEY, "v1")
    assert world.is_quarantined(KEY, "v2")


def test_two_consumers_of_one_version_do_not_overtake_each_other(world: ScanWorld) -> None:
    """The later result is stored between the other's read and write: that one reads again."""
    world.deliver_events(scan_event(KEY, "v1", time="2026-03-01T12:00:01Z"))

    def meanwhile(operation: str) -> None:
        if operation == "write":
            world.tables.before = lambda operation: None
            world.deliver_events(scan_event(KEY, "v1", time="2026-03-01T12:00:03Z"))

    world.tables.before = meanwhile
    clean = scan_event(KEY, "v1", CLEAN, time="2026-03-01T12:00:02Z")
    assert world.deliver_events(clean)["batchItemFailures"] == [{"itemIdentifier": "message-0"}]
    world.deliver_events(clean)
    assert world.is_quarantined(KEY, "v1")


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


def test_it_is_neither_downloaded_nor_streamed(museum: Gallery, scans: ScanWorld) -> None:
    version_id = infected(museum, scans)
    assert refused(museum.download(key="/a.glb")) == REFUSED
    assert refused(museum.download(key="/a.glb", versionId=version_id)) == REFUSED
    infected(museum, scans, "/preview.png")
    assert refused(museum.download(downloadType="assetPreview")) == REFUSED
    requests: tuple[dict[str, Any], ...] = (
        {},
        {"query": {"versionId": version_id}},
        {"headers": {"range": "bytes=0-1"}},
        {"headers": {"if-none-match": "*"}},
    )
    for more in requests:
        assert refused(museum.stream("a.glb", **more)) == REFUSED
    assert museum.stream("a.glb", method="HEAD").status == REFUSED[0]


def test_no_view_of_it_is_saved(museum: Gallery, scans: ScanWorld) -> None:
    infected(museum, scans)
    assert refused(save(museum)[1]) == REFUSED


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
        for key_of in (glb_key, turntable_key, structure_key):
            key = key_of("statue", "/a.glb", version)
            museum.objects.put(AUXILIARY, key, b"", content_type="image/png", metadata={})
    for extension in ("glb", "png", "json.gz"):
        result = {
            version: museum.stream(
                f"glb/a.glb/{version}.{extension}", family="auxiliaryPreviewAssets"
            )
            for version in (clean, bad)
        }
        assert result[clean].status == 200
        assert refused(result[bad]) == REFUSED
    museum.objects.put(AUXILIARY, "statue/a.glb/x.bin", b"", content_type="text/plain", metadata={})
    assert museum.stream("a.glb/x.bin", family="auxiliaryPreviewAssets").status == 200


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


def test_it_is_archived_or_deleted_permanently(museum: Gallery, scans: ScanWorld) -> None:
    infected(museum, scans)
    assert museum.change("DELETE", "archiveFile", FILE).status == 200
    assert refused(museum.change("POST", "unarchiveFile", FILE)) == REFUSED
    assert state_of(scans.objects) == {"/a.glb": "archived"}
    version_id = infected(museum, scans)
    body = {**FILE, "confirmPermanentDelete": True}
    assert museum.change("DELETE", "deleteFile", body).status == 200
    assert state_of(scans.objects) == {}
    # A result may be delivered again afterwards; the next version of the name is another one.
    scans.deliver_events(scan_event("statue/a.glb", version_id))
    museum.put("/a.glb")
    assert museum.download(key="/a.glb").status == 200


def test_quarantined_versions_are_marked(museum: Gallery, scans: ScanWorld) -> None:
    clean = museum.put("/a.glb", b"clean")
    bad = infected(museum, scans)
    museum.put("/parts/b.glb")
    rows = {item["relativePath"]: item for item in museum.list_files().body["items"]}
    marks = {path: row.get("isQuarantined") for path, row in rows.items()}
    assert marks == {"/a.glb": True, "/parts/": None, "/parts/b.glb": False}
    reply = museum.file_info("/a.glb", includeVersions="true").body
    assert reply["isQuarantined"] is True
    assert {version["versionId"]: version["isQuarantined"] for version in reply["versions"]} == {
        bad: True,
        clean: False,
    }
    basic = museum.list_files(basic="true").body["items"]
    assert not [item for item in basic if "isQuarantined" in item]
    assert museum.download(key="/a.glb", versionId=clean).status == 200
    assert refused(museum.change("POST", "revertFileVersion", FILE, versionId=bad)) == REFUSED
    assert museum.change("POST", "revertFileVersion", FILE, versionId=clean).status == 200
    assert body_of(scans.objects, "/a.glb") == b"clean"
    assert museum.download(key="/a.glb").status == 200


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
        file["fileName"]: (file["isQuarantined"], file["presignedFileDownloadUrl"] is None)
        for file in asset["files"]
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
