"""Requests that are refused, and requests that meet at the same asset."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from backend.aws.objects import S3Objects
from backend.core.identity import Identity
from backend.core.tables import Tables
from backend.domains.assets.errors import AssetNotFoundError, AssetRevisionError
from backend.domains.assets.models import UpdateAssetBody
from backend.domains.metadata.routes import build_router as metadata_router
from tests.factories.assets import ADMIN
from tests.factories.files import PARAMETERS, PATH
from tests.factories.http import Client
from tests.factories.lifecycle import Lifecycle, interrupt
from tests.factories.metadata import metadata_service
from tests.unit.domains.metadata.calls import record
from tests.unit.domains.uploads.calls import sent

CONFIRMATIONS = {
    "archive": "confirmArchive",
    "unarchive": "confirmUnarchive",
    "delete": "confirmPermanentDelete",
}
NEEDED = sorted(CONFIRMATIONS.keys() - {"archive"})


@pytest.mark.parametrize(
    ("operation", "body"),
    [
        *((name, {}) for name in NEEDED),
        *(
            (name, {field: value})
            for name, field in CONFIRMATIONS.items()
            for value in (None, False, "true", 1)
        ),
    ],
)
def test_what_is_not_confirmed_is_refused_by_the_field(
    museum: Lifecycle, operation: str, body: dict[str, Any]
) -> None:
    answer = museum.send(operation, **body)
    assert (answer.status, answer.body["errors"][0]["field"]) == (400, CONFIRMATIONS[operation])
    assert museum.stored.revision == 1


@pytest.mark.parametrize("operation", CONFIRMATIONS)
def test_an_asset_that_was_changed_since_it_was_read_is_not_overwritten(
    museum: Lifecycle, operation: str
) -> None:
    if operation == "unarchive":
        museum.archive()
    before = museum.stored
    confirmed: dict[str, Any] = {CONFIRMATIONS[operation]: True}
    stale = museum.send(operation, revision=before.revision + 1, **confirmed)
    assert (stale.status, stale.body["code"]) == (412, "AssetRevisionConflict")
    assert museum.asset() == before
    assert museum.send(operation, revision=before.revision, **confirmed).status == 200


@pytest.mark.parametrize("operation", CONFIRMATIONS)
@pytest.mark.parametrize("reason", ["x" * 257, 5, "\ud800"])
def test_a_reason_that_is_too_long_or_no_text_is_refused(
    museum: Lifecycle, operation: str, reason: object
) -> None:
    body: dict[str, Any] = {CONFIRMATIONS[operation]: True, "reason": reason}
    answer = museum.send(operation, **body)
    assert answer.status == 400
    if reason != "\ud800":
        assert answer.body["errors"][0]["field"] == "reason"


@pytest.mark.parametrize("operation", NEEDED)
def test_a_request_without_a_body_is_refused(museum: Lifecycle, operation: str) -> None:
    client = Client(museum.router)
    method = "PUT" if operation == "unarchive" else "DELETE"
    answer = client.send(method, f"{PATH}/{operation}Asset", parameters=PARAMETERS)
    assert answer.status == 400


@pytest.mark.parametrize("body", [None, "", {}, {"reason": "lost"}])
def test_an_archiving_needs_no_body_and_no_confirmation(museum: Lifecycle, body: object) -> None:
    client = Client(museum.router)
    answer = client.send("DELETE", f"{PATH}/archiveAsset", parameters=PARAMETERS, body=body)
    assert (answer.status, answer.body["operation"]) == (200, "archive")
    reason = "lost" if body else museum.stored.archived_reason
    assert (museum.stored.is_archived, museum.stored.archived_reason) == (True, reason)


def test_what_is_archived_cannot_be_archived_nor_what_is_active_restored(
    museum: Lifecycle,
) -> None:
    assert museum.refused("unarchive") == (409, "AssetActive")
    museum.archive()
    assert museum.refused("archive") == (409, "AssetArchived")


@pytest.mark.parametrize("operation", CONFIRMATIONS)
def test_strangers_change_nothing(museum: Lifecycle, operation: str) -> None:
    answer = museum.send(operation, user_id="stranger", **{CONFIRMATIONS[operation]: True})
    assert answer.status == 403
    with pytest.raises(AssetNotFoundError):
        museum.service.archive_asset(Identity("stranger"), "museum", "statue")


def before_the_write(
    museum: Lifecycle, monkeypatch: pytest.MonkeyPatch, do: Callable[[], Any]
) -> None:
    """Do something once, when the next request has read the asset and is about to write."""
    interrupt(monkeypatch, type(museum.service.repository), "commit", do)


def test_of_two_changes_at_once_one_learns_that_it_came_late(
    museum: Lifecycle, monkeypatch: pytest.MonkeyPatch
) -> None:
    museum.gallery.put("/a.glb")
    before_the_write(museum, monkeypatch, museum.archive)
    assert museum.refused("archive") == (409, "AssetArchived")
    museum.unarchive()
    assert museum.files() == {"/a.glb": False}
    before_the_write(museum, monkeypatch, museum.delete)
    assert museum.refused("archive") == (404, "AssetNotFound")


def test_an_edit_that_meets_an_archiving_is_not_lost(
    museum: Lifecycle, monkeypatch: pytest.MonkeyPatch
) -> None:
    def rename() -> None:
        body = UpdateAssetBody(asset_name="Renamed")
        museum.gallery.assets.update_asset(ADMIN, "museum", "statue", body)

    before_the_write(museum, monkeypatch, rename)
    museum.archive()
    asset = museum.stored
    assert (asset.asset_name, asset.is_archived, asset.inherited_revision) == ("Renamed", True, 3)


@pytest.mark.parametrize("operation", ["archive", "delete"])
def test_a_change_that_others_overtake_again_and_again_ends_within_its_time(
    museum: Lifecycle, monkeypatch: pytest.MonkeyPatch, operation: str
) -> None:
    attempts: list[datetime] = []

    def overtaken(*_: object) -> None:
        attempts.append(museum.hands.now)
        museum.hands.now += timedelta(seconds=1)
        raise AssetRevisionError("statue")

    monkeypatch.setattr(type(museum.service.repository), "commit", overtaken)
    confirmed: dict[str, Any] = {CONFIRMATIONS[operation]: True}
    answer = museum.send(operation, **confirmed)
    assert (answer.status, answer.body["code"]) == (412, "AssetRevisionConflict")
    assert len(attempts) == 2


def test_a_deletion_that_meets_an_archiving_deletes_what_is_archived(
    museum: Lifecycle, monkeypatch: pytest.MonkeyPatch
) -> None:
    museum.gallery.put("/a.glb")
    before_the_write(museum, monkeypatch, museum.archive)
    job_id = museum.delete()
    assert museum.asset() is None
    assert museum.work_off(job_id).state == "done"
    assert museum.files() == {}
    museum.gallery.assets.databases.delete_database(ADMIN, "museum")  # the count is 0


def test_an_asset_of_a_deleted_database_cannot_be_restored_but_deleted(
    museum: Lifecycle,
) -> None:
    museum.archive()
    museum.gallery.assets.databases.delete_database(ADMIN, "museum")
    assert museum.refused("unarchive") == (409, "DatabaseDeleted")
    assert museum.work_off(museum.delete()).state == "done"


def test_what_ends_after_the_archiving_neither_revives_the_asset_nor_is_lost(
    museum: Lifecycle, tables: Tables, objects: S3Objects
) -> None:
    upload_id, done = sent(museum.gallery, {"/late.glb": b"glTF" + bytes(60)})
    museum.archive()
    assert museum.gallery.complete(upload_id, *done).status == 404
    announced = {"relativeKey": "/a.glb", "file_size": 10}
    assert museum.gallery.initialise(announced).status == 404  # nor does another upload begin
    client = Client(metadata_router(metadata_service(museum.gallery.assets, tables, objects)))
    body = {"metadata": [record("maker")]}
    for method in ("POST", "PUT"):
        answer = client.send(method, f"{PATH}/metadata", parameters=PARAMETERS, body=body)
        assert answer.status == 404
    assert museum.stored.is_archived
    assert museum.files() == {}
    museum.unarchive()
    assert museum.gallery.complete(upload_id, *done).status == 200
    assert museum.files() == {"/late.glb": False}
