"""Uploads that are given up."""

from backend.spec.tables.assets import ASSETS
from tests.factories.files import GLB, Gallery
from tests.factories.files import PARAMETERS as ASSET
from tests.unit.domains.uploads.calls import head, sent, temporary


def test_an_upload_can_be_given_up(museum: Gallery) -> None:
    upload_id, done = sent(museum, {"/a.glb": GLB, "/b.glb": GLB})
    assert len(temporary()) == 2
    assert museum.abort(upload_id).status == 200
    assert temporary() == []
    assert museum.abort(upload_id).status == 404
    assert museum.upload(upload_id).status == 404
    assert museum.complete(upload_id, *done).status == 404


def test_what_is_completed_stays_when_the_rest_is_given_up(museum: Gallery) -> None:
    upload_id, done = sent(museum, {"/a.glb": GLB, "/b.glb": GLB})
    assert museum.complete(upload_id, done[0]).body["overallSuccess"]
    assert museum.abort(upload_id).status == 200
    assert head(museum, "/a.glb") is not None
    assert temporary() == []


def test_a_completed_upload_is_not_given_up(museum: Gallery) -> None:
    upload_id, done = sent(museum, {"/a.glb": GLB})
    museum.complete(upload_id, *done)
    answer = museum.abort(upload_id)
    assert (answer.status, answer.body["code"]) == (409, "UploadCompleted")


def test_nobody_learns_of_uploads_to_assets_that_they_do_not_see(museum: Gallery) -> None:
    upload_id, _ = sent(museum, {"/a.glb": GLB})
    assert museum.as_user("stranger").abort(upload_id).status == 403
    museum.assets.assets.tables.delete_many(
        ASSETS, [{"databaseId": "museum", "assetId": ASSET["assetId"]}]
    )
    answer = museum.abort(upload_id)
    assert (answer.status, answer.body["code"]) == (404, "UploadNotFound")
