"""Imports of folders: all files are uploaded, a second run repeats none, problems are reported."""

import threading
from pathlib import Path
from typing import Any, NamedTuple

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


class Garage(NamedTuple):
    """A folder to import, and a client with its server."""

    client: Vitrine
    server: FakeServer
    root: Path

    def run(self, **more: Any) -> ImportReport:
        return import_directory(self.client, self.root, **more)


@pytest.fixture
def garage(client: Vitrine, server: FakeServer, tmp_path: Path) -> Garage:
    root = tmp_path / "garage"
    for name, content in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return Garage(client, server, root)


def expected_files() -> dict[str, bytes]:
    return {name if "/" in name else f"garage/{name}": data for name, data in FILES.items()}


def statuses(report: ImportReport) -> dict[str, str]:
    return {Path(file.path).name: file.status.value for file in report.files}


def reason_of(report: ImportReport, name: str) -> str | None:
    [outcome] = [file for file in report.files if Path(file.path).name == name]
    return outcome.reason


def test_everything_arrives_in_a_new_database(garage: Garage) -> None:
    report = garage.run()
    assert garage.server.content() == expected_files()
    assert report.database_id == "garage"
    assert [(asset.asset_name, asset.created) for asset in report.assets] == [
        ("bike", True),
        ("car", True),
        ("garage", True),
    ]
    assert set(statuses(report).values()) == {"uploaded"}
    assert not report.failed


@pytest.mark.parametrize("keeps_checksums", [True, False])
def test_a_second_run_sends_nothing(garage: Garage, keeps_checksums: bool) -> None:
    garage.server.keeps_checksums = keeps_checksums
    garage.run()
    sent, opened = len(garage.server.storage_requests), garage.server.calls("POST", "/uploads")
    report = garage.run()
    assert set(statuses(report).values()) == {"skipped"}
    assert not any(asset.created for asset in report.assets)
    assert (len(garage.server.storage_requests), garage.server.calls("POST", "/uploads")) == (
        sent,
        opened,
    )


def test_a_file_that_changed_or_that_nothing_can_compare_is_sent_again(garage: Garage) -> None:
    garage.run()
    (garage.root / "bike" / "frame.stl").write_bytes(b"FRAME")
    (garage.root / "car" / "body.glb").write_bytes(b"longer than before" * 50)
    fates = dict.fromkeys(("body.glb", "frame.stl"), "uploaded")
    assert statuses(garage.run()) == dict.fromkeys(("wheel.obj", "notes.txt"), "skipped") | fates
    assert garage.server.content()["bike/frame.stl"] == b"FRAME"
    bike = asset_id("garage", "bike")
    garage.server.files[bike, "/frame.stl"] = StoredFile(b"FRAME", "etag-of-a-kms-object", None)
    assert statuses(garage.run())["frame.stl"] == "uploaded"


def test_large_files_go_in_parts_that_add_up(garage: Garage) -> None:
    garage.server.part_size = 64
    garage.run()
    assert garage.server.content() == expected_files()
    body = garage.server.files[asset_id("garage", "car"), "/body.glb"]
    assert body.etag.endswith("-7")
    garage.server.keeps_checksums = False
    assert set(statuses(garage.run()).values()) == {"skipped"}


@pytest.mark.parametrize(
    ("ids", "reason"),
    [(["xyz"], None), (["one", "two"], "several assets are named 'car': one, two")],
)
def test_an_asset_that_was_made_by_hand_is_found_by_its_name(
    garage: Garage, ids: list[str], reason: str | None
) -> None:
    garage.server.databases["garage"] = {"databaseId": "garage"}
    for made in ids:
        garage.client.assets.create("garage", "car", description="By hand", asset_id=made)
    report = garage.run()
    assert reason_of(report, "body.glb") == reason
    assert statuses(report)["body.glb"] == ("failed" if reason else "uploaded")
    assert statuses(report)["frame.stl"] == "uploaded"
    if reason is None:
        assert {asset.asset_name: asset.asset_id for asset in report.assets}["car"] == "xyz"
        assert ("xyz", "/body.glb") in garage.server.files


