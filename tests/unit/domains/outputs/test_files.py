"""Files and previews that executions wrote."""

from collections.abc import Mapping
from datetime import timedelta

import pytest

from backend.core.errors import UnavailableError
from backend.core.identity import Identity
from backend.spec.buckets import CHANGE_METADATA, WORKFLOWS_METADATA
from backend.spec.routes import Route
from tests.factories.access import OnlyUser
from tests.factories.files import AUXILIARY
from tests.factories.outputs import MIB, PNG, OutputSetup
from tests.fakes.objects import MemoryObjects
from tests.unit.domains.files.changes import TickingClock, audit_entries


def test_files_keep_their_path_and_name_the_workflows_that_led_to_them(studio: OutputSetup) -> None:
    studio.started(chain=["museum:scan", "museum:convert-all"])
    studio.wrote("1/files/test/pump.e57", b"points")
    studio.wrote("1/files/test/pump.glb")
    assert studio.stores().state == "done"
    assert studio.body("/test/pump.e57") == b"points"
    head = studio.head("/test/pump.glb")
    assert head is not None
    assert head.metadata == {
        WORKFLOWS_METADATA: "museum:scan,museum:convert-all",
        CHANGE_METADATA: "e1",
    }
    outputs = studio.outputs()
    assert outputs.files == ["/test/pump.e57", "/test/pump.glb"]
    assert outputs.file_count == 2
    assert studio.museum.assets.get_asset(Identity("admin"), "museum", "statue").asset_type == (
        "folder"
    )


def test_previews_follow_their_files_wherever_they_were_written(studio: OutputSetup) -> None:
    studio.started()
    studio.wrote("1/files/a.glb")
    studio.wrote("1/files/a.glb.previewFile.gif", b"GIF89a")
    studio.wrote("1/previews/b/c.glb.previewFile.png", PNG)
    studio.wrote("1/files/b/c.glb")
    assert studio.stores().state == "done"
    assert studio.head("/a.glb.previewFile.gif") is not None
    assert studio.head("/b/c.glb.previewFile.png") is not None
    assert studio.outputs().previews == ["/a.glb.previewFile.gif", "/b/c.glb.previewFile.png"]


def test_a_preview_without_its_file_fails_the_execution_and_the_rest_is_stored(
    studio: OutputSetup,
) -> None:
    studio.started()
    studio.wrote("1/files/a.glb")
    studio.wrote("1/previews/b.glb.previewFile.png", PNG)
    stored = studio.stores()
    assert (stored.state, stored.error) == ("refused", "OutputsRefused")
    assert "Stored: 1 files, 0 previews, 0 metadata files" in stored.cause
    assert (
        "b.glb.previewFile.png: there is no file /b.glb that this preview could belong to"
        in stored.cause
    )
    (refused,) = studio.outputs().refused
    assert refused.path == "1/previews/b.glb.previewFile.png"
    assert studio.head("/a.glb") is not None


def test_the_preview_of_the_asset_is_stored_at_its_root(studio: OutputSetup) -> None:
    studio.started()
    studio.wrote("1/previews/preview.png", PNG)
    assert studio.stores().state == "done"
    _, key = studio.museum.files.preview_of(studio.museum.asset)
    assert key == "statue/preview.png"


def test_an_image_of_any_name_among_the_previews_is_that_of_the_asset(studio: OutputSetup) -> None:
    studio.started()
    studio.wrote("1/previews/render.jpg", b"\xff\xd8")
    studio.wrote("1/previews/notes.txt", b"none")
    stored = studio.stores()
    assert "1/previews/notes.txt: is not an image" in stored.cause
    asset = studio.museum.assets.get_asset(Identity("admin"), "museum", "statue")
    assert asset.preview_location is not None
    assert asset.preview_location.key == "previews/statue/render.jpg"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("../../other/a.glb", "must not contain the segment '..'"),
        ("//a.glb", "must not contain an empty segment ('//')"),
        ("a\x07b.glb", "must not contain control characters"),
        ("run.bat", "files with the extension .bat are blocked in this deployment"),
        ("e\u0301.glb", "must be Unicode in composed form"),
    ],
)
def test_what_no_upload_may_create_is_refused(studio: OutputSetup, name: str, reason: str) -> None:
    studio.started()
    studio.wrote(f"1/files/{name}")
    assert reason in studio.stores().cause
    assert studio.outputs().file_count == 0


def test_an_executable_is_refused(studio: OutputSetup) -> None:
    studio.started()
    studio.wrote("1/files/a.glb", b"\x7fELF" + bytes(20))
    assert "the content is an ELF executable" in studio.stores().cause


def test_of_pipelines_that_write_the_same_name_the_last_one_counts(studio: OutputSetup) -> None:
    studio.started(pipelines=2)
    studio.wrote("1/files/a.glb", b"first")
    studio.wrote("1/files/b.glb", b"first")
    studio.wrote("2/files/a.glb", b"second")
    assert studio.stores().state == "done"
    assert (studio.body("/a.glb"), studio.body("/b.glb")) == (b"second", b"first")
    assert studio.versions("/a.glb") == 1


