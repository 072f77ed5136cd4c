"""Results of the shipped pipelines: facts, thumbnails, GLBs, previews of assets."""

from collections.abc import Callable
from typing import Any

import pytest

from backend.core.objects import ObjectHead, ObjectRef, ObjectRefusedError, Written
from backend.domains.assets.models import Asset
from backend.domains.facts.service.commands import FactCommands
from backend.spec.buckets import GENERATED, PREVIEW_METADATA, PRIMARY_TYPE_METADATA
from backend.spec.inspection_outputs import GLB, STRUCTURE, TURNTABLE, InspectionOutput
from backend.spec.key_layouts import (
    generated_preview_key,
    glb_key,
    small_preview_key,
    structure_key,
    turntable_key,
)
from tests.factories.assets import ADMIN
from tests.factories.files import AUXILIARY, BUCKET
from tests.factories.outputs import PNG, OutputSetup, result
from tests.fakes.objects import MemoryObjects
from tests.unit.domains.files.changes import notes

SHOWN, SMALL = "/a.obj.previewFile.png", "/a.obj.previewFile.webp"
WEBP = b"RIFF\x20\0\0\0WEBP"
GENERATED_KEY = generated_preview_key("", "statue")


def inspected(
    studio: OutputSetup, path: str = "/a.obj", execution_id: str = "e1", **more: Any
) -> tuple[str, str]:
    """A file whose inspection was written; its version and the state of storing it."""
    version = reported(studio, path, execution_id, **more)
    return version, studio.stores(execution_id).state


def reported(
    studio: OutputSetup, path: str = "/a.obj", execution_id: str = "e1", **more: Any
) -> str:
    """Put a file, and write the result of its inspection; return the version."""
    version = studio.museum.put(path)
    studio.inspected(path, version, execution_id)
    wrote(studio, version, execution_id, **more)
    return version


def wrote(studio: OutputSetup, version: str, execution_id: str = "e1", **more: Any) -> None:
    made = {"thumbnail": "thumbnail.png", "glb": "model.glb", **more}
    studio.wrote("1/metadata/inspection.json", result(version, **made), execution_id)
    studio.wrote("1/previews/thumbnail.png", PNG + execution_id.encode(), execution_id)
    studio.wrote("1/files/model.glb", b"glTF", execution_id)


def _returns(value: object) -> Callable[..., object]:
    def method(*_: object) -> object:
        return value

    return method


def asset(studio: OutputSetup) -> Asset:
    return studio.museum.assets.get_asset(ADMIN, "museum", "statue")


def glb(studio: OutputSetup, version: str, path: str = "/a.obj") -> bool:
    head = studio.objects.head(AUXILIARY, glb_key("statue", path, version))
    return isinstance(head, ObjectHead)


def shown_of_asset(studio: OutputSetup) -> bytes:
    return studio.objects.read_start(BUCKET, GENERATED_KEY, length=1000)


def test_facts_thumbnail_and_glb_are_stored_once_as_the_product_itself(studio: OutputSetup) -> None:
    version, state = inspected(studio)
    assert state == "done"
    assert notes(studio.museum, "/a.obj", kind="attribute")["fact_triangles"] == "12"
    head = studio.head(SHOWN)
    assert head is not None
    assert head.metadata[PREVIEW_METADATA] == GENERATED
    assert glb(studio, version)
    outputs = studio.outputs()
    assert (outputs.metadata, outputs.previews) == (["/a.obj"], ["/a.obj"])
    assert outputs.files == [glb_key("statue", "/a.obj", version)]
    assert studio.museum.list_files().body["items"][0]["relativePath"] == "/a.obj"
    assert len(studio.museum.list_files().body["items"]) == 1
    path = glb_key("statue", "/a.obj", version).removeprefix("statue/")
    streamed = studio.museum.stream(path, method="HEAD", family="auxiliaryPreviewAssets")
    assert streamed.status == 200
    stranger = studio.museum.as_user("ann")
    refused = stranger.stream(path, method="HEAD", family="auxiliaryPreviewAssets")
    assert refused.status == 403
    assert studio.stores().state == "done"
    assert studio.versions(SHOWN) == 1
    assert studio.outputs().file_count == 1
    assert glb(studio, version)


