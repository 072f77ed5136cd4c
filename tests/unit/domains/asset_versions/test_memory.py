"""The memory that creating a version of very many files takes."""

import gc
import tracemalloc
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from backend.core.objects import ObjectVersion, VersionPage
from backend.domains.asset_versions.models import HeldFile
from backend.domains.assets.models import Asset
from backend.domains.files.service import states
from backend.domains.files.service.states import FileStates
from tests.factories.assets import ADMIN, NOON
from tests.factories.versions import Versions

LISTED = states.CAPTURED


def listed(number: int) -> ObjectVersion:
    return ObjectVersion(f"statue/part-{number:06}.bin", f"version-{number}", True, NOON)


def peak(museum: Versions, monkeypatch: pytest.MonkeyPatch, files: int) -> int:
    """The most memory that capturing so many files takes, in bytes."""
    put: list[int] = []

    def page(self: FileStates, bucket: str, prefix: str, after: Any) -> VersionPage:
        start = int(after.get("version") or 0)
        versions = tuple(listed(n) for n in range(start, min(start + LISTED, files)))
        end = start + LISTED
        return VersionPage(versions, *(("key", str(end)) if end < files else (None, None)))

    def put_files(self: object, asset: object, snapshot: str, rows: Sequence[HeldFile]) -> None:
        put.append(len(rows))

    monkeypatch.setattr(FileStates, "page", page)
    monkeypatch.setattr(type(museum.creation.repository), "put_files", put_files)
    museum.lifecycle.hands.tick = timedelta(seconds=10)  # the request leaves all steps
    answer = museum.create()
    job = museum.lifecycle.jobs.find(answer.body["jobId"])
    museum.lifecycle.hands.tick = timedelta(0)
    assert job is not None
    assert job.created_by == ADMIN.user_id
    assets = museum.creation.assets
    asset = assets.find_asset("museum", "statue")

    def find(*_: object) -> Asset | None:  # moto's requests are garbage that stays a while
        return asset

    monkeypatch.setattr(type(assets), "find_asset", find)

    def is_early(*_: object) -> bool:  # the versions before are left unfinished
        return False

    monkeypatch.setattr(type(museum.creation.steps), "is_early", is_early)
    gc.collect()  # finalizers of earlier tests' objects would allocate amid the measurement
    tracemalloc.start()
    while job.cursor.get("part", "files") == "files":
        job = job.model_copy(update={"cursor": museum.creation.steps.make(job).cursor})
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert sum(put) == files
    assert max(put) == LISTED
    return most


def test_ten_thousand_files_take_no_more_memory_than_two_thousand(
    museum: Versions, monkeypatch: pytest.MonkeyPatch
) -> None:
    peak(museum, monkeypatch, 2 * LISTED)
    few = peak(museum, monkeypatch, 2_000)
    assert peak(museum, monkeypatch, 10_000) < 1.3 * few
