"""Interrupted uploads continue; large files are waited for."""

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

from tests.unit.client.fake_server import API, KEY, FakeServer

BODY = bytes(range(250)) * 4


class KilledError(BaseException):
    """The client ended; none of its code runs any more."""


@pytest.fixture
def garage(tmp_path: Path) -> Path:
    root = tmp_path / "garage"
    (root / "car").mkdir(parents=True)
    (root / "car" / "body.glb").write_bytes(BODY)
    return root


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "journal", API)


def settings(tmp_path: Path, **more: Any) -> Settings:
    """A client of a new process: the journal is read from the disk."""
    return Settings(journal=Journal(tmp_path / "journal", API), **more)


def statuses(report: ImportReport) -> dict[str, str]:
    return {Path(file.path).name: file.status.value for file in report.files}


def puts(server: FakeServer) -> list[int]:
    """The numbers of the parts that were sent, in order."""
    return [int(request.url.path.rpartition("/")[2]) for request in server.storage_requests]


def broken_off(
    client: Vitrine, server: FakeServer, garage: Path, tmp_path: Path, *, after: int = 6
) -> None:
    """An import of ten parts, during which the storage stopped responding."""
    server.part_size = 100
    server.fail(
        "PUT",
        rf"storage/put.*/({'|'.join(str(n) for n in range(after + 1, 11))})$",
        *(httpx.ConnectError("gone") for _ in range(100)),
    )
    report = import_directory(client, garage, jobs=1, settings=settings(tmp_path))
    assert statuses(report) == {"body.glb": "failed"}
    server.faults.clear()
    server.storage_requests.clear()


def test_parts_that_are_stored_are_not_sent_again(
    client: Vitrine, server: FakeServer, garage: Path, tmp_path: Path
) -> None:
    broken_off(client, server, garage, tmp_path)
    report = import_directory(client, garage, jobs=1, settings=settings(tmp_path))
    assert statuses(report) == {"body.glb": "uploaded"}
    assert puts(server) == [7, 8, 9, 10]
    assert server.calls("POST", "/uploads$") == 1
    assert server.files[asset_id("garage", "car"), "/body.glb"].content == BODY
    assert list((tmp_path / "journal").iterdir()) == []


def test_parts_without_a_journal_are_identified_by_their_bytes(
    client: Vitrine, server: FakeServer, garage: Path, tmp_path: Path
) -> None:
    broken_off(client, server, garage, tmp_path)
    (path,) = (tmp_path / "journal").iterdir()
    header, *_ = path.read_text().splitlines()
    path.write_text(header + '\n{"key": "/body.g')  # cut short by a crash
    import_directory(client, garage, jobs=1, settings=settings(tmp_path))
    assert puts(server) == [7, 8, 9, 10]


def test_parts_with_other_bytes_are_sent_again(
    client: Vitrine, server: FakeServer, garage: Path, tmp_path: Path
) -> None:
    broken_off(client, server, garage, tmp_path)
    (upload,) = server.uploads.values()
    upload.parts["/body.glb"][2] = b"x" * 100
    upload.parts["/body.glb"][3] = b"short"
    import_directory(client, garage, jobs=1, settings=settings(tmp_path))
    assert puts(server) == [2, 3, 7, 8, 9, 10]
    assert server.files[asset_id("garage", "car"), "/body.glb"].content == BODY


def test_a_changed_file_is_sent_again(
    client: Vitrine, server: FakeServer, garage: Path, tmp_path: Path
) -> None:
    broken_off(client, server, garage, tmp_path)
    (garage / "car" / "body.glb").write_bytes(BODY[::-1])
    import_directory(client, garage, jobs=1, settings=settings(tmp_path))
    assert len(puts(server)) == 10
    assert server.files[asset_id("garage", "car"), "/body.glb"].content == BODY[::-1]


def test_an_upload_unknown_to_the_server_is_restarted(
    client: Vitrine, server: FakeServer, garage: Path, tmp_path: Path
) -> None:
    broken_off(client, server, garage, tmp_path)
    server.uploads.clear()
    report = import_directory(client, garage, jobs=1, settings=settings(tmp_path))
    assert statuses(report) == {"body.glb": "uploaded"}
    assert len(puts(server)) == 10
    assert list((tmp_path / "journal").iterdir()) == []


def test_another_deployments_upload_is_left_alone(
    client: Vitrine, server: FakeServer, garage: Path, tmp_path: Path
) -> None:
    broken_off(client, server, garage, tmp_path)
    (path,) = (tmp_path / "journal").iterdir()
    path.write_text(path.read_text().replace(API, "https://other.test"))
    import_directory(client, garage, jobs=1, settings=settings(tmp_path))
    assert len(puts(server)) == 10
    assert path.exists()


def test_a_journal_that_is_damaged_costs_time_only(
    client: Vitrine, server: FakeServer, garage: Path, tmp_path: Path
) -> None:
    broken_off(client, server, garage, tmp_path)
    (path,) = (tmp_path / "journal").iterdir()
    path.write_bytes(b"\xff\xfe nonsense")
    report = import_directory(client, garage, jobs=1, settings=settings(tmp_path))
    assert statuses(report) == {"body.glb": "uploaded"}