def test_the_glb_and_the_preview_are_stored_before_the_facts(
    studio: OutputSetup, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With facts and without a GLB, a file would be described as one without a model."""
    version = reported(studio)
    stored: list[bool] = []

    def note(*_: object) -> bool:
        stored.append(glb(studio, version) and studio.head(SHOWN) is not None)
        return True

    monkeypatch.setattr(FactCommands, "record", note)
    assert (studio.stores().state, stored) == ("done", [True])


def test_the_small_picture_is_stored_with_the_preview_of_the_file_and_of_the_asset(
    studio: OutputSetup,
) -> None:
    for execution_id in ("e1", "e2"):
        reported(studio, "/a.obj", execution_id, small="thumbnail.webp")
        studio.wrote("1/previews/thumbnail.webp", WEBP + execution_id.encode(), execution_id)
        assert studio.stores(execution_id).state == "done"
        assert studio.body(SMALL) == WEBP + execution_id.encode()
        key = small_preview_key(GENERATED_KEY)
        assert studio.objects.read_start(BUCKET, key, length=99) == studio.body(SMALL)
        assert studio.stores(execution_id).state == "done", "a repeated call"
    assert len(studio.museum.list_files().body["items"]) == 1
    inspected(studio, execution_id="e3", thumbnail=None)
    assert studio.head(SMALL) is None


def test_a_small_picture_of_another_format_is_refused_and_the_preview_kept(
    studio: OutputSetup,
) -> None:
    reported(studio, small="thumbnail.webp")
    studio.wrote("1/previews/thumbnail.webp", b"RIFF\0\0\0\0WAVE")
    assert studio.stores().state == "refused"
    assert (studio.head(SMALL), studio.head(SHOWN) is None) == (None, False)


@pytest.mark.parametrize(
    ("output", "content", "key_of"),
    [(TURNTABLE, PNG, turntable_key), (STRUCTURE, b"\x1f\x8b\x08{}", structure_key)],
)
def test_an_output_is_stored_beside_the_glb_and_streamed(
    studio: OutputSetup,
    output: InspectionOutput,
    content: bytes,
    key_of: Callable[[str, str, str], str],
) -> None:
    version = reported(studio, **{output.name: output.file})
    studio.wrote(f"1/{output.folder}/{output.file}", content)
    assert studio.stores().state == "done"
    path = key_of("statue", "/a.obj", version).removeprefix("statue/")
    assert path.startswith("glb/")
    streamed = studio.museum.stream(path, method="HEAD", family="auxiliaryPreviewAssets")
    assert streamed.status == 200


def test_a_users_own_preview_always_wins_and_is_never_overwritten(studio: OutputSetup) -> None:
    studio.museum.put("/a.obj")
    studio.museum.put("/a.obj.previewFile.jpg", b"of a user")
    inspected(studio)
    assert studio.head(SHOWN) is None
    assert studio.body("/a.obj.previewFile.jpg") == b"of a user"
    studio.museum.put(SHOWN, b"of a user")
    inspected(studio, execution_id="e2")
    assert studio.body(SHOWN) == b"of a user"
    assert studio.versions(SHOWN) == 1


@pytest.mark.parametrize(("small", "copy"), [(None, 1), ("thumbnail.webp", 2)])
def test_a_preview_that_a_user_puts_meanwhile_is_shown_in_the_end(
    studio: OutputSetup, small: str | None, copy: int
) -> None:
    """Before the copy of the preview, or of the small picture, which is then removed."""
    reported(studio, small=small)
    studio.wrote("1/previews/thumbnail.webp", WEBP)
    objects = studio.objects
    assert isinstance(objects, MemoryObjects)
    copies: list[str] = []

    def put_before_the_copy(operation: str) -> None:
        copies.append(operation)
        if operation == "copy" and copies.count("copy") == copy:
            studio.museum.put(SHOWN, b"of a user")

    objects.before = put_before_the_copy
    assert studio.stores().state == "done"
    assert (studio.body(SHOWN), studio.head(SMALL)) == (b"of a user", None)


def test_a_generated_preview_is_replaced_and_goes_where_there_is_none_any_more(
    studio: OutputSetup,
) -> None:
    inspected(studio, execution_id="e1")
    inspected(studio, execution_id="e2")
    assert studio.body(SHOWN) == PNG + b"e2"
    inspected(studio, execution_id="e3", thumbnail=None)
    assert studio.head(SHOWN) is None


def test_a_name_too_long_for_a_preview_and_a_glb_leaves_the_facts(
    studio: OutputSetup, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store limits keys to 1,024 bytes, and one on a file system each name to 255."""
    path, copy = f"/{'n' * 251}.obj", MemoryObjects.copy

    def within_limits(
        self: MemoryObjects, source: ObjectRef, target: ObjectRef, **more: Any
    ) -> Written:
        if len(target.key) > 250:
            raise ObjectRefusedError(target.key, "KeyTooLongError Your key is too long.")
        return copy(self, source, target, **more)

    monkeypatch.setattr(MemoryObjects, "copy", within_limits)
    version, state = inspected(studio, path)
    assert state == "done"
    assert notes(studio.museum, path, kind="attribute")["fact_triangles"] == "12"
    assert studio.head(f"{path}.previewFile.png") is None
    assert not glb(studio, version, path)
    assert shown_of_asset(studio).endswith(b"e1")


@pytest.mark.parametrize("change", ["newer", "archived", "quarantined", "assetArchived", "deleted"])
def test_a_result_is_dropped_where_the_file_is_not_what_was_read(
    studio: OutputSetup, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    version = reported(studio)
    match change:
        case "newer":
            studio.museum.put("/a.obj")
        case "archived":
            studio.museum.change("DELETE", "archiveFile", {"filePath": "/a.obj"})
        case "deleted":
            body = {"filePath": "/a.obj", "confirmPermanentDelete": True}
            studio.museum.change("DELETE", "deleteFile", body)
        case "quarantined":
            outcome = {("statue/a.obj", version)}
            monkeypatch.setattr(type(studio.museum.files.quarantine), "among", _returns(outcome))
        case _:
            archived = studio.museum.asset.model_copy(update={"status": "archived"})
            monkeypatch.setattr(type(studio.museum.assets), "find_asset", _returns(archived))
    assert studio.stores().state == "done"
    monkeypatch.undo()
    assert notes(studio.museum, "/a.obj", kind="attribute") == {}
    assert studio.head(SHOWN) is None
    assert not glb(studio, version)
    outputs = studio.outputs()
    assert (outputs.file_count, outputs.preview_count, outputs.refused_count) == (0, 0, 0)


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        (None, "1/metadata/inspection.json: was not written"),
        (b"{", "is not valid JSON"),
        ({"version": 2}, "version"),
        (result("v-other"), "belongs to version v-other"),
        (b"x" * (4 * 1024**2 + 1), "has more than"),
    ],
)
def test_a_result_that_is_none_fails_the_execution(
    studio: OutputSetup, written: Any, reason: str
) -> None:
    studio.inspected("/a.obj", studio.museum.put("/a.obj"))
    if written is not None:
        studio.wrote("1/metadata/inspection.json", written)
    stored = studio.stores()
    assert stored.state == "refused"
    assert reason in stored.cause


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        ({"thumbnail": "../../../../other/1/previews/x.png"}, "must be a file name"),
        ({"glb": "..\\model.glb"}, "must be a file name"),
        ({"thumbnail": "absent.png"}, "1/previews/absent.png: was not written"),
        ({"glb": "absent.glb"}, "1/files/absent.glb: was not written"),
    ],
)
def test_names_that_lead_elsewhere_or_nowhere_are_refused(
    studio: OutputSetup, made: dict[str, str], reason: str
) -> None:
    _, state = inspected(studio, **made)
    assert state == "refused"
    assert reason in studio.outputs().refused[0].path + ": " + studio.outputs().refused[0].reason


