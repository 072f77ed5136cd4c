"""GLBs of files: they go with the versions that they were made of."""

import pytest

from backend.spec.buckets import CHANGE_METADATA, WORKFLOWS_METADATA
from backend.spec.key_layouts import glb_key, turntable_key
from tests.factories.files import BUCKET, Gallery, gallery
from tests.fakes.objects import MemoryObjects
from tests.unit.domains.files.changes import TickingClock, head_of, memory, note, notes, view, views


@pytest.fixture
def museum() -> Gallery:
    return gallery(*memory(), clock=TickingClock())


def shown(museum: Gallery, path: str, version_id: str, body: bytes = b"glTF") -> str:
    """The path of a GLB that was made of a version."""
    path = glb_key("statue", path, version_id).removeprefix("statue")
    view(museum, path, body)
    return path


def test_a_deleted_file_takes_the_glbs_of_all_its_versions(museum: Gallery) -> None:
    first, second = museum.put("/a.obj"), museum.put("/a.obj")
    shown(museum, "/a.obj", first)
    shown(museum, "/a.obj", second)
    kept = shown(museum, "/a.obj.bak/b.obj", museum.put("/a.obj.bak/b.obj"))
    body = {"filePath": "/a.obj", "confirmPermanentDelete": True}
    assert museum.change("DELETE", "deleteFile", body).status == 200
    assert views(museum) == [kept]


def test_a_deleted_folder_takes_the_glbs_of_its_files_and_its_own_metadata(
    museum: Gallery,
) -> None:
    shown(museum, "/parts/a.obj", museum.put("/parts/a.obj"))
    kept = shown(museum, "/b.obj", museum.put("/b.obj"))
    note(museum, "/parts", "material", "steel")
    body = {"filePath": "/parts/", "isPrefix": True, "confirmPermanentDelete": True}
    assert museum.change("DELETE", "deleteFile", body).status == 200
    assert views(museum) == [kept]
    assert notes(museum, "/parts") == {}


def test_a_copy_has_the_glb_of_its_source_under_its_own_version(museum: Gallery) -> None:
    made_of = shown(museum, "/a.obj", museum.put("/a.obj"), b"glTF of a")
    body = {"sourcePath": "/a.obj", "destinationPath": "/b.obj"}
    assert museum.change("POST", "copyFile", body).status == 200
    copied = glb_key("statue", "/b.obj", head_of(museum.objects, "/b.obj").version.version_id)
    assert views(museum) == [made_of, copied.removeprefix("statue")]


def test_turntables_go_with_glbs(museum: Gallery) -> None:
    version = museum.put("/a.obj")
    view(museum, turntable_key("statue", "/a.obj", version).removeprefix("statue"), b"PNG")
    body = {"sourcePath": "/a.obj", "destinationPath": "/b.obj"}
    assert museum.change("POST", "copyFile", body).status == 200
    copied = head_of(museum.objects, "/b.obj").version.version_id
    kept = turntable_key("statue", "/b.obj", copied).removeprefix("statue")
    assert kept in views(museum)
    removal = {"filePath": "/a.obj", "confirmPermanentDelete": True}
    assert museum.change("DELETE", "deleteFile", removal).status == 200
    assert views(museum) == [kept]


def test_a_moved_file_leaves_the_glbs_of_its_archived_versions(museum: Gallery) -> None:
    made_of = shown(museum, "/a.obj", museum.put("/a.obj"))
    body = {"sourcePath": "/a.obj", "destinationPath": "/b.obj"}
    assert museum.change("POST", "moveFile", body).status == 200
    copied = glb_key("statue", "/b.obj", head_of(museum.objects, "/b.obj").version.version_id)
    assert views(museum) == [made_of, copied.removeprefix("statue")]


def test_a_copy_by_a_user_is_no_output_of_a_workflow(museum: Gallery) -> None:
    assert isinstance(museum.objects, MemoryObjects)
    written = {WORKFLOWS_METADATA: "museum:convert", CHANGE_METADATA: "e1"}
    museum.objects.put(BUCKET, "statue/a.obj", b"o", content_type="", metadata=written)
    body = {"sourcePath": "/a.obj", "destinationPath": "/b.obj"}
    assert museum.change("POST", "copyFile", body).status == 200
    assert WORKFLOWS_METADATA not in head_of(museum.objects, "/b.obj").metadata
