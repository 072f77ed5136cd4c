"""Which generated preview an asset has after its files change."""

from collections.abc import Iterable
from typing import Any

import pytest

from backend.core.objects import ObjectHead, VersionRef
from backend.domains.files.service.asset_pictures import AssetPictures
from backend.spec.key_layouts import generated_preview_key, small_preview_key
from tests.factories.assets import ADMIN
from tests.factories.files import BUCKET
from tests.factories.outages import unavailable
from tests.factories.outputs import PNG, OutputSetup, result
from tests.factories.quarantine import ScanWorld, scan_event

KEY = generated_preview_key("", "statue")
WEBP = b"RIFF\x20\0\0\0WEBP"


def inspected(
    studio: OutputSetup, path: str, size: int, *, picture: bool = True, execution_id: str = ""
) -> None:
    """Put a file whose picture ends with its path, and store the result of its inspection."""
    execution_id = execution_id or path[1:].replace("/", "-")
    version = studio.museum.put(path, bytes(size))
    studio.inspected(path, version, execution_id)
    made = {"thumbnail": "thumbnail.png", "small": "thumbnail.webp"} if picture else {}
    studio.wrote("1/metadata/inspection.json", result(version, **made), execution_id)
    studio.wrote("1/previews/thumbnail.png", PNG + path.encode(), execution_id)
    studio.wrote("1/previews/thumbnail.webp", WEBP + path.encode(), execution_id)
    assert studio.stores(execution_id).state == "done"


def change(studio: OutputSetup, method: str, verb: str, **body: Any) -> None:
    assert studio.museum.change(method, verb, body).status == 200


def archive(studio: OutputSetup, path: str, **more: Any) -> None:
    change(studio, "DELETE", "archiveFile", filePath=path, **more)


def delete(studio: OutputSetup, path: str, **more: Any) -> None:
    change(studio, "DELETE", "deleteFile", filePath=path, confirmPermanentDelete=True, **more)


def pictured(studio: OutputSetup) -> str | None:
    """Return the path of the file in the asset's preview, which the row then names."""
    named = studio.museum.assets.get_asset(ADMIN, "museum", "statue").preview_location
    if named is None:
        assert studio.objects.list_objects(BUCKET, KEY).objects == ()
        return None
    assert named.key == KEY
    shown = studio.objects.read_start(BUCKET, KEY, length=1000).removeprefix(PNG)
    small = studio.objects.read_start(BUCKET, small_preview_key(KEY), length=1000)
    assert small.removeprefix(WEBP) == shown
    return shown.decode()


def versions(studio: OutputSetup) -> list[VersionRef]:
    folder = KEY.removesuffix("png")
    return [version.ref for version in studio.objects.list_versions(BUCKET, folder).versions]


@pytest.fixture
def two(studio: OutputSetup) -> OutputSetup:
    """The asset with two inspected models, of which it shows the larger one."""
    inspected(studio, "/parts/small.obj", 10)
    inspected(studio, "/parts/large.obj", 20)
    assert pictured(studio) == "/parts/large.obj"
    return studio


@pytest.mark.parametrize("remove", [archive, delete])
def test_the_picture_goes_with_its_file_only(two: OutputSetup, remove: Any) -> None:
    inspected(two, "/parts/smallest.obj", 5)
    remove(two, "/parts/smallest.obj")
    assert pictured(two) == "/parts/large.obj"
    remove(two, "/parts/large.obj")
    assert pictured(two) == "/parts/small.obj"
    remove(two, "/parts/small.obj")
    assert pictured(two) is None


@pytest.mark.parametrize("remove", [archive, delete])
def test_the_picture_goes_with_the_folder_of_its_file(two: OutputSetup, remove: Any) -> None:
    inspected(two, "/other.obj", 5)
    remove(two, "/parts/", isPrefix=True)
    assert pictured(two) == "/other.obj"


def test_after_a_deletion_no_version_shows_the_deleted_file(two: OutputSetup) -> None:
    archive(two, "/parts/large.obj")
    assert len(versions(two)) > 2
    delete(two, "/parts/large.obj")
    assert len(versions(two)) == 2
    assert pictured(two) == "/parts/small.obj"
    delete(two, "/parts/small.obj")
    assert versions(two) == []


def test_a_restored_file_is_shown_again(two: OutputSetup) -> None:
    archive(two, "/parts/", isPrefix=True)
    assert pictured(two) is None
    change(two, "POST", "unarchiveFile", filePath="/parts/small.obj")
    shown = two.objects.read_start(BUCKET, KEY, length=1000)
    assert shown == PNG + b"/parts/small.obj"


def test_models_are_shown_before_their_textures(studio: OutputSetup) -> None:
    inspected(studio, "/texture.png", 500)
    inspected(studio, "/model.obj", 20)
    assert pictured(studio) == "/model.obj"
    inspected(studio, "/drawing.pdf", 900)
    assert pictured(studio) == "/model.obj"


