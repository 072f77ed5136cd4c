"""Completing again, at once, after a crash or an outage: nothing is done twice or lost."""

from datetime import timedelta
from typing import Any

import pytest

from backend.aws.objects import S3Objects
from backend.core.errors import UnavailableError
from backend.core.tables import Tables
from tests.factories.assets import NOON
from tests.factories.files import BUCKET, GLB, Gallery, gallery
from tests.unit.domains.uploads.calls import (
    IN_PARTS,
    asset_type,
    head,
    sent,
    temporary,
)


def test_a_repeated_completion_returns_the_same_and_writes_nothing(museum: Gallery) -> None:
    upload_id, done = sent(museum, {"/a.glb": GLB, "/elf.glb": b"\x7fELF" + bytes(60)})
    first = museum.complete(upload_id, *done)
    again = museum.complete(upload_id, *done)
    assert (again.status, again.body) == (first.status, first.body)
    versions = museum.objects.list_versions(BUCKET, museum.asset.asset_location.key).versions
    assert len(versions) == 1


def test_two_completes_at_once_do_nothing_twice(museum: Gallery) -> None:
    upload_id, done = sent(museum, {"/a.glb": GLB})
    row = museum.uploads.context.uploads.get(upload_id)
    assert row is not None
    soon = int((NOON + timedelta(seconds=30)).timestamp() * 1000)
    museum.uploads.context.uploads.lease(row, now=soon - 30_000, until=soon)
    answer = museum.complete(upload_id, *done)
    assert (answer.status, answer.body["code"]) == (409, "UploadBusy")
    assert head(museum, "/a.glb") is None


def test_a_lease_of_a_dead_request_ends(tables: Tables, objects: S3Objects) -> None:
    now = [NOON]
    museum = gallery(tables, objects, clock=lambda: now[0])
    upload_id, done = sent(museum, {"/a.glb": GLB})
    row = museum.uploads.context.uploads.get(upload_id)
    assert row is not None
    start = int(NOON.timestamp() * 1000)
    museum.uploads.context.uploads.lease(row, now=start, until=start + 35_000)
    now[0] += timedelta(seconds=36)
    assert museum.complete(upload_id, *done).status == 200


@pytest.mark.parametrize(
    ("announced", "step"),
    [
        *(({}, step) for step in ("read_version", "copy", "delete_many")),
        *((IN_PARTS, step) for step in ("complete_multipart", "read_start", "copy", "delete_many")),
    ],
)
@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_crash_at_any_step_is_mended_by_the_same_request(
    announced: dict[str, Any],
    step: str,
    moment: str,
    tables: Tables,
    objects: S3Objects,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = [NOON]
    museum = gallery(tables, objects, clock=lambda: now[0])
    upload_id, done = sent(museum, {"/a.glb": GLB}, **announced)
    real = getattr(S3Objects, step)

    class Killed(BaseException):
        """Nothing after it runs, as after kill -9."""

    def dying(*args: Any, **more: Any) -> Any:
        if moment == "after":
            real(*args, **more)
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(S3Objects, step, dying)
        with pytest.raises(Killed):
            museum.complete(upload_id, *done)
    now[0] += timedelta(seconds=36)
    answer = museum.complete(upload_id, *done)
    assert answer.status == 200, answer.body
    versions = museum.objects.list_versions(BUCKET, museum.asset.asset_location.key).versions
    assert len(versions) == 1
    assert temporary() == []
    assert asset_type(museum) == ".glb"


def test_an_outage_keeps_what_is_done_and_the_same_request_continues(
    museum: Gallery, monkeypatch: pytest.MonkeyPatch
) -> None:
    upload_id, done = sent(museum, {f"/{n}.glb": GLB for n in range(12)})
    real = S3Objects.copy

    def failing(self: S3Objects, source: Any, target: Any, **more: Any) -> Any:
        if target[1].endswith("/5.glb"):
            raise UnavailableError("S3 does not answer")
        return real(self, source, target, **more)

    with monkeypatch.context() as patched:
        patched.setattr(S3Objects, "copy", failing)
        assert museum.complete(upload_id, *done).status == 503
    answer = museum.complete(upload_id, *done)
    assert answer.body["overallSuccess"], answer.body
    assert answer.body["assetType"] == "folder"
    versions = museum.objects.list_versions(BUCKET, museum.asset.asset_location.key).versions
    assert len(versions) == 12
    assert temporary() == []


def test_work_that_takes_too_long_continues_with_the_next_request(
    tables: Tables, objects: S3Objects
) -> None:
    now = [NOON]

    def clock() -> Any:
        now[0] += timedelta(seconds=1)
        return now[0]

    museum = gallery(tables, objects, clock=clock)
    upload_id, done = sent(museum, {f"/{n:02}.glb": GLB for n in range(40)})
    answer = museum.complete(upload_id, *done)
    assert answer.status == 503
    for _ in range(10):
        if answer.status == 503:
            answer = museum.complete(upload_id, *done)
    assert answer.status == 200
    assert answer.body["overallSuccess"]
    assert len(answer.body["fileResults"]) == 40