def test_an_archived_asset_is_not_written_to(garage: Garage) -> None:
    garage.run()
    car = asset_id("garage", "car")
    garage.server.assets["garage", car]["status"] = "archived"
    report = garage.run()
    assert reason_of(report, "body.glb") == f"the asset {car} is archived; unarchive it first"
    assert report.failed


def test_a_folder_name_that_the_server_does_not_take_gets_a_plain_one(garage: Garage) -> None:
    garage.server.plain_names_only = True
    (garage.root / "car").rename(garage.root / "Möbel (alt)")
    report = garage.run()
    assert not report.failed
    assert any(asset.asset_name.startswith("Mobel _alt_-") for asset in report.assets)
    assert not any(asset.created for asset in garage.run().assets)


@pytest.mark.parametrize("names_them", [True, False])
def test_refused_files_are_listed_with_the_reason_and_do_not_stop_others(
    garage: Garage, names_them: bool
) -> None:
    garage.server.names_wrong_files = names_them
    for name in ("setup.exe", "run.bat", "more.glb", "last.glb"):
        (garage.root / "car" / name).write_bytes(name.encode())
    report = garage.run()
    fates = statuses(report)
    assert (fates.pop("setup.exe"), fates.pop("run.bat")) == ("refused", "refused")
    assert set(fates.values()) == {"uploaded"}
    assert str(reason_of(report, "setup.exe")).startswith("files of the type .exe are not allowed")
    assert not report.failed


def test_what_is_wrong_with_the_request_is_a_failure_and_no_rule(garage: Garage) -> None:
    body = {"message": "invalid", "errors": [{"field": "assetId", "message": "is unknown"}]}
    garage.server.fail("POST", "/uploads$", *(httpx.Response(400, json=body) for _ in range(9)))
    report = garage.run()
    assert set(statuses(report).values()) == {"failed"}
    assert reason_of(report, "frame.stl") == "invalid; assetId: is unknown"


def test_a_file_that_the_server_does_not_complete_is_a_failure_with_its_reason(
    garage: Garage,
) -> None:
    garage.server.file_results |= dict.fromkeys(("/body.glb", "/frame.stl"), "is an executable")
    report = garage.run()
    assert reason_of(report, "body.glb") == "is an executable"
    assert reason_of(report, "frame.stl") == "is an executable"  # alone in its batch
    assert report.failed
    assert statuses(report)["wheel.obj"] == "uploaded"


@pytest.mark.parametrize(
    "answer", [httpx.ReadError("reset"), httpx.Response(503, json={"message": "late"})]
)
def test_a_lost_reply_to_a_completion_is_looked_up(
    garage: Garage, answer: httpx.Response | Exception
) -> None:
    garage.server.fail("POST", "/complete$", answer, after=True)
    report = garage.run()
    assert [file.reason for file in report.files] == [None] * len(FILES)
    assert garage.server.content() == expected_files()
    assert set(statuses(report).values()) == {"uploaded"}


def test_a_completion_that_is_still_in_progress_is_waited_for(
    garage: Garage, pauses: list[float]
) -> None:
    busy = {"message": "being worked on", "code": "UploadBusy"}
    garage.server.fail("POST", "/complete$", *(httpx.Response(409, json=busy) for _ in range(4)))
    report = garage.run()
    assert set(statuses(report).values()) == {"uploaded"}
    assert len(pauses) == 4


def test_a_part_is_sent_again_when_the_storage_fails(garage: Garage) -> None:
    garage.server.fail(
        "PUT", "storage/put", httpx.Response(503, text="SlowDown"), httpx.WriteError("reset")
    )
    report = garage.run()
    assert garage.server.content() == expected_files()
    assert not report.failed


def test_a_part_that_the_storage_refuses_fails_its_file_alone(garage: Garage) -> None:
    garage.server.part_size = 200
    denied = httpx.Response(403, text="<Error><Code>AccessDenied</Code></Error>")
    garage.server.fail("PUT", "storage/put.*/2$", denied)
    report = garage.run()
    assert statuses(report) == {
        "body.glb": "failed",
        "wheel.obj": "uploaded",
        "frame.stl": "uploaded",
        "notes.txt": "uploaded",
    }
    assert "rejected the request with 403: <Error>" in str(reason_of(report, "body.glb"))
    assert set(statuses(garage.run()).values()) == {
        "skipped",
        "uploaded",
    }
    assert garage.server.content() == expected_files()


