"""Objects of another bucket as files of an asset: the rules of uploads hold for them."""

from dataclasses import replace
from typing import Any

import pytest

from backend.aws.objects import S3Objects
from backend.core.identity import Identity
from backend.core.objects import ObjectRef
from backend.core.part_copies import PartCopies
from backend.domains.databases.models import UpdateDatabaseBody
from backend.domains.files.models import VersionOrigin
from backend.domains.files.service.origin_records import OriginRecords
from backend.domains.uploads.service.deposits import Deposit, Deposited, Deposits
from backend.spec.buckets import CHANGE_METADATA
from tests.factories.assets import NOON
from tests.factories.files import AUXILIARY, BUCKET, GLB, Gallery
from tests.unit.domains.uploads.calls import MIB, head, stored_head

SOURCE = "pipelines/e1/1/files/"


class Runs:
    """Deposits of what runs wrote into the asset `statue`; more than six mebibytes are large."""

    def __init__(self, museum: Gallery, objects: S3Objects) -> None:
        self.museum = museum
        parts = PartCopies(objects, 6 * MIB, lambda: NOON)
        services = museum.assets, museum.assets.databases, objects, parts
        self.deposits = Deposits(*services, OriginRecords(museum.files.files))

    def store(self, path: str, body: bytes = GLB, **more: Any) -> Deposited:
        key = SOURCE + path
        objects = self.museum.objects
        objects.put(AUXILIARY, key, body, content_type="text/plain", metadata={"a": "b"})
        return self.again(path, body, **more)

    def again(self, path: str, body: bytes = GLB, **more: Any) -> Deposited:
        values: dict[str, Any] = {"change": "e1", "metadata": {"vitrine-workflows": "a:b"}}
        values["origin"] = VersionOrigin(change_source="workflowExecution")
        deposit = Deposit(
            source=ObjectRef(AUXILIARY, SOURCE + path),
            size=len(body),
            path="/" + path,
            **values | more,
        )
        stored = self.deposits.store(self.deposits.place(self.museum.asset), deposit)
        return replace(stored, version_id=None)

    def versions(self, path: str) -> int:
        key = self.museum.asset.asset_location.key + path
        return len(self.museum.objects.list_versions(BUCKET, key).versions)


@pytest.fixture
def run(museum: Gallery, objects: S3Objects) -> Runs:
    return Runs(museum, objects)


def test_an_object_becomes_a_file_with_its_path_and_nothing_of_its_own_metadata(
    run: Runs,
) -> None:
    assert run.store("parts/a b/pump.glb") == Deposited()
    stored = stored_head(run.museum, "/parts/a b/pump.glb")
    assert stored.metadata == {"vitrine-workflows": "a:b", CHANGE_METADATA: "e1"}
    assert stored.content_type == "model/gltf-binary"


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("a/../b.glb", "must not contain the segment '..'"),
        ("a//b.glb", "must not contain an empty segment ('//')"),
        ("a/./b.glb", "must not contain the segment '.'"),
        ("tool.exe", "files with the extension .exe are blocked in this deployment"),
        ("a\tb.glb", "must not contain control characters"),
        ("a\\b.glb", "must not contain \\"),
        ("x.previewFile.png", "there is no file /x that this preview could belong to"),
        ("x.previewFile.tif", "the name of a file's preview must end with"),
        ("x.previewFile.webp", "the name of a file's preview must end with"),
        ("n" * 256, "must have 1 to 255 characters"),
    ],
)
def test_what_no_upload_may_create_is_refused_with_the_reason(
    run: Runs, path: str, reason: str
) -> None:
    assert reason in (run.store(path).refused or "")


def test_an_executable_is_refused_whatever_its_name_is(run: Runs) -> None:
    assert run.store("a.glb", b"MZ" + bytes(60)).refused == (
        "the content is a Windows executable, which is not accepted"
    )
    assert head(run.museum, "/a.glb") is None


def test_a_preview_is_stored_beside_its_file_and_replaces_others(run: Runs) -> None:
    run.museum.put("/a.glb")
    run.museum.put("/a.glb.previewFile.jpg")
    assert "at most" in (run.store("a.glb.previewFile.png", bytes(5 * MIB + 1)).refused or "")
    assert run.store("a.glb.previewFile.png") == Deposited()
    assert head(run.museum, "/a.glb.previewFile.jpg") is None


def test_a_repetition_stores_no_second_version_and_another_execution_does(run: Runs) -> None:
    run.store("a.glb")
    assert run.again("a.glb", repeated=True) == Deposited()
    assert run.versions("a.glb") == 1
    assert run.museum.file_info("/a.glb").body["changeSource"] == "workflowExecution"
    assert run.again("a.glb", change="e2") == Deposited()
    assert run.versions("a.glb") == 2
    newer = run.museum.put("/a.glb", b"glTF newer")  # by a user
    assert run.again("a.glb", change="e2", repeated=True) == Deposited()
    assert stored_head(run.museum, "/a.glb").version.version_id == newer


def test_a_large_file_is_copied_by_parts_and_found_again(run: Runs) -> None:
    body = bytes(11 * MIB)
    begun = run.store("big.bin", body)
    assert begun.copy_id is not None
    assert run.again("big.bin", body, copy_id=begun.copy_id) == Deposited()
    assert stored_head(run.museum, "/big.bin").version.size == len(body)
    assert run.again("big.bin", body, copy_id=begun.copy_id, repeated=True) == Deposited()
    assert run.versions("big.bin") == 1


def test_an_object_that_was_deleted_is_refused(run: Runs) -> None:
    assert run.again("a.glb").refused == "the object no longer exists"
    refused = run.again("big.bin", bytes(11 * MIB), copy_id="none").refused
    assert refused == "the object no longer exists"


def test_the_extensions_of_the_database_hold(run: Runs) -> None:
    run.museum.assets.databases.update_database(
        Identity("admin"),
        "museum",
        UpdateDatabaseBody(restrict_file_uploads_to_extensions=".glb,.e57"),
    )
    assert (
        run.store("a.obj").refused
        == "the database accepts only files with the extensions .e57 .glb"
    )
    assert run.store("a.GLB") == Deposited()
