"""Imports of folders: all files are uploaded, a second run repeats none, problems are reported."""

import threading
from pathlib import Path

import httpx
import pytest
from vitrine import NotFoundError, Vitrine
from vitrine.transfer import importing
from vitrine.transfer.importing import import_directory
from vitrine.transfer.names import asset_id
from vitrine.transfer.report import FileOutcome, ImportReport, Silent, Status

from tests.unit.client.fake_files import StoredFile
from tests.unit.client.fake_server import FakeServer

FILES = {
    "car/body.glb": b"body" * 100,
    "car/parts/wheel.obj": b"wheel" * 7,
    "bike/frame.stl": b"frame",
    "notes.txt": b"",
}


@pytest.fixture
def garage(tmp_path: Path) -> Path:
    root = tmp_path / "garage"
    for name, content in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return root


def expected_files() -> dict[str, bytes]:
    return {name if "/" in name else f"garage/{name}": data for name, data in FILES.items()}


def statuses(report: ImportReport) -> dict[str, str]:
    return {Path(file.path).name: file.status.value for file in report.files}


def reason(report: ImportReport, name: str) -> str | None:
    [outcome] = [file for file in report.files if Path(file.path).name == name]
    return outcome.reason


def test_everything_arrives_in_a_new_database(
    client: Vitrine, server: FakeServer, garage: Path
) -> None:
    report = import_directory(client, garage)
    assert server.content() == expected_files()
    assert report.database_id == "garage"
    assert [(asset.asset_name, asset.created) for asset in report.assets] == [
        ("bike", True),
        ("car", True),
        ("garage", True),
    ]
    assert set(statuses(report).values()) == {"uploaded"}
    assert not report.failed


@pytest.mark.parametrize("keeps_checksums", [True, False])
def test_a_second_run_sends_nothing(
    client: Vitrine, server: FakeServer, garage: Path, keeps_checksums: bool
) -> None:
    server.keeps_checksums = keeps_checksums
    import_directory(client, garage)
    sent, opened = len(server.storage_requests), server.calls("POST", "/uploads")
    report = import_directory(client, garage)
    assert set(statuses(report).values()) == {"skipped"}
    assert not any(asset.created for asset in report.assets)
    assert (len(server.storage_requests), server.calls("POST", "/uploads")) == (sent, opened)


def test_a_changed_file_of_the_same_size_is_sent_again(
    client: Vitrine, server: FakeServer, garage: Path
) -> None:
    import_directory(client, garage)
    (garage / "bike" / "frame.stl").write_bytes(b"FRAME")
    (garage / "car" / "body.glb").write_bytes(b"longer than before" * 50)
    report = import_directory(client, garage)
    assert statuses(report) == {
        "body.glb": "uploaded",
        "wheel.obj": "skipped",
        "frame.stl": "uploaded",
        "notes.txt": "skipped",
    }
    assert server.content()["bike/frame.stl"] == b"FRAME"


def test_a_file_that_nothing_can_compare_is_sent_again(
    client: Vitrine, server: FakeServer, garage: Path
) -> None:
    import_directory(client, garage)
    bike = asset_id("garage", "bike")
    server.files[bike, "/frame.stl"] = StoredFile(b"frame", "an-etag-of-a-kms-object", None)
    assert statuses(import_directory(client, garage))["frame.stl"] == "uploaded"


def test_large_files_go_in_parts_that_add_up(
    client: Vitrine, server: FakeServer, garage: Path
) -> None:
    server.part_size = 64
    import_directory(client, garage)
    assert server.content() == expected_files()
    body = server.files[asset_id("garage", "car"), "/body.glb"]
    assert body.etag.endswith("-7")
    server.keeps_checksums = False
    assert set(statuses(import_directory(client, garage)).values()) == {"skipped"}


def test_an_asset_that_was_made_by_hand_is_found_by_its_name(
    client: Vitrine, server: FakeServer, garage: Path
) -> None:
    server.databases["garage"] = {"databaseId": "garage"}
    client.assets.create("garage", "car", description="By hand", asset_id="xyz")
    report = import_directory(client, garage)
    assert {asset.asset_name: asset.asset_id for asset in report.assets}["car"] == "xyz"
    assert ("xyz", "/body.glb") in server.files


def test_two_assets_of_one_name_are_not_chosen_between(
    client: Vitrine, server: FakeServer, garage: Path
) -> None:
    server.databases["garage"] = {"databaseId": "garage"}
    for made in ("one", "two"):
        client.assets.create("garage", "car", description="By hand", asset_id=made)
    report = import_directory(client, garage)
    assert statuses(report)["body.glb"] == "failed"
    assert reason(report, "body.glb") == "several assets are named 'car': one, two"
    assert statuses(report)["frame.stl"] == "uploaded"


def test_an_archived_asset_is_not_written_to(
    client: Vitrine, server: FakeServer, garage: Path
) -> None:
    import_directory(client, garage)
    car = asset_id("garage", "car")
    server.assets["garage", car]["status"] = "archived"
    report = import_directory(client, garage)
    assert reason(report, "body.glb") == f"the asset {car} is archived; unarchive it first"
    assert report.failed