def test_objects_that_are_not_in_their_format_are_not_stored(studio: OutputSetup) -> None:
    version = reported(studio)
    studio.wrote("1/previews/thumbnail.png", b"<svg onload=alert(1)>")
    studio.wrote("1/files/model.glb", b"MZ not a model")
    assert studio.stores().state == "refused"
    assert studio.outputs().refused_count == 2
    assert studio.head(SHOWN) is None
    assert not glb(studio, version)


def test_a_glb_larger_than_the_reader_may_write_is_not_stored(
    studio: OutputSetup, monkeypatch: pytest.MonkeyPatch
) -> None:
    version = reported(studio)
    head = MemoryObjects.head

    def with_a_large_glb(self: MemoryObjects, bucket: str, key: str, **more: Any) -> Any:
        outcome = head(self, bucket, key, **more)
        if not isinstance(outcome, ObjectHead) or not key.endswith("1/files/model.glb"):
            return outcome
        return outcome._replace(version=outcome.version._replace(size=GLB.most_bytes + 1))

    monkeypatch.setattr(MemoryObjects, "head", with_a_large_glb)
    assert studio.stores().state == "refused"
    assert not glb(studio, version)


def test_a_refused_file_has_the_reason_as_a_fact_and_its_execution_succeeds(
    studio: OutputSetup,
) -> None:
    _, state = inspected(studio, facts={}, refused="is truncated", thumbnail=None, glb=None)
    assert state == "done"
    assert notes(studio.museum, "/a.obj", kind="attribute")["fact_refused"] == "is truncated"


def test_the_asset_shows_its_primary_or_else_its_largest_file(studio: OutputSetup) -> None:
    inspected(studio, "/small.obj", "e1")
    assert shown_of_asset(studio).endswith(b"e1")
    large = studio.museum.put("/large.obj", bytes(500))
    studio.inspected("/large.obj", large, "e2")
    wrote(studio, large, "e2")
    studio.stores("e2")
    assert shown_of_asset(studio).endswith(b"e2")
    inspected(studio, "/other.obj", "e3")
    assert shown_of_asset(studio).endswith(b"e2")
    marked = {PRIMARY_TYPE_METADATA: "primary"}
    written = studio.objects.put(BUCKET, "statue/main.obj", b"o", content_type="", metadata=marked)
    studio.inspected("/main.obj", written.version_id, "e4")
    wrote(studio, written.version_id, "e4")
    studio.stores("e4")
    assert shown_of_asset(studio).endswith(b"e4")
    location = asset(studio).preview_location
    assert location is not None
    assert location.key == GENERATED_KEY


def test_previews_that_users_put_are_kept_and_shown(studio: OutputSetup) -> None:
    inspected(studio)
    studio.museum.put("/preview.png", b"of a user")
    _, key = studio.museum.files.preview_of(asset(studio))
    assert key == "statue/preview.png"
    studio.museum.assets.set_content(asset(studio), preview_key="previews/statue/mine.png")
    inspected(studio, execution_id="e2")
    location = asset(studio).preview_location
    assert location is not None
    assert location.key == "previews/statue/mine.png"