def test_outputs_of_other_executions_and_further_pipelines_are_not_looked_at(
    studio: OutputSetup,
) -> None:
    studio.started()
    studio.wrote("2/files/a.glb")
    studio.wrote("1/files/b.glb", execution_id="e12")
    assert studio.stores().state == "done"
    assert studio.outputs().file_count == 0


def test_a_repetition_stores_nothing_twice(studio: OutputSetup) -> None:
    studio.started()
    studio.wrote("1/files/a.glb")
    assert studio.stores() == studio.stores()
    assert studio.versions("/a.glb") == 1
    assert studio.outputs().file_count == 1


def test_a_call_that_died_is_continued(studio: OutputSetup) -> None:
    studio.started()
    for number in range(5):
        studio.wrote(f"1/files/{number}.glb")
    objects = studio.objects
    assert isinstance(objects, MemoryObjects)
    copies = 0

    def die_at_the_third_copy(operation: str) -> None:
        nonlocal copies
        copies += operation == "copy"
        if operation == "copy" and copies == 3:
            raise UnavailableError("S3 does not answer")

    objects.before = die_at_the_third_copy
    with pytest.raises(UnavailableError):
        studio.stores()
    objects.before = lambda _: None
    assert studio.stores().state == "done"
    assert [studio.versions(f"/{number}.glb") for number in range(5)] == [1] * 5
    assert studio.outputs().file_count == 5


def test_many_files_take_several_calls_and_the_row_names_the_first(
    studio: OutputSetup, clock: TickingClock
) -> None:
    studio.started()
    for number in range(300):
        studio.wrote(f"1/files/{number:05}.txt", b"x")
    states: list[str] = []
    while not states or states[-1] == "more":
        states.append(_slow(studio, clock))
    assert states.count("more") >= 2
    outputs = studio.outputs()
    assert outputs.file_count == 300
    assert outputs.files[:2] == ["/00000.txt", "/00001.txt"]
    assert len(audit_entries(studio.tables, "store_outputs")) == 3


def _slow(studio: OutputSetup, clock: TickingClock) -> str:
    """One call, for which each copy takes half a second."""
    objects = studio.objects
    assert isinstance(objects, MemoryObjects)

    def wait(operation: str) -> None:
        clock.now += timedelta(seconds=0.5) if operation == "copy" else timedelta()

    objects.before = wait
    return studio.commands.store_outputs("e1").state


def test_a_large_file_is_copied_by_parts(studio: OutputSetup) -> None:
    studio.started()
    body = bytes(13 * MIB)
    studio.wrote("1/files/big.bin", body)
    studio.wrote("1/files/small.bin", b"x")
    assert studio.stores().state == "done"
    head = studio.head("/big.bin")
    assert head is not None
    assert head.version.size == len(body)
    assert head.metadata[CHANGE_METADATA] == "e1"
    assert studio.outputs().file_count == 2


def test_rights_are_those_that_the_user_has_when_outputs_are_stored(studio: OutputSetup) -> None:
    studio.started(started_by="ann")
    studio.wrote("1/files/a.glb")
    stored = studio.stores()
    assert stored.state == "refused"
    assert "Asset statue does not exist" in stored.cause
    assert studio.head("/a.glb") is None


def test_a_user_who_may_not_upload_stores_no_files_and_large_ones_neither(
    studio: OutputSetup,
) -> None:
    class NoRoutes(OnlyUser):
        def may_use(self, caller: Identity, route: Route, path: Mapping[str, str]) -> bool:
            return False

    studio.authorization = NoRoutes()
    studio.started()
    studio.wrote("1/files/a.glb")
    studio.wrote("1/files/a.glb.previewFile.png", PNG)
    studio.wrote("1/files/big.bin", bytes(7 * MIB))
    studio.wrote("1/metadata/metadata.json", {"material": "marble"})
    assert "admin has no permission for POST /uploads" in studio.stores().cause
    assert studio.outputs().refused_count == 4
    assert studio.head("/a.glb") is None


def test_the_product_itself_may_store_outputs(studio: OutputSetup) -> None:
    studio.started(started_by="SYSTEM")
    studio.wrote("1/files/a.glb")
    assert studio.stores().state == "done"


def test_an_execution_that_was_stopped_stores_nothing_more(studio: OutputSetup) -> None:
    studio.started(execution_status="ABORTED")
    studio.wrote("1/files/a.glb")
    assert "the execution is ABORTED" in studio.stores().cause
    assert studio.head("/a.glb") is None


def test_an_unknown_execution_is_refused_without_a_retry(studio: OutputSetup) -> None:
    stored = studio.commands.store_outputs("nope")
    assert (stored.state, "does not exist" in stored.cause) == ("refused", True)


def test_the_run_prefix_is_left_as_it_was(studio: OutputSetup) -> None:
    studio.started()
    key = studio.wrote("1/files/a.glb")
    studio.stores()
    assert studio.objects.head(AUXILIARY, key) is not None
