"""versitygw killed after each single change of a file: every request is carried out, or not at all.

Both run on one processor. inotify wakes the test after a change of a file, and the engine continues
only when the test waits again, because the test has a real-time priority. So a kill takes effect
before the next change, also on a busy machine. A test without the right to such a priority (of
root, or CAP_SYS_NICE) kills a little later, and may miss a fault between two changes.
"""

import ctypes
import hashlib
import os
import select
import signal
import struct
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import psutil
import pytest
from botocore.exceptions import BotoCoreError, ClientError

from tests.integration.local.engines.support import Site

ENGINE = "s3"
BUCKET = "changes"
_LIBC = ctypes.CDLL(None, use_errno=True)
# of inotify(7): attributes, moves from and to, creations, deletions
_CHANGES = 0x4 | 0x40 | 0x80 | 0x100 | 0x200
_EVENT = struct.Struct("iIII")  # its last field is the length of the name that follows
_MOST_SECONDS = 30


class Listed(NamedTuple):
    key: str
    id: str
    is_marker: bool
    is_latest: bool


def listed(site: Site, prefix: str) -> list[Listed]:
    page = site.clients.s3.list_object_versions(Bucket=BUCKET, Prefix=prefix)
    return [
        Listed(
            item.get("Key", ""), item.get("VersionId", ""), is_marker, item.get("IsLatest", False)
        )
        for is_marker, some in (
            (False, page.get("Versions", [])),
            (True, page.get("DeleteMarkers", [])),
        )
        for item in some
    ]


@contextmanager
def changes(site: Site, folders: list[Path]) -> Generator[Callable[[], int]]:
    """Yield a function that waits for a moment, and returns how many changes it has seen."""
    inotify = _LIBC.inotify_init1(os.O_CLOEXEC)
    for folder in folders:
        assert _LIBC.inotify_add_watch(inotify, os.fsencode(folder), _CHANGES) > 0
    processors = os.sched_getaffinity(0)
    result = {min(processors)}
    os.sched_setaffinity(0, result)
    for thread in psutil.Process(site.running.endpoint.pid).threads():
        with suppress(ProcessLookupError):  # it has ended meanwhile
            os.sched_setaffinity(thread.id, result)
    with suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))

    def seen() -> int:
        if not select.select([inotify], [], [], 0.02)[0]:
            return 0
        events, place, number = os.read(inotify, 65_536), 0, 0
        while place < len(events):
            place += _EVENT.size + _EVENT.unpack_from(events, place)[3]
            number += 1
        return number

    try:
        yield seen
    finally:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        os.sched_setaffinity(0, processors)
        os.close(inotify)


def killed_after(
    number: int, site: Site, folders: list[Path], request: Callable[[], object]
) -> bool:
    """Send a request and kill the engine after that many changes; False if there were fewer."""

    def send() -> None:
        with suppress(BotoCoreError, ClientError):
            request()

    with changes(site, folders) as seen:
        sender = threading.Thread(target=send)
        sender.start()
        result, is_killed = 0, False
        while sender.is_alive() and not is_killed:
            result += seen()
            if result >= number:
                os.kill(site.running.endpoint.pid, signal.SIGKILL)
                is_killed = True
    sender.join(_MOST_SECONDS)
    site.crash_and_restart()
    return is_killed


def folders_of(site: Site, key: str) -> list[Path]:
    """The folders in which versitygw keeps the key, its versions, and temporary files."""
    digest = hashlib.sha256(key.encode()).hexdigest()
    data = site.folder / "data" / ENGINE
    versions = data / "versions" / BUCKET
    return [
        (data / "buckets" / BUCKET / key).parent,
        data / "buckets" / BUCKET / ".sgwtmp",
        versions / digest[:2] / digest[2:4] / digest[4:6] / digest,
        versions / ".sgwtmp",
    ]


def body(site: Site, key: str, version: str) -> bytes:
    return site.clients.s3.get_object(Bucket=BUCKET, Key=key, VersionId=version)["Body"].read()


def create_marker(site: Site, key: str) -> Callable[[], object]:
    return lambda: site.clients.s3.delete_object(Bucket=BUCKET, Key=key)


def replace(site: Site, key: str) -> Callable[[], object]:
    return lambda: site.clients.s3.put_object(Bucket=BUCKET, Key=key, Body=b"three")


def remove_marker(site: Site, key: str) -> Callable[[], object]:
    marker = site.clients.s3.delete_object(Bucket=BUCKET, Key=key).get("VersionId", "")
    return lambda: site.clients.s3.delete_object(Bucket=BUCKET, Key=key, VersionId=marker)


def remove_latest(site: Site, key: str) -> Callable[[], object]:
    latest = next(item.id for item in listed(site, key) if item.is_latest)
    return lambda: site.clients.s3.delete_object(Bucket=BUCKET, Key=key, VersionId=latest)


@pytest.fixture(scope="module")
def bucket(site: Site) -> None:
    site.clients.s3.create_bucket(Bucket=BUCKET)
    site.clients.s3.put_bucket_versioning(
        Bucket=BUCKET, VersioningConfiguration={"Status": "Enabled"}
    )


@pytest.mark.usefixtures("bucket")
@pytest.mark.parametrize("prepare", [create_marker, replace, remove_marker, remove_latest])
def test_a_kill_after_any_change_of_a_file_loses_and_adds_nothing(
    site: Site, prepare: Callable[[Site, str], Callable[[], object]]
) -> None:
    number, is_killed = 0, True
    while is_killed:
        number += 1
        prefix = f"{prepare.__name__}/{number}/"
        key = f"{prefix}a.stl"
        contents = {
            site.clients.s3.put_object(Bucket=BUCKET, Key=key, Body=text)["VersionId"]: text
            for text in (b"one", b"two")
        }
        request = prepare(site, key)
        before = listed(site, prefix)
        is_killed = killed_after(number, site, folders_of(site, key), request)

        after = listed(site, prefix)
        where = f"killed after change {number}: {before} became {after}"
        assert {element.key for element in after} == {key}, where
        assert len({element.id for element in after}) == len(after), where
        assert [element.is_latest for element in after].count(True) == 1, where
        kept = {element.id for element in after if not element.is_marker}
        if prepare is remove_latest:
            assert len(kept) >= 1, where
        else:
            assert kept >= contents.keys(), where
        for version in kept & contents.keys():
            assert body(site, key, version) == contents[version], where

        for item in after:
            site.clients.s3.delete_object(Bucket=BUCKET, Key=key, VersionId=item.id)
        assert listed(site, prefix) == [], where
    assert number > 2, "no kill took effect"