def test_a_folder_name_that_the_server_does_not_take_gets_a_plain_one(
    client: Vitrine, server: FakeServer, garage: Path
) -> None:
    server.plain_names_only = True
    (garage / "car").rename(garage / "Möbel (alt)")
    report = import_directory(client, garage)
    assert not report.failed
    assert any(asset.asset_name.startswith("Mobel _alt_-") for asset in report.assets)
    assert not any(asset.created for asset in import_directory(client, garage).assets)


@pytest.mark.parametrize("names_them", [True, False])
def test_refused_files_are_listed_with_the_reason_and_do_not_stop_others(
    client: Vitrine, server: FakeServer, garage: Path, names_them: bool
) -> None:
    server.names_wrong_files = names_them
    for name in ("setup.exe", "run.bat", "more.glb", "last.glb"):
        (garage / "car" / name).write_bytes(name.encode())
    report = import_directory(client, garage)
    fates = statuses(report)
    assert (fates.pop("setup.exe"), fates.pop("run.bat")) == ("refused", "refused")
    assert set(fates.values()) == {"uploaded"}
    assert str(reason(report, "setup.exe")).startswith("files of the type .exe are not allowed")
    assert not report.failed


def test_what_is_wrong_with_the_request_is_a_failure_and_no_rule(
    client: Vitrine, server: FakeServer, garage: Path
) -> None:
    body = {"message": "invalid", "errors": [{"field": "assetId", "message": "is unknown"}]}
    server.fail("POST", "/uploads$", *(httpx.Response(400, json=body) for _ in range(9)))
    report = import_directory(client, garage)
    assert set(statuses(report).values()) == {"failed"}
    assert reason(report, "frame.stl") == "invalid; assetId: is unknown"


def test_a_file_that_the_server_does_not_complete_is_a_failure_with_its_reason(
    client: Vitrine, server: FakeServer, garage: Path
) -> None:
    server.file_results["/body.glb"] = "it is an executable"
    report = import_directory(client, garage)
    assert reason(report, "body.glb") == "it is an executable"
    assert report.failed
    assert statuses(report)["wheel.obj"] == "uploaded"


def test_a_batch_without_completed_files_is_reported_file_by_file(
    client: Vitrine, server: FakeServer, garage: Path
) -> None:
    server.file_results["/frame.stl"] = "it is an executable"
    assert reason(import_directory(client, garage), "frame.stl") == "it is an executable"


def test_a_lost_reply_to_a_completion_is_looked_up(
    client: Vitrine, server: FakeServer, garage: Path
) -> None:
    server.fail("POST", "/complete$", httpx.ReadError("reset"), after=True)
    report = import_directory(client, garage)
    assert [file.reason for file in report.files] == [None] * len(FILES)
    assert server.content() == expected_files()
    assert set(statuses(report).values()) == {"uploaded"}


def test_a_completion_that_was_repeated_counts_as_done(
    client: Vitrine, server: FakeServer, garage: Path
) -> None:
    server.fail("POST", "/complete$", httpx.Response(503, json={"message": "late"}), after=True)
    report = import_directory(client, garage)
    assert server.content() == expected_files()
    assert set(statuses(report).values()) == {"uploaded"}


def test_a_completion_that_is_still_in_progress_is_waited_for(
    client: Vitrine, server: FakeServer, garage: Path, pauses: list[float]
) -> None:
    busy = {"message": "being worked on", "code": "UploadBusy"}
    server.fail("POST", "/complete$", *(httpx.Response(409, json=busy) for _ in range(4)))
    report = import_directory(client, garage)
    assert set(statuses(report).values()) == {"uploaded"}
    assert len(pauses) == 4


def test_a_part_is_sent_again_when_the_storage_fails(
    client: Vitrine, server: FakeServer, garage: Path
) -> None:
    server.fail(
        "PUT", "storage/put", httpx.Response(503, text="SlowDown"), httpx.WriteError("reset")
    )
    report = import_directory(client, garage)
    assert server.content() == expected_files()
    assert not report.failed


def test_a_part_that_the_storage_refuses_fails_its_file_alone(
    client: Vitrine, server: FakeServer, garage: Path
) -> None:
    server.part_size = 200
    denied = httpx.Response(403, text="<Error><Code>AccessDenied</Code></Error>")
    server.fail("PUT", "storage/put.*/2$", denied)
    report = import_directory(client, garage)
    assert statuses(report) == {
        "body.glb": "failed",
        "wheel.obj": "uploaded",
        "frame.stl": "uploaded",
        "notes.txt": "uploaded",
    }
    assert "rejected the request with 403: <Error>" in str(reason(report, "body.glb"))
    assert set(statuses(import_directory(client, garage)).values()) == {"skipped", "uploaded"}
    assert server.content() == expected_files()


