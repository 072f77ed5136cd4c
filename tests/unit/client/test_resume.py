"""Interrupted uploads continue; large files are waited for."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from vitrine import RetryPolicy, Vitrine
from vitrine.transfer.finishing import Waiting
from vitrine.transfer.importing import import_directory
from vitrine.transfer.journal import Journal
from vitrine.transfer.names import asset_id
from vitrine.transfer.opening import Settings
from vitrine.transfer.report import ImportReport

from tests.unit.client.conftest import World
from tests.unit.client.fake_server import API, KEY, FakeServer

BODY = bytes(range(250)) * 4


class KilledError(BaseException):
    """The client ended; none of its code runs any more."""


@dataclass(frozen=True)
class Garage(World):
    """A folder to import, and the server to which it goes."""

    @property
    def root(self) -> Path:
        return self.folder / "garage"

    def run(self, *, jobs: int = 1, **more: Any) -> ImportReport:
        """Import as a client of a new process: the journal is read from the disk."""
        settings = Settings(journal=Journal(self.folder / "journal", API), **more)
        return import_directory(self.client, self.root, jobs=jobs, settings=settings)

    def break_off(self, *, after: int = 6) -> None:
        """Import ten parts, during which the storage stops responding."""
        self.server.part_size = 100
        self.server.fail(
            "PUT",
            rf"storage/put.*/({'|'.join(str(n) for n in range(after + 1, 11))})$",
            *(httpx.ConnectError("gone") for _ in range(100)),
        )
        assert statuses(self.run()) == {"body.glb": "failed"}
        self.server.faults.clear()
        self.server.storage_requests.clear()


@pytest.fixture
def garage(world: World) -> Garage:
    garage = Garage(**vars(world))
    (garage.root / "car").mkdir(parents=True)
    (garage.root / "car" / "body.glb").write_bytes(BODY)
    return garage


def statuses(report: ImportReport) -> dict[str, str]:
    return {Path(file.path).name: file.status.value for file in report.files}


def puts(server: FakeServer) -> list[int]:
    """The numbers of the parts that were sent, in order."""
    return [int(request.url.path.rpartition("/")[2]) for request in server.storage_requests]


@pytest.mark.parametrize("has_journal", [True, False])
def test_parts_that_are_stored_are_not_sent_again(garage: Garage, has_journal: bool) -> None:
    garage.break_off()
    if not has_journal:  # the parts are identified by their bytes
        (path,) = (garage.folder / "journal").iterdir()
        header, *_ = path.read_text().splitlines()
        path.write_text(header + '\n{"key": "/body.g')  # cut short by a crash
    assert statuses(garage.run()) == {"body.glb": "uploaded"}
    assert puts(garage.server) == [7, 8, 9, 10]
    assert garage.server.calls("POST", "/uploads$") == 1
    assert garage.server.files[asset_id("garage", "car"), "/body.glb"].content == BODY
    assert list((garage.folder / "journal").iterdir()) == []


def test_parts_with_other_bytes_are_sent_again(garage: Garage) -> None:
    garage.break_off()
    (upload,) = garage.server.uploads.values()
    upload.parts["/body.glb"][2] = b"x" * 100
    upload.parts["/body.glb"][3] = b"short"
    garage.run()
    assert puts(garage.server) == [2, 3, 7, 8, 9, 10]
    assert garage.server.files[asset_id("garage", "car"), "/body.glb"].content == BODY


def test_a_changed_file_is_sent_again(garage: Garage) -> None:
    garage.break_off()
    (garage.root / "car" / "body.glb").write_bytes(BODY[::-1])
    garage.run()
    assert len(puts(garage.server)) == 10
    assert garage.server.files[asset_id("garage", "car"), "/body.glb"].content == BODY[::-1]


def test_an_upload_unknown_to_the_server_is_restarted(garage: Garage) -> None:
    garage.break_off()
    garage.server.uploads.clear()
    report = garage.run()
    assert statuses(report) == {"body.glb": "uploaded"}
    assert len(puts(garage.server)) == 10
    assert list((garage.folder / "journal").iterdir()) == []


def test_another_deployments_upload_is_left_alone(garage: Garage) -> None:
    garage.break_off()
    (path,) = (garage.folder / "journal").iterdir()
    path.write_text(path.read_text().replace(API, "https://other.test"))
    garage.run()
    assert len(puts(garage.server)) == 10
    assert path.exists()


def test_a_journal_is_the_users_own_and_without_it_an_import_only_takes_longer(
    garage: Garage,
) -> None:
    garage.break_off()
    (path,) = (garage.folder / "journal").iterdir()
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    path.write_bytes(b"\xff\xfe nonsense")
    assert statuses(garage.run()) == {"body.glb": "uploaded"}
    path.unlink(missing_ok=True)
    path.parent.rmdir()
    path.parent.write_text("a file, no folder")
    garage.server.files.clear()
    assert statuses(garage.run()) == {"body.glb": "uploaded"}


def test_files_of_one_upload_continue_in_several_batches(
    garage: Garage, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(6):
        (garage.root / "car" / f"{number}.txt").write_bytes(f"part {number}".encode())
    garage.server.fail("POST", "/complete$", *(httpx.ConnectError("gone") for _ in range(100)))
    assert garage.run().failed
    garage.server.faults.clear()
    garage.server.storage_requests.clear()
    monkeypatch.setattr("vitrine.transfer.importing.FILES_A_BATCH", 1)
    report = garage.run(jobs=4)
    assert set(statuses(report).values()) == {"uploaded"}
    assert len(report.files) == 7
    assert (puts(garage.server), garage.server.calls("POST", "/uploads$")) == ([], 1)
    assert list((garage.folder / "journal").iterdir()) == []


def test_urls_that_expired_are_renewed(garage: Garage, monkeypatch: pytest.MonkeyPatch) -> None:
    garage.server.part_size = 100
    real = garage.server.serve_url
    sent = 0

    def expire(request: httpx.Request) -> httpx.Response:
        nonlocal sent
        sent += 1
        if sent in {3, 7}:
            garage.server.generation += 1
        return real(request)

    monkeypatch.setattr(garage.server, "serve_url", expire)
    report = garage.run()
    assert statuses(report) == {"body.glb": "uploaded"}
    assert garage.server.calls("POST", "/renew$") == 2
    assert garage.server.files[asset_id("garage", "car"), "/body.glb"].content == BODY


def test_a_large_file_is_waited_for(garage: Garage) -> None:
    garage.server.large_from, garage.server.polls_until_finished = 500, 4
    report = garage.run()
    assert statuses(report) == {"body.glb": "uploaded"}
    assert garage.pauses == [0.5, 1.0, 2.0]


@pytest.mark.parametrize("large_from", [10_000, 500])
@pytest.mark.parametrize(("kind", "status"), [("rule", "refused"), ("content", "failed")])
def test_a_file_that_is_not_finished_has_its_reason_and_a_rule_is_no_failure(
    garage: Garage, large_from: int, kind: str, status: str
) -> None:
    garage.server.error_kind, garage.server.large_from = kind, large_from
    garage.server.file_results["/body.glb"] = "the content is an ELF executable"
    report = garage.run()
    assert statuses(report) == {"body.glb": status}
    assert report.files[0].reason == "the content is an ELF executable"
    assert report.failed == (status == "failed")


def test_the_wait_is_bounded_and_the_next_run_continues_it(garage: Garage) -> None:
    garage.server.large_from, garage.server.polls_until_finished = 500, 1000
    ticks = iter(range(10_000))
    waiting = Waiting(seconds=5, clock=lambda: float(next(ticks)))
    report = garage.run(waiting=waiting)
    assert statuses(report) == {"body.glb": "failed"}
    assert "vitrine uploads show" in str(report.files[0].reason)
    garage.server.files.clear()  # it is not in its place yet
    garage.server.polls_until_finished = 3
    sent = len(garage.server.storage_requests)
    report = garage.run()
    assert statuses(report) == {"body.glb": "uploaded"}
    assert len(garage.server.storage_requests) == sent
    assert garage.server.calls("POST", "/uploads$") == 1


def test_a_client_cuts_no_part_smaller_than_requested(garage: Garage) -> None:
    garage.run(part_bytes=300)
    lengths = sorted(
        int(request.headers["Content-Length"]) for request in garage.server.storage_requests
    )
    assert lengths == [333, 333, 334]


def test_a_kill_between_two_parts_leaves_a_journal_that_continues(garage: Garage) -> None:
    garage.server.part_size = 100
    real, sent = garage.server.serve_storage, 0

    def kill(request: httpx.Request) -> httpx.Response:
        nonlocal sent
        sent += 1
        if sent > 4:
            raise KilledError
        return real(request)

    def connect(storage: httpx.BaseTransport) -> Vitrine:
        return Vitrine(
            API,
            KEY,
            retry=RetryPolicy(attempts=1),
            api_transport=garage.server.api,
            storage_transport=storage,
            sleep=lambda _: None,
        )

    with connect(httpx.MockTransport(kill)) as client, pytest.raises(KilledError):
        replace(garage, client=client).run()
    garage.server.storage_requests.clear()
    with connect(garage.server.storage) as client:
        replace(garage, client=client).run()
    assert puts(garage.server) == [5, 6, 7, 8, 9, 10]
    assert garage.server.files[asset_id("garage", "car"), "/body.glb"].content == BODY
