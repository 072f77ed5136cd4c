"""Workers that sleep amid a step, for longer than they have the job: others go on meanwhile."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from backend.aws.objects import S3Objects
from backend.core.objects import VersionPage
from backend.domains.asset_links.service.commands import AssetLinkService
from tests.factories.assets import created_asset
from tests.factories.lifecycle import Lifecycle


def another_has_the_job(museum: Lifecycle) -> None:
    """The lease ends, and another worker completes the job of this one."""
    asset = museum.asset()
    assert asset is not None
    assert asset.lifecycle_job_id is not None
    museum.hands.now += timedelta(minutes=5)
    assert museum.work_off(asset.lifecycle_job_id).state == "done"


def test_a_worker_that_wakes_up_late_shows_no_file_of_an_asset_archived_again(
    museum: Lifecycle, monkeypatch: pytest.MonkeyPatch
) -> None:
    museum.gallery.put("/a.glb")
    museum.archive()
    delete_many = type(museum.objects).delete_many
    moments = iter([True])

    def long(objects: S3Objects, *args: object) -> None:
        delete_many(objects, *args)  # type: ignore[arg-type]
        if next(moments, False):
            another_has_the_job(museum)
            museum.archive()

    monkeypatch.setattr(type(museum.objects), "delete_many", long)
    museum.unarchive()
    asset = museum.asset()
    assert asset is not None
    assert asset.is_archived
    assert museum.files() == {"/a.glb": True}


def test_a_worker_that_wakes_up_late_hides_no_file_of_an_asset_that_was_restored(
    museum: Lifecycle, monkeypatch: pytest.MonkeyPatch
) -> None:
    museum.gallery.put("/a.glb")
    museum.gallery.put("/b.glb")
    delete_many = type(museum.objects).delete_many
    moments = iter([True])

    def late(objects: S3Objects, bucket: str, wanted: Sequence[tuple[str, str | None]]) -> None:
        if next(moments, False):
            another_has_the_job(museum)
            museum.unarchive()
            museum.hide("/b.glb")
        delete_many(objects, bucket, wanted)

    monkeypatch.setattr(type(museum.objects), "delete_many", late)
    museum.archive()
    asset = museum.asset()
    assert asset is not None
    assert not asset.is_archived
    assert museum.files() == {"/a.glb": False, "/b.glb": True}


def test_a_worker_that_wakes_up_late_deletes_nothing_of_the_next_asset_of_the_id(
    museum: Lifecycle, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_id = museum.delete()
    museum.gallery.put("/a.glb")
    list_versions = type(museum.objects).list_versions
    moments = iter([True])

    def late(objects: S3Objects, bucket: str, prefix: str, **more: Any) -> VersionPage:
        if prefix == "statue/" and next(moments, False):
            museum.hands.now += timedelta(minutes=5)
            assert museum.work_off(job_id).state == "done"
            created_asset(museum.gallery.assets)
            museum.gallery.put("/a.glb", b"anew")
        return list_versions(objects, bucket, prefix, **more)

    monkeypatch.setattr(type(museum.objects), "list_versions", late)
    museum.work_off(job_id)
    assert museum.files() == {"/a.glb": False}


def test_a_worker_that_wakes_up_late_between_two_parts_leaves_rows_of_the_next_asset(
    museum: Lifecycle, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_id = museum.delete()
    remove_links = AssetLinkService.remove_links
    moments = iter([True])

    def late(links: AssetLinkService, *ids: str, limit: int) -> int:
        removed = remove_links(links, *ids, limit=limit)
        if next(moments, False):
            museum.hands.now += timedelta(minutes=5)
            assert museum.work_off(job_id).state == "done"
            created_asset(museum.gallery.assets)
        return removed

    monkeypatch.setattr(AssetLinkService, "remove_links", late)
    museum.work_off(job_id)
    rows = museum.gallery.files.files.list_versions(museum.gallery.asset, limit=5)
    assert [row.asset_version_id for row in rows] == ["0"]