def test_the_picture_follows_the_primary_file_and_new_versions(two: OutputSetup) -> None:
    body = {"filePath": "/parts/small.obj", "primaryType": "primary"}
    change(two, "PUT", "setPrimaryFile", **body)
    assert pictured(two) == "/parts/small.obj"
    change(two, "PUT", "setPrimaryFile", **{**body, "primaryType": ""})
    assert pictured(two) == "/parts/large.obj"
    inspected(two, "/parts/large.obj", 30, picture=False, execution_id="again")
    assert pictured(two) == "/parts/small.obj"


def test_a_file_archived_while_its_picture_is_stored_is_not_shown(
    two: OutputSetup, monkeypatch: pytest.MonkeyPatch
) -> None:
    assets = type(two.museum.assets)
    set_content = assets.set_content

    def archived_before(*args: Any, **changes: Any) -> Any:
        monkeypatch.undo()
        archive(two, "/parts/largest.obj")
        return set_content(*args, **changes)

    monkeypatch.setattr(assets, "set_content", archived_before)
    inspected(two, "/parts/largest.obj", 40)
    assert pictured(two) == "/parts/large.obj"


def test_no_picture_of_a_quarantined_file_is_chosen(
    two: OutputSetup, monkeypatch: pytest.MonkeyPatch
) -> None:
    inspected(two, "/parts/largest.obj", 40)
    head = two.objects.head(BUCKET, "statue/parts/large.obj")
    assert isinstance(head, ObjectHead)
    result = {head.version.ref}

    def among(_: object, bucket: str, versions: Iterable[VersionRef]) -> set[VersionRef]:
        return result & set(versions)

    monkeypatch.setattr(type(two.museum.files.quarantine), "among", among)
    archive(two, "/parts/largest.obj")
    assert pictured(two) == "/parts/small.obj"


def scan(studio: OutputSetup, path: str, status: str = "THREATS_FOUND", second: int = 1) -> None:
    """Deliver the result of a scan of the current version of an object twice."""
    head = studio.head(path)
    assert head is not None
    time = f"2026-03-01T12:00:0{second}Z"
    event = scan_event("statue" + path, head.version.version_id, status, time=time)
    scans = ScanWorld(studio.tables, studio.objects)  # type: ignore[arg-type]
    assert scans.deliver_events(event, event) == {"batchItemFailures": []}
    assert scans.kept == []


@pytest.mark.parametrize("object_of", ["", ".previewFile.png", ".previewFile.webp"])
def test_the_picture_of_a_file_that_is_quarantined_gives_way_until_its_release(
    two: OutputSetup, object_of: str
) -> None:
    scan(two, "/parts/large.obj" + object_of)
    assert pictured(two) == "/parts/small.obj"
    scan(two, "/parts/small.obj")
    assert pictured(two) is None
    scan(two, "/parts/small.obj", "NO_THREATS_FOUND", 2)
    assert pictured(two) == "/parts/small.obj"
    scan(two, "/parts/large.obj" + object_of, "NO_THREATS_FOUND", 2)
    assert pictured(two) == "/parts/large.obj"


def test_a_file_of_lower_rank_in_quarantine_leaves_the_picture(two: OutputSetup) -> None:
    before = versions(two)
    scan(two, "/parts/small.obj")
    assert (pictured(two), versions(two)) == ("/parts/large.obj", before)
    archive(two, "/parts/large.obj")
    assert pictured(two) is None


def test_the_picture_follows_when_the_first_delivery_of_a_scan_ended_early(
    two: OutputSetup, monkeypatch: pytest.MonkeyPatch
) -> None:
    head = two.head("/parts/large.obj")
    assert head is not None
    event = scan_event("statue/parts/large.obj", head.version.version_id)
    with monkeypatch.context() as patched:
        patched.setattr(AssetPictures, "follow_scan", unavailable)
        scans = ScanWorld(two.tables, two.objects)  # type: ignore[arg-type]
        assert scans.deliver_events(event)["batchItemFailures"]
    assert pictured(two) == "/parts/large.obj"
    scans = ScanWorld(two.tables, two.objects)  # type: ignore[arg-type]
    assert scans.deliver_events(event) == {"batchItemFailures": []}
    assert pictured(two) == "/parts/small.obj"


def test_a_moved_file_is_still_shown_and_a_copy_with_a_lower_rank_is_not(two: OutputSetup) -> None:
    body = {"sourcePath": "/parts/small.obj", "destinationPath": "/copy.obj"}
    change(two, "POST", "copyFile", **body)
    assert pictured(two) == "/parts/large.obj"
    change(two, "POST", "moveFile", sourcePath="/parts/large.obj", destinationPath="/new.obj")
    assert pictured(two) == "/parts/large.obj"
    delete(two, "/copy.obj")
    archive(two, "/new.obj")
    assert pictured(two) == "/parts/small.obj"
