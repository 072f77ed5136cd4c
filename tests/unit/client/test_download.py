"""Downloading: whole, verified, resumed, and never outside the folder."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from vitrine import NotFoundError, UnsafePathError
from vitrine.config import Connection, write_login
from vitrine.transfer.downloading import MissingPathError, download, target_of
from vitrine.transfer.journal import Journal
from vitrine.transfer.report import Report, Silent

from tests.unit.client.conftest import World
from tests.unit.client.fake_files import Document, StoredFile, StreamedBody, md5_of_parts, sha256

GLB = b"abc" * 1000
FILES = {"/a.glb": GLB, "/parts/wheel.obj": b"wheel", "/parts/deep/x.bin": b""}


@dataclass(frozen=True)
class Car(World):
    """An asset with files, and a folder to download them to."""

    def download(self, path: str | None = None, *, to: str = ".", **more: Any) -> Report:
        return download(self.client, "cars", "car", self.folder / to, path=path, **more)


@pytest.fixture
def car(world: World) -> Car:
    world.client.assets.create("cars", "car", description="A car", asset_id="car")
    for path, content in FILES.items():
        world.server.files["car", path] = store_content(content)
    return Car(**vars(world))


def store_content(content: bytes) -> StoredFile:
    return StoredFile(content, md5_of_parts([content]), sha256(content))


def contents(folder: Path) -> dict[str, bytes]:
    return {
        "/" + path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def fates(report: Report) -> dict[str, str]:
    return {str(file.key): file.status.value for file in report.files}


@pytest.mark.parametrize("keeps_checksums", [True, False])
def test_an_asset_comes_whole_and_a_second_time_not_at_all(car: Car, keeps_checksums: bool) -> None:
    car.server.keeps_checksums = keeps_checksums
    report = car.download(to="out")
    assert set(fates(report).values()) == {"downloaded"}
    assert contents(car.folder / "out") == FILES
    fetched = len(car.server.storage_requests)
    assert set(fates(car.download(to="out")).values()) == {"skipped"}
    assert len(car.server.storage_requests) == fetched


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("/a.glb", {"/a.glb"}),
        ("parts/wheel.obj", {"/parts/wheel.obj"}),
        ("parts", {"/parts/wheel.obj", "/parts/deep/x.bin"}),
        ("/parts/deep/", {"/parts/deep/x.bin"}),
        ("/", set(FILES)),
    ],
)
def test_a_path_is_a_file_or_all_that_is_below_a_folder(
    car: Car, path: str, names: set[str]
) -> None:
    car.download(path)
    assert set(contents(car.folder)) == names


def test_a_missing_path_or_asset_is_reported(car: Car) -> None:
    for path in ("/missing", "part", "/a.glb/x"):
        with pytest.raises(MissingPathError, match="has no file or folder"):
            car.download(path)
    with pytest.raises(NotFoundError):
        download(car.client, "cars", "nothing", car.folder)


def test_the_version_that_was_described_is_the_one_that_is_fetched(car: Car) -> None:
    car.download("/a.glb")
    requests = [body for route, body in car.server.bodies if route.endswith("/download")]
    version = f"v-{car.server.files['car', '/a.glb'].etag}"
    assert requests == [{"downloadType": "assetFile", "key": "/a.glb", "versionId": version}]


def whole(content: bytes) -> httpx.Response:
    return httpx.Response(200, stream=StreamedBody(content))


def broken(content: bytes) -> httpx.Response:
    return httpx.Response(200, stream=StreamedBody(content, breaks=True))


class Interrupted(httpx.SyncByteStream):
    """A body of single bytes, and Ctrl-C after the first one."""

    sent = 0

    def __iter__(self) -> Iterator[bytes]:
        for byte in GLB:
            yield bytes([byte])
            self.sent += 1
            if self.sent == 1:
                os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.002)


def test_ctrl_c_abandons_what_is_being_received_and_a_second_run_continues(car: Car) -> None:
    body = Interrupted()
    car.server.fail("GET", "storage/get", httpx.Response(200, stream=body))
    with pytest.raises(KeyboardInterrupt):
        car.download("a.glb", to="out")
    assert 0 < body.sent < len(GLB)
    assert set(fates(car.download("a.glb", to="out")).values()) == {"downloaded"}
    assert car.server.storage_requests[-1].headers["Range"] == f"bytes={body.sent + 1}-"
    assert contents(car.folder / "out") == {"/a.glb": GLB}


def part(start: int, end: int, *, breaks: bool = False) -> httpx.Response:
    """Bytes of a file, of which the header names the first one."""
    span = {"Content-Range": f"bytes {start}-{len(GLB) - 1}/{len(GLB)}"}
    return httpx.Response(206, stream=StreamedBody(GLB[start:end], breaks=breaks), headers=span)


GONE = [httpx.ConnectError("down") for _ in range(3)]


@pytest.mark.parametrize(
    ("replies", "ranges"),
    [
        ([broken(GLB[:1000]), part(1000, 1500, breaks=True)], [None, "bytes=1000-", "bytes=1500-"]),
        ([broken(GLB[:1000]), whole(GLB)], [None, "bytes=1000-"]),  # a storage without ranges
        ([broken(GLB[:1000]), part(500, 3000)], [None, "bytes=1000-", None]),  # starts elsewhere
    ],
)
def test_a_broken_transfer_continues_where_it_ended(
    car: Car, replies: list[httpx.Response], ranges: list[str | None]
) -> None:
    car.server.fail("GET", "storage/get", *replies)
    report = car.download("/a.glb")
    assert fates(report) == {"/a.glb": "downloaded"}
    assert contents(car.folder) == {"/a.glb": GLB}
    assert [request.headers.get("Range") for request in car.server.storage_requests] == ranges


def test_a_later_run_continues_where_a_crashed_one_ended_unless_the_content_is_older(
    car: Car,
) -> None:
    car.server.fail("GET", "storage/get", broken(GLB[:1000]), *GONE)
    assert car.download("/a.glb").failed
    assert "/a.glb" not in contents(car.folder)
    assert not car.download("/a.glb").failed
    assert contents(car.folder) == {"/a.glb": GLB}
    assert car.server.storage_requests[-1].headers["Range"] == "bytes=1000-"
    car.server.files["car", "/a.glb"] = store_content(GLB * 2)
    car.server.fail("GET", "storage/get", broken(GLB), *GONE)
    car.download("/a.glb")
    car.server.files["car", "/a.glb"] = store_content(b"something else")
    car.download("/a.glb")
    assert contents(car.folder) == {"/a.glb": b"something else"}


@pytest.mark.parametrize(
    ("replies", "reason", "kept"),
    [
        ([whole(b"xyz" * 1000)], "the received bytes do not match the file's checksum", 0),
        ([whole(GLB + b"!")], "more than the file's 3000 bytes were received", 1),
        ([whole(b"") for _ in range(9)], "only 0 of 3000 bytes were received", 1),
    ],
)
def test_bytes_that_are_not_the_files_do_not_get_its_name(
    car: Car, replies: list[httpx.Response], reason: str, kept: int
) -> None:
    car.server.fail("GET", "storage/get", *replies)
    assert [file.reason for file in car.download("/a.glb").files] == [reason]
    assert len(contents(car.folder)) == kept
    assert "/a.glb" not in contents(car.folder)


def test_a_file_verified_only_by_its_size_is_reported(car: Car) -> None:
    car.server.files["car", "/a.glb"] = StoredFile(GLB, "opaque", None)
    report = car.download("/a.glb")
    assert fates(report) == {"/a.glb": "downloaded"}
    assert report.files[0].reason == "only the size could be verified"


def test_the_urls_of_missing_files_are_requested_together(car: Car) -> None:
    (car.folder / "a.glb").write_bytes(FILES["/a.glb"])
    car.download()
    requests = [body for route, body in car.server.bodies if route.endswith("/download")]
    assert len(requests) == 1
    keys = requests[0]["keys"]
    assert isinstance(keys, list)
    versions = {path: f"v-{car.server.files['car', path].etag}" for path in FILES}
    del versions["/a.glb"]
    assert {row["key"]: row["versionId"] for row in keys if isinstance(row, dict)} == versions


NAMED: Document = {"key": "/a.glb", "success": True, "downloadUrl": "https://gone.test"}
FAILED: Document = {"key": "/a.glb", "success": False, "error": "is quarantined"}


@pytest.mark.parametrize(
    ("replies", "reason"),
    [
        ([(400, {"message": "no file of 3"})], None),
        ([(400, {"message": "no file of 3"}), (400, {"message": "is closed"})], "is closed"),
        ([(200, {"downloadUrl": "", "expiresIn": 0, "files": [NAMED]})], None),  # has expired
        ([(200, {"downloadUrl": "", "expiresIn": 60, "files": [FAILED]})], "is quarantined"),
    ],
)
def test_a_file_without_a_url_fails_by_name_and_does_not_stop_the_others(
    car: Car, replies: list[tuple[int, Document]], reason: str | None
) -> None:
    planned = [httpx.Response(status, json=body) for status, body in replies]
    car.server.fail("POST", "/download$", *planned)
    report = car.download(jobs=1)
    assert fates(report) == {
        "/a.glb": "failed" if reason else "downloaded",
        "/parts/deep/x.bin": "downloaded",
        "/parts/wheel.obj": "downloaded",
    }
    assert report.files[0].reason == reason


@pytest.mark.parametrize(
    "path", ["/../evil", "/a/../../evil", "/a//b", "/./a", "/a\\b", "/nul\x00", "/", ""]
)
def test_a_path_that_would_leave_the_folder_is_not_written(car: Car, path: str) -> None:
    car.server.files["car", path] = store_content(b"evil")
    report = car.download(to="out")
    assert fates(report)[path] == "failed"
    assert b"evil" not in contents(car.folder).values()


@given(st.lists(st.sampled_from(["..", ".", "", "a", "b", "\\", "/"]), max_size=6))
def test_every_target_is_inside_the_folder(segments: list[str]) -> None:
    folder = Path("/nowhere/out")
    try:
        target = target_of(folder, "/" + "/".join(segments))
    except UnsafePathError:
        return
    assert target.resolve().is_relative_to(folder)
    assert target != folder


def test_a_link_in_the_folder_does_not_lead_out(car: Car) -> None:
    (car.folder / "elsewhere").mkdir()
    (car.folder / "out").mkdir()
    (car.folder / "out" / "parts").symlink_to(car.folder / "elsewhere")
    report = car.download(to="out")
    assert fates(report)["/parts/wheel.obj"] == "failed"
    assert list((car.folder / "elsewhere").iterdir()) == []


def test_a_link_at_the_files_place_is_replaced_and_a_folder_is_a_failure(car: Car) -> None:
    outside = car.folder / "outside"
    outside.write_bytes(b"mine")
    (car.folder / "out").mkdir()
    (car.folder / "out" / "a.glb").symlink_to(outside)
    car.download("/a.glb", to="out")
    assert outside.read_bytes() == b"mine"
    assert (car.folder / "out" / "a.glb").read_bytes() == GLB
    (car.folder / "a.glb" / "full").mkdir(parents=True)
    assert car.download("/a.glb").failed


def test_the_observer_receives_just_the_bytes_of_the_files(car: Car) -> None:
    received: list[int] = []

    class Counter(Silent):
        def moved(self, size: int) -> None:
            received.append(size)

    car.server.fail("GET", "storage/get", broken(b"abc"))
    car.download(jobs=1, observer=Counter())
    assert sum(received) == sum(map(len, FILES.values()))


@pytest.mark.parametrize(
    "name",
    [
        *["a:b", "a<b", "a?", "a*b", 'a"b', "a|b", "aux", "NUL.glb", "com1.tar.gz", "a."],
        "lpt9 .x",
        "a ",
    ],
)
def test_names_that_windows_reads_otherwise_are_not_written_there(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    folder = Path("/nowhere")
    assert target_of(folder, f"/{name}/b").name == "b"
    taken: list[str] = []
    with monkeypatch.context() as patch:  # pytest itself makes no paths under another name
        patch.setattr("os.name", "nt")
        for path in (f"/{name}/b", f"/b/{name}", "/auxiliary/com.glb"):
            with suppress(UnsafePathError):
                taken.append(target_of(folder, path).name)
    assert taken == ["com.glb"]


def _is_same(_: Path, __: Path) -> bool:
    return True


@pytest.mark.parametrize("ignores_case", [True, False])
def test_files_that_differ_by_case_do_not_replace_each_other(
    car: Car, monkeypatch: pytest.MonkeyPatch, ignores_case: bool
) -> None:
    car.server.files["car", "/A.GLB"] = store_content(b"other")
    if ignores_case:
        monkeypatch.setattr(Path, "samefile", _is_same)
    report = car.download()
    states = [fates(report)[key] for key in ("/A.GLB", "/a.glb")]
    assert states == ["downloaded", "failed" if ignores_case else "downloaded"]
    if ignores_case:
        reasons = [str(file.reason) for file in report.files if file.key == "/a.glb"]
        assert "'/A.GLB'" in reasons[0]


def test_bytes_are_written_as_they_are_on_windows(
    car: Car, monkeypatch: pytest.MonkeyPatch
) -> None:
    binary = 1 << 29  # a flag of no system
    monkeypatch.setattr("os.O_BINARY", binary, raising=False)
    flags: list[int] = []
    opened = os.open

    def open_noting(path: Path, flag: int, mode: int = 0o777) -> int:
        flags.append(flag)
        return opened(path, flag & ~binary, mode)

    monkeypatch.setattr("os.open", open_noting)
    car.download()
    write_login(car.folder / "login", Connection(api="https://api.test"))
    Journal(car.folder, "https://api.test").begin("cars", "car", "u", [])
    assert len(flags) == len(FILES) + 2
    assert all(flag & binary for flag in flags)
