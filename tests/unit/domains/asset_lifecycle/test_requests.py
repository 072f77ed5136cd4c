"""Requests that are refused, and requests that meet at the same asset."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest

from backend.aws.objects import S3Objects
from backend.core.identity import Identity
from backend.core.tables import Tables
from backend.core.transactions import Write
from backend.domains.assets.errors import AssetNotFoundError, AssetRevisionError
from backend.domains.assets.models import UpdateAssetBody
from backend.domains.metadata.routes import build_router as metadata_router
from tests.factories.assets import ADMIN
from tests.factories.files import PARAMETERS, PATH
from tests.factories.http import Client
from tests.factories.lifecycle import Lifecycle
from tests.factories.metadata import metadata_service
from tests.unit.domains.metadata.calls import record
from tests.unit.domains.uploads.calls import sent

CONFIRMATIONS = {
    "archive": "confirmArchive",
    "unarchive": "confirmUnarchive",
    "delete": "confirmPermanentDelete",
}


NEEDED = sorted(CONFIRMATIONS.keys() - {"archive"})


def check_refused(museum: Lifecycle, operation: str, body: dict[str, Any]) -> None:
    answer = museum.send(operation, **body)
    assert (answer.status, answer.body["errors"][0]["field"]) == (400, CONFIRMATIONS[operation])
    asset = museum.asset()
    assert asset is not None
    assert asset.revision == 1


@pytest.mark.parametrize("operation", CONFIRMATIONS)
@pytest.mark.parametrize("sent_value", [None, False, "true", 1])
def test_what_is_not_confirmed_is_refused_by_the_field(
    museum: Lifecycle, operation: str, sent_value: object
) -> None:
    check_refused(museum, operation, {CONFIRMATIONS[operation]: sent_value})


@pytest.mark.parametrize("operation", NEEDED)
def test_what_lacks_its_confirmation_is_refused_by_the_field(
    museum: Lifecycle, operation: str
) -> None:
    check_refused(museum, operation, {})


def test_an_archiving_needs_no_confirmation(museum: Lifecycle) -> None:
    answer = museum.send("archive", reason="lost")
    assert (answer.status, answer.body["operation"]) == (200, "archive")
    asset = museum.asset()
    assert asset is not None
    assert (asset.is_archived, asset.archived_reason) == (True, "lost")


@pytest.mark.parametrize("operation", CONFIRMATIONS)
def test_an_asset_that_was_changed_since_it_was_read_is_not_overwritten(
    museum: Lifecycle, operation: str
) -> None:
    if operation == "unarchive":
        museum.archive()
    before = museum.asset()
    assert before is not None
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


@pytest.mark.parametrize("body", [None, "", {}])
def test_an_archiving_needs_no_body(museum: Lifecycle, body: object) -> None:
    client = Client(museum.router)
    answer = client.send("DELETE", f"{PATH}/archiveAsset", parameters=PARAMETERS, body=body)
    assert answer.status == 200, answer.body
    asset = museum.asset()
    assert asset is not None
    assert asset.is_archived


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


def meanwhile(museum: Lifecycle, monkeypatch: pytest.MonkeyPatch, do: Callable[[], Any]) -> None:
    """Do something once, when the next request has read the asset and is about to write."""
    commit = type(museum.service.repository).commit
    pending = [do]

    def after_another(repository: Any, writes: Sequence[Write]) -> None:
        if pending:
            pending.pop()()
        commit(repository, writes)

    monkeypatch.setattr(type(museum.service.repository), "commit", after_another)


def test_of_two_archivings_at_once_one_learns_that_it_came_late(
    museum: Lifecycle, monkeypatch: pytest.MonkeyPatch
) -> None:
    museum.gallery.put("/a.glb")
    meanwhile(museum, monkeypatch, museum.archive)
    assert museum.refused("archive") == (409, "AssetArchived")
    museum.unarchive()
    assert museum.files() == {"/a.glb": False}


def test_an_edit_that_meets_an_archiving_is_not_lost(
    museum: Lifecycle, monkeypatch: pytest.MonkeyPatch
) -> None:
    def rename() -> None:
        body = UpdateAssetBody(asset_name="Renamed")
        museum.gallery.assets.update_asset(ADMIN, "museum", "statue", body)

    meanwhile(museum, monkeypatch, rename)
    museum.archive()
    asset = museum.asset()
    assert asset is not None
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


def test_an_archiving_that_meets_a_deletion_finds_nothing(
    museum: Lifecycle, monkeypatch: pytest.MonkeyPatch
) -> None:
    meanwhile(museum, monkeypatch, museum.delete)
    assert museum.refused("archive") == (404, "AssetNotFound")


def test_a_deletion_that_meets_an_archiving_deletes_what_is_archived(
    museum: Lifecycle, monkeypatch: pytest.MonkeyPatch
) -> None:
    museum.gallery.put("/a.glb")
    meanwhile(museum, monkeypatch, museum.archive)
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


def test_an_upload_that_ends_after_the_archiving_neither_revives_the_asset_nor_is_lost(
    museum: Lifecycle,
) -> None:
    upload_id, done = sent(museum.gallery, {"/late.glb": b"glTF" + bytes(60)})
    museum.archive()
    assert museum.gallery.complete(upload_id, *done).status == 404
    asset = museum.asset()
    assert asset is not None
    assert asset.is_archived
    assert museum.files() == {}
    museum.unarchive()
    assert museum.gallery.complete(upload_id, *done).status == 200
    assert museum.files() == {"/late.glb": False}


def test_no_upload_begins_in_an_archived_asset(museum: Lifecycle) -> None:
    museum.archive()
    answer = museum.gallery.initialise({"relativeKey": "/a.glb", "file_size": 10})
    assert answer.status == 404


def test_metadata_of_an_archived_asset_is_not_changed(
    museum: Lifecycle, tables: Tables, objects: S3Objects
) -> None:
    museum.archive()
    service = metadata_service(museum.gallery.assets, tables, objects)
    client = Client(metadata_router(service))
    for method in ("POST", "PUT"):
        answer = client.send(
            method, f"{PATH}/metadata", parameters=PARAMETERS, body={"metadata": [record("maker")]}
        )
        assert answer.status == 404