def test_a_run_that_broke_off_is_continued_by_the_next(
    client: Vitrine, server: FakeServer, garage: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "FILES_A_BATCH", 1)
    monkeypatch.setattr(importing, "BATCHES_AT_ONCE", 1)
    server.fail("POST", "/uploads$", *(httpx.ConnectError("down") for _ in range(3)))
    first = import_directory(client, garage, jobs=1)
    fates = statuses(first)
    assert "failed" in fates.values()
    assert server.calls("POST", "/uploads$") == 3, "after the server was gone, others were tried"
    second = import_directory(client, garage)
    assert not second.failed
    assert server.content() == expected_files()


def test_a_file_that_changes_while_it_is_sent_is_not_completed(
    client: Vitrine, server: FakeServer, garage: Path
) -> None:
    class InterferingReport(Silent):
        def moved(self, size: int) -> None:
            if size == 400:
                (garage / "car" / "body.glb").write_bytes(b"other" * 80 + b"!")

    report = import_directory(client, garage, observer=InterferingReport())
    assert reason(report, "body.glb") == "the file changed while being sent"
    assert "car/body.glb" not in server.content()
    assert "car/parts/wheel.obj" in server.content()


def test_a_file_that_vanishes_is_a_failure(
    client: Vitrine, server: FakeServer, garage: Path
) -> None:
    class Remover(Silent):
        def planned(self, *, files: int, size: int) -> None:
            (garage / "bike" / "frame.stl").unlink()

    report = import_directory(client, garage, observer=Remover())
    assert reason(report, "frame.stl") == "cannot be read: No such file or directory"


def test_the_observer_is_called_for_every_byte_and_file(
    client: Vitrine, server: FakeServer, garage: Path
) -> None:
    lock, seen, outcomes = threading.Lock(), [0, 0, 0], list[FileOutcome]()

    class Counter(Silent):
        def planned(self, *, files: int, size: int) -> None:
            seen[0], seen[1] = files, size

        def moved(self, size: int) -> None:
            with lock:
                seen[2] += size

        def settled(self, outcome: FileOutcome) -> None:
            with lock:
                outcomes.append(outcome)

    server.fail("PUT", "storage/put", httpx.Response(500, text="again"))
    report = import_directory(client, garage, observer=Counter())
    size = sum(map(len, FILES.values()))
    assert seen == [len(FILES), size, size]
    assert sorted(outcome.path for outcome in outcomes) == [
        outcome.path for outcome in report.files
    ]


def test_tags_are_given_to_new_assets_and_added_to_old_ones(
    client: Vitrine, server: FakeServer, garage: Path
) -> None:
    server.tags = {"old", "new", "own"}
    import_directory(client, garage, tags=["old"])
    car = server.assets["garage", asset_id("garage", "car")]
    car["tags"] = ["old", "own"]
    stale = httpx.Response(412, json={"message": "changed"})
    server.fail("PUT", f"{car['assetId']}$", stale)
    import_directory(client, garage, tags=["new", "old"])
    assert car["tags"] == ["old", "own", "new"]


def test_a_tag_that_does_not_exist_fails_with_the_servers_words(
    client: Vitrine, garage: Path
) -> None:
    report = import_directory(client, garage, tags=["nope"])
    assert reason(report, "body.glb") == "no such tag: nope"


def test_more_files_than_a_call_takes_go_in_several(
    client: Vitrine, server: FakeServer, tmp_path: Path
) -> None:
    many = tmp_path / "many" / "set"
    many.mkdir(parents=True)
    for number in range(120):
        (many / f"{number:03}.txt").write_text(str(number))
    report = import_directory(client, many.parent)
    assert len(report.of(Status.UPLOADED)) == 120
    assert server.calls("POST", "/uploads$") == 3


def test_a_listing_of_many_pages_is_compared_whole(
    client: Vitrine, server: FakeServer, tmp_path: Path
) -> None:
    many = tmp_path / "many" / "set"
    many.mkdir(parents=True)
    for number in range(60):
        (many / f"{number:03}.txt").write_text(str(number))
    import_directory(client, many.parent)
    server.page_limit = 7
    assert len(import_directory(client, many.parent).of(Status.SKIPPED)) == 60


def test_an_empty_folder_is_an_asset_without_files(
    client: Vitrine, server: FakeServer, tmp_path: Path
) -> None:
    (tmp_path / "root" / "empty").mkdir(parents=True)
    report = import_directory(client, tmp_path / "root")
    assert [asset.asset_name for asset in report.assets] == ["empty"]
    assert report.files == ()


def test_a_database_that_someone_makes_meanwhile_is_used(
    client: Vitrine, server: FakeServer, garage: Path
) -> None:
    server.fail("POST", "/database$", httpx.Response(409, json={"message": "there"}), after=True)
    assert not import_directory(client, garage).failed


def test_a_database_that_cannot_be_seen_nor_made_is_an_error(
    client: Vitrine, server: FakeServer, garage: Path
) -> None:
    server.fail("POST", "/database$", httpx.Response(409, json={"message": "taken"}))
    with pytest.raises(NotFoundError):
        import_directory(client, garage)
