"""Previews of files and of assets: where they stand, what they need, what they replace."""

from backend.core.identity import Identity
from tests.factories.files import GLB, Gallery
from tests.unit.domains.uploads.calls import MIB, error_of, head, part, uploaded


def test_a_preview_needs_its_file(museum: Gallery) -> None:
    assert "no file" in error_of(uploaded(museum, {"/a.glb.previewFile.png": b"png"}))
    both = uploaded(museum, {"/a.glb.previewFile.png": b"png", "/a.glb": GLB})
    assert both.body["overallSuccess"]
    assert museum.file_info("/a.glb").body["previewFile"] == "statue/a.glb.previewFile.png"


def test_a_new_preview_replaces_the_old_one(museum: Gallery) -> None:
    uploaded(museum, {"/a.glb": GLB, "/a.glb.previewFile.png": b"png"})
    uploaded(museum, {"/a.glb.previewFile.jpg": b"jpg"})
    assert head(museum, "/a.glb.previewFile.png") is None
    assert museum.file_info("/a.glb").body["previewFile"] == "statue/a.glb.previewFile.jpg"


def test_a_preview_that_is_too_large_is_refused_by_what_is_stored(museum: Gallery) -> None:
    body = bytes(5 * MIB + 1)
    uploaded(museum, {"/a.glb": GLB})
    answer = museum.initialise({"relativeKey": "/a.glb.previewFile.png", "num_parts": 1})
    (file,) = answer.body["files"]
    done = museum.complete(
        answer.body["uploadId"],
        {
            "relativeKey": file["relativeKey"],
            "uploadIdS3": file["uploadIdS3"],
            "parts": [part(file, 1, body)],
        },
    )
    assert "5 MiB" in error_of(done)


def test_an_asset_preview_is_stored_apart_and_named_by_the_asset(museum: Gallery) -> None:
    answer = museum.initialise(
        {"relativeKey": "look/front.PNG", "file_size": 3}, uploadType="assetPreview"
    )
    (file,) = answer.body["files"]
    done = museum.complete(
        answer.body["uploadId"],
        {
            "relativeKey": file["relativeKey"],
            "uploadIdS3": file["uploadIdS3"],
            "parts": [part(file, 1, b"png")],
        },
        uploadType="assetPreview",
    )
    assert done.status == 200, done.body
    asset = museum.assets.get_asset(Identity("admin"), "museum", "statue")
    assert asset.preview_location is not None
    assert asset.preview_location.key == "previews/statue/front.PNG"
    assert asset.asset_type == "none"
    assert museum.list_files().body["items"] == []
    url = museum.download(downloadType="assetPreview").body["downloadUrl"]
    assert "previews/statue/front.PNG" in url
