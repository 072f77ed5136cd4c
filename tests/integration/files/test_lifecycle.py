"""Assets are archived, restored and deleted on DynamoDB Local and versitygw."""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

import pytest

from backend.aws.objects import S3Objects
from backend.aws.tables import DynamoTables
from backend.core.errors import VitrineError
from backend.core.objects import ObjectHead
from backend.domains.assets.models import UpdateAssetBody
from tests.factories.assets import ADMIN
from tests.factories.files import BUCKET
from tests.factories.lifecycle import Lifecycle, lifecycle

FILES = 60
OWN = ("/d1/own.glb", "/own ä+b.glb")


@pytest.fixture
def museum(ports: tuple[DynamoTables, S3Objects]) -> Lifecycle:
    return lifecycle(*ports, files=7, versions=50)


def furnished(museum: Lifecycle) -> dict[str, str]:
    """Files in folders and beside them, some archived by their user.

    Return the versions of the others.
    """
    names = [f"/d{n % 3}/f {n:03}+ä.glb" for n in range(FILES)]
    versions = {name: museum.gallery.put(name) for name in (*names, "/d1.glb")}
    for path in OWN:
        museum.gallery.put(path)
        museum.hide(path)
    return versions


def hidden(museum: Lifecycle, paths: Iterable[str]) -> dict[str, bool]:
    """The result of `files` when all of these are archived."""
    return dict.fromkeys([*paths, *OWN], True)


def test_files_follow_their_asset_and_come_back_with_the_versions_they_had(
    museum: Lifecycle,
) -> None:
    versions = furnished(museum)
    for _ in range(2):
        museum.work_off(museum.archive())
        assert museum.files() == hidden(museum, versions)
        museum.work_off(museum.unarchive())
        assert museum.files() == hidden(museum, ()) | dict.fromkeys(versions, False)
    for path, version_id in versions.items():
        head = museum.objects.head(BUCKET, "statue" + path)
        assert isinstance(head, ObjectHead)
        assert head.version.version_id == version_id


def test_nothing_of_a_deleted_asset_is_left_in_its_bucket(museum: Lifecycle) -> None:
    furnished(museum)
    museum.work_off(museum.archive())
    assert museum.work_off(museum.delete()).state == "done"
    assert museum.files() == {}
    assert museum.objects.list_versions(BUCKET, "").versions == ()


def test_of_many_archivings_at_once_exactly_one_happens(museum: Lifecycle) -> None:
    museum.gallery.put("/a.glb")

    def archive(_: int) -> str:
        try:
            museum.service.archive_asset(ADMIN, "museum", "statue")
        except VitrineError as error:
            return error.code
        return "archived"

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(archive, range(8)))
    assert sorted(results) == ["AssetArchived"] * 7 + ["archived"]
    found = museum.gallery.assets.databases.databases.get_counted("museum")
    assert found is not None
    assert found.asset_count == 0


def test_edits_archivings_and_returns_at_once_leave_a_state_that_some_order_explains(
    museum: Lifecycle,
) -> None:
    for number in range(10):
        museum.gallery.put(f"/{number}.glb")

    def edit(number: int) -> str:
        ids = ("museum", "statue")
        try:
            if number % 3 == 0:
                museum.service.archive_asset(ADMIN, *ids)
            elif number % 3 == 1:
                museum.service.unarchive_asset(ADMIN, *ids)
            else:
                body = UpdateAssetBody(asset_name=f"Name {number}")
                museum.gallery.assets.update_asset(ADMIN, *ids, body)
        except VitrineError as error:
            return error.code
        return "done"

    with ThreadPoolExecutor(6) as pool:
        results = set(pool.map(edit, range(60)))
    known = {"AssetArchived", "AssetActive", "AssetBusy", "AssetNotFound", "AssetRevisionConflict"}
    assert results - known == {"done"}
    asset = museum.asset()
    assert asset is not None
    assert asset.lifecycle_job_id is not None
    assert museum.work_off(asset.lifecycle_job_id).state == "done"
    assert set(museum.files().values()) == {asset.is_archived}
    found = museum.gallery.assets.databases.databases.get_counted("museum")
    assert found is not None
    assert found.asset_count == (0 if asset.is_archived else 1)