def test_a_journal_that_cannot_be_written_stops_nothing(
    client: Vitrine, server: FakeServer, garage: Path, tmp_path: Path
) -> None:
    (tmp_path / "journal").write_text("a file, no folder")
    report = import_directory(client, garage, settings=settings(tmp_path))
    assert statuses(report) == {"body.glb": "uploaded"}


def test_the_journal_is_the_users_own(
    client: Vitrine, server: FakeServer, garage: Path, tmp_path: Path
) -> None:
    broken_off(client, server, garage, tmp_path)
    (path,) = (tmp_path / "journal").iterdir()
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)


def test_files_of_one_upload_continue_in_several_batches(
    client: Vitrine,
    server: FakeServer,
    garage: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for number in range(6):
        (garage / "car" / f"{number}.txt").write_bytes(f"part {number}".encode())
    server.fail("POST", "/complete$", *(httpx.ConnectError("gone") for _ in range(100)))
    assert import_directory(client, garage, settings=settings(tmp_path)).failed
    server.faults.clear()
    server.storage_requests.clear()
    monkeypatch.setattr("vitrine.transfer.importing.FILES_A_BATCH", 1)
    report = import_directory(client, garage, jobs=4, settings=settings(tmp_path))
    assert set(statuses(report).values()) == {"uploaded"}
    assert len(report.files) == 7
    assert (puts(server), server.calls("POST", "/uploads$")) == ([], 1)
    assert list((tmp_path / "journal").iterdir()) == []


def test_urls_that_expired_are_renewed(
    client: Vitrine, server: FakeServer, garage: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.part_size = 100
    real = server.serve_url
    sent = 0

    def expire(request: httpx.Request) -> httpx.Response:
        nonlocal sent
        sent += 1
        if sent in {3, 7}:
            server.generation += 1
        return real(request)

    monkeypatch.setattr(server, "serve_url", expire)
    report = import_directory(client, garage, jobs=1)
    assert statuses(report) == {"body.glb": "uploaded"}
    assert server.calls("POST", "/renew$") == 2
    assert server.files[asset_id("garage", "car"), "/body.glb"].content == BODY


def test_a_large_file_is_waited_for(
    client: Vitrine, server: FakeServer, garage: Path, pauses: list[float]
) -> None:
    server.large_from, server.polls_until_finished = 500, 4
    report = import_directory(client, garage)
    assert statuses(report) == {"body.glb": "uploaded"}
    assert pauses == [0.5, 1.0, 2.0]


def test_a_failed_large_file_is_reported_with_the_reason(
    client: Vitrine, server: FakeServer, garage: Path
) -> None:
    server.large_from = 500
    server.file_results["/body.glb"] = "the content is an ELF executable"
    report = import_directory(client, garage)
    assert statuses(report) == {"body.glb": "failed"}
    assert report.files[0].reason == "the content is an ELF executable"


def test_a_file_that_a_rule_keeps_out_is_refused_and_no_failure(
    client: Vitrine, server: FakeServer, garage: Path
) -> None:
    server.error_kind = "rule"
    for large_from in (10_000, 500):
        server.large_from = large_from
        server.file_results["/body.glb"] = "the content is an ELF executable"
        report = import_directory(client, garage)
        assert statuses(report) == {"body.glb": "refused"}
        assert not report.failed
        server.files.clear()


def test_the_wait_is_bounded_and_the_next_run_continues_it(
    client: Vitrine, server: FakeServer, garage: Path, tmp_path: Path
) -> None:
    server.large_from, server.polls_until_finished = 500, 1000
    ticks = iter(range(10_000))
    waiting = Waiting(seconds=5, clock=lambda: float(next(ticks)))
    report = import_directory(client, garage, settings=settings(tmp_path, waiting=waiting))
    assert statuses(report) == {"body.glb": "failed"}
    assert "vitrine uploads show" in str(report.files[0].reason)
    server.files.clear()  # it is not in its place yet
    server.polls_until_finished = 3
    sent = len(server.storage_requests)
    report = import_directory(client, garage, settings=settings(tmp_path))
    assert statuses(report) == {"body.glb": "uploaded"}
    assert len(server.storage_requests) == sent
    assert server.calls("POST", "/uploads$") == 1


def test_a_client_cuts_no_part_smaller_than_requested(
    client: Vitrine, server: FakeServer, garage: Path
) -> None:
    import_directory(client, garage, settings=Settings(part_bytes=300))
    lengths = sorted(int(request.headers["Content-Length"]) for request in server.storage_requests)
    assert lengths == [333, 333, 334]


def test_a_kill_between_two_parts_leaves_a_journal_that_continues(
    server: FakeServer, garage: Path, tmp_path: Path
) -> None:
    server.part_size = 100
    real, sent = server.serve_storage, 0

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
            api_transport=server.api,
            storage_transport=storage,
            sleep=lambda _: None,
        )

    with connect(httpx.MockTransport(kill)) as client, pytest.raises(KilledError):
        import_directory(client, garage, jobs=1, settings=settings(tmp_path))
    server.storage_requests.clear()
    with connect(server.storage) as client:
        import_directory(client, garage, jobs=1, settings=settings(tmp_path))
    assert puts(server) == [5, 6, 7, 8, 9, 10]
    assert server.files[asset_id("garage", "car"), "/body.glb"].content == BODY
