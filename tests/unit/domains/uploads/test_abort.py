"""Uploads that are cancelled."""

from collections.abc import Sequence

import pytest

from backend.core.tables import Tables
from backend.core.transactions import Key
from backend.domains.uploads.models import Upload
from backend.domains.uploads.service.context import UploadContext
from backend.spec.tables.assets import ASSETS
from backend.spec.tables.model import Table
from tests.factories.files import GLB, Gallery
from tests.factories.files import PARAMETERS as ASSET
from tests.unit.domains.uploads.calls import head, sent, temporary
from tests.unit.domains.uploads.large import KilledError, World, states


def test_an_upload_can_be_abandoned(museum: Gallery) -> None:
    upload_id, done = sent(museum, {"/a.glb": GLB, "/b.glb": GLB})
    assert len(temporary()) == 2
    assert museum.abort(upload_id).status == 200
    assert temporary() == []
    assert museum.abort(upload_id).status == 404
    assert museum.upload(upload_id).status == 404
    assert museum.complete(upload_id, *done).status == 404


def test_completed_files_remain_when_the_rest_is_abandoned(museum: Gallery) -> None:
    upload_id, done = sent(museum, {"/a.glb": GLB, "/b.glb": GLB})
    assert museum.complete(upload_id, done[0]).body["overallSuccess"]
    assert museum.abort(upload_id).status == 200
    assert head(museum, "/a.glb") is not None
    assert temporary() == []


def test_a_completed_upload_is_not_abandoned(museum: Gallery) -> None:
    upload_id, done = sent(museum, {"/a.glb": GLB})
    museum.complete(upload_id, *done)
    answer = museum.abort(upload_id)
    assert (answer.status, answer.body["code"]) == (409, "UploadCompleted")


def test_no_one_learns_of_uploads_to_assets_that_they_do_not_see(museum: Gallery) -> None:
    upload_id, _ = sent(museum, {"/a.glb": GLB})
    assert museum.as_user("stranger").abort(upload_id).status == 403
    museum.assets.assets.tables.delete_many(
        ASSETS, [{"databaseId": "museum", "assetId": ASSET["assetId"]}]
    )
    answer = museum.abort(upload_id)
    assert (answer.status, answer.body["code"]) == (404, "UploadNotFound")


def test_a_request_that_dies_while_an_upload_is_abandoned_leaves_no_half_of_it(
    museum: Gallery, tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("backend.domains.uploads.repository._FILES_BYTES", 1)  # a row for each file
    upload_id, done = sent(museum, {"/a.glb": GLB, "/b.glb": GLB})
    assert museum.complete(upload_id, done[1]).body["overallSuccess"]

    def dying(self: Tables, table: Table, keys: Sequence[Key]) -> None:
        real(self, table, keys)
        raise KilledError

    real = type(tables).delete_many
    with monkeypatch.context() as patched:
        patched.setattr(type(tables), "delete_many", dying)
        with pytest.raises(KilledError):
            museum.abort(upload_id)
    for answer in (museum.upload(upload_id), museum.abort(upload_id)):
        assert (answer.status, answer.body["code"]) == (404, "UploadNotFound")


def test_an_upload_that_is_completed_just_before_is_not_abandoned(
    museum: Gallery, monkeypatch: pytest.MonkeyPatch
) -> None:
    upload_id, done = sent(museum, {"/a.glb": GLB})
    context, lease = type(museum.uploads.context), type(museum.uploads.context).lease

    def overtaken(mine: UploadContext, upload: Upload) -> Upload:
        monkeypatch.setattr(context, "lease", lease)
        assert museum.complete(upload_id, *done).body["overallSuccess"]
        return mine.lease(upload)

    monkeypatch.setattr(context, "lease", overtaken)
    answer = museum.abort(upload_id)
    assert (answer.status, answer.body["code"]) == (409, "UploadCompleted")
    found = museum.upload(upload_id)
    assert (found.status, found.body["state"]) == (200, "completed")
    assert museum.complete(upload_id, *done).status == 200  # the lease was given back


def test_large_files_that_were_handed_over_just_before_are_not_abandoned(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    museum = world.museum
    upload_id, done = sent(museum, {"/a.glb": GLB})
    context, lease = type(museum.uploads.context), type(museum.uploads.context).lease

    def overtaken(mine: UploadContext, upload: Upload) -> Upload:
        monkeypatch.setattr(context, "lease", lease)
        assert museum.complete(upload_id, *done).status == 200
        return mine.lease(upload)

    monkeypatch.setattr(context, "lease", overtaken)
    answer = museum.abort(upload_id)
    assert (answer.status, answer.body["code"]) == (409, "FilesBeingFinished")
    world.drain()
    assert states(world, upload_id) == {"/a.glb": "done"}