def test_a_run_that_broke_off_is_continued_by_the_next(
    garage: Garage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "FILES_A_BATCH", 1)
    monkeypatch.setattr(importing, "BATCHES_AT_ONCE", 1)
    garage.server.fail("POST", "/uploads$", *(httpx.ConnectError("down") for _ in range(3)))
    first = garage.run(jobs=1)
    fates = statuses(first)
    assert "failed" in fates.values()
    assert garage.server.calls("POST", "/uploads$") == 3, (
        "after the server was gone, others were tried"
    )
    second = garage.run()
    assert not second.failed
    assert garage.server.content() == expected_files()


def test_a_file_that_changes_while_it_is_sent_is_not_completed(garage: Garage) -> None:
    class InterferingReport(Silent):
        def moved(self, size: int) -> None:
            if size == 400:
                (garage.root / "car" / "body.glb").write_bytes(b"other" * 80 + b"!")

    report = garage.run(observer=InterferingReport())
    assert reason_of(report, "body.glb") == "the file changed while being sent"
    assert "car/body.glb" not in garage.server.content()
    assert "car/parts/wheel.obj" in garage.server.content()


def test_a_file_that_vanishes_is_a_failure(garage: Garage) -> None:
    class Remover(Silent):
        def planned(self, *, files: int, size: int) -> None:
            (garage.root / "bike" / "frame.stl").unlink()

    report = garage.run(observer=Remover())
    assert reason_of(report, "frame.stl") == "cannot be read: No such file or directory"


def test_the_observer_is_called_for_every_byte_and_file(garage: Garage) -> None:
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

    garage.server.fail("PUT", "storage/put", httpx.Response(500, text="again"))
    report = garage.run(observer=Counter())
    size = sum(map(len, FILES.values()))
    assert seen == [len(FILES), size, size]
    assert sorted(outcome.path for outcome in outcomes) == [
        outcome.path for outcome in report.files
    ]


def test_tags_are_given_to_new_assets_and_added_to_old_ones(garage: Garage) -> None:
    garage.server.tags = {"old", "new", "own"}
    garage.run(tags=["old"])
    car = garage.server.assets["garage", asset_id("garage", "car")]
    car["tags"] = ["old", "own"]
    stale = httpx.Response(412, json={"message": "changed"})
    garage.server.fail("PUT", f"{car['assetId']}$", stale)
    garage.run(tags=["new", "old"])
    assert car["tags"] == ["old", "own", "new"]
    garage.server.assets.clear()
    assert reason_of(garage.run(tags=["nope"]), "body.glb") == "no such tag: nope"


def test_more_files_than_a_call_takes_go_in_several_and_are_listed_in_pages(
    client: Vitrine, server: FakeServer, tmp_path: Path
) -> None:
    many = tmp_path / "many" / "set"
    many.mkdir(parents=True)
    (tmp_path / "many" / "empty").mkdir()
    for number in range(120):
        (many / f"{number:03}.txt").write_text(str(number))
    report = import_directory(client, many.parent)
    assert [asset.asset_name for asset in report.assets] == ["empty", "set"]
    assert len(report.of(Status.UPLOADED)) == len(report.files) == 120
    assert server.calls("POST", "/uploads$") == 3
    server.page_limit = 7
    assert len(import_directory(client, many.parent).of(Status.SKIPPED)) == 120


def test_a_database_that_someone_makes_meanwhile_is_used_if_it_can_be_seen(garage: Garage) -> None:
    taken = httpx.Response(409, json={"message": "taken"})
    garage.server.fail("POST", "/database$", taken)
    with pytest.raises(NotFoundError):
        garage.run()
    garage.server.fail("POST", "/database$", taken, after=True)
    assert not garage.run().failed
