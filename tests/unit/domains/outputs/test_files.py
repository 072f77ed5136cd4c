"""Files, previews, metadata and attributes that executions wrote."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest

from backend.core.errors import UnavailableError
from backend.core.identity import Identity
from backend.core.objects import ObjectHead
from backend.core.previews import asset_preview_version
from backend.domains.files.repository import FileChangeRepository
from backend.domains.metadata_schemas.models import CreateSchemaBody, SchemaField, SchemaFields
from backend.domains.outputs import rules
from backend.spec.buckets import CHANGE_METADATA, WORKFLOWS_METADATA
from backend.spec.key_layouts import glb_key, turntable_key
from backend.spec.routes import Route
from tests.factories.access import OnlyUser
from tests.factories.assets import ADMIN
from tests.factories.executions import new_execution, pipeline_snapshot
from tests.factories.files import AUXILIARY, BUCKET
from tests.factories.metadata import schema_service
from tests.factories.outputs import MIB, PNG, OutputSetup
from tests.fakes.objects import MemoryObjects
from tests.unit.domains.files.changes import TickingClock, audit_entries, note, notes


def test_files_keep_their_path_and_name_the_workflows_that_led_to_them(studio: OutputSetup) -> None:
    written = {"1/files/test/pump.e57": b"points", "1/files/test/pump.glb": b"glTF"}
    assert studio.run(written, chain=["museum:scan", "museum:convert-all"]).state == "done"
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
    written = {
        "1/files/a.glb": b"glTF",
        "1/files/a.glb.previewFile.gif": b"GIF89a",
        "1/previews/b/c.glb.previewFile.png": PNG,
        "1/files/b/c.glb": b"glTF",
    }
    assert studio.run(written).state == "done"
    assert studio.head("/a.glb.previewFile.gif") is not None
    assert studio.head("/b/c.glb.previewFile.png") is not None
    assert studio.outputs().previews == ["/a.glb.previewFile.gif", "/b/c.glb.previewFile.png"]


def test_a_preview_without_its_file_fails_the_execution_and_the_rest_is_stored(
    studio: OutputSetup,
) -> None:
    stored = studio.run({"1/files/a.glb": b"glTF", "1/previews/b.glb.previewFile.png": PNG})
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
    assert studio.run({"1/previews/preview.png": PNG}).state == "done"
    _, key = studio.museum.files.preview_of(studio.museum.asset)
    assert key == "statue/preview.png"


def test_an_image_of_any_name_among_the_previews_is_that_of_the_asset(studio: OutputSetup) -> None:
    stored = studio.run({"1/previews/render.jpg": b"\xff\xd8", "1/previews/notes.txt": b"none"})
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
        ("a.elf.glb", "the content is an ELF executable"),
    ],
)
def test_what_no_upload_may_create_is_refused(studio: OutputSetup, name: str, reason: str) -> None:
    written = {f"1/files/{name}": b"\x7fELF" + bytes(20) if "elf" in name else b"glTF"}
    assert reason in studio.run(written).cause
    assert studio.outputs().file_count == 0


def test_of_pipelines_that_write_the_same_name_the_last_one_counts(studio: OutputSetup) -> None:
    written = {"1/files/a.glb": b"first", "1/files/b.glb": b"first", "2/files/a.glb": b"second"}
    assert studio.run(written, pipelines=2).state == "done"
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


def test_a_repetition_stores_nothing_twice_and_leaves_the_run_prefix(studio: OutputSetup) -> None:
    studio.started()
    key = studio.wrote("1/files/a.glb")
    assert studio.stores() == studio.stores()
    assert studio.versions("/a.glb") == 1
    assert studio.outputs().file_count == 1
    assert studio.objects.head(AUXILIARY, key) is not None


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


def test_rights_are_those_of_the_user_when_outputs_are_stored(studio: OutputSetup) -> None:
    stored = studio.run({"1/files/a.glb": b"glTF"}, started_by="ann")
    assert stored.state == "refused"
    assert "Asset statue does not exist" in stored.cause
    assert studio.head("/a.glb") is None
    written = {"1/files/a.glb": b"glTF"}
    stopped = studio.run(written, execution_id="e2", workflow_id="w", execution_status="ABORTED")
    assert "the execution is ABORTED" in stopped.cause
    assert studio.head("/a.glb") is None
    stored = studio.commands.store_outputs("nope")
    assert (stored.state, "does not exist" in stored.cause) == ("refused", True)
    assert (
        studio.run(written, execution_id="e3", workflow_id="x", started_by="SYSTEM").state == "done"
    )


def test_a_user_who_may_not_upload_stores_no_files_and_large_ones_neither(
    studio: OutputSetup,
) -> None:
    class NoRoutes(OnlyUser):
        def may_use(self, caller: Identity, route: Route, path: Mapping[str, str]) -> bool:
            return False

    studio.authorization = NoRoutes()
    written = {
        "1/files/a.glb": b"glTF",
        "1/files/a.glb.previewFile.png": PNG,
        "1/files/big.bin": bytes(7 * MIB),
        "1/metadata/metadata.json": {"material": "marble"},
    }
    assert "admin has no permission for POST /uploads" in studio.run(written).cause
    assert studio.outputs().refused_count == 4
    assert studio.head("/a.glb") is None


def records(*keys: str, **more: Any) -> dict[str, Any]:
    """A metadata file with a text for each key."""
    result = [
        {"metadataKey": key, "metadataValue": f"{key}!", "metadataValueType": "string"}
        for key in keys
    ]
    return {"metadata": result, **more}


@pytest.fixture
def running(studio: OutputSetup) -> OutputSetup:
    studio.started()
    studio.museum.put("/test/pump.glb")
    return studio


def test_metadata_files_describe_the_asset_files_and_folders(running: OutputSetup) -> None:
    running.wrote("1/metadata/metadata.json", {"material": "marble", "pieces": 3, "old": True})
    running.wrote("1/metadata/asset.metadata.json", records("artist"))
    running.wrote("1/metadata/test/pump.glb.metadata.json", records("vendor"))
    running.wrote("1/metadata/test/pump.glb/metadata.json", records("model"))
    running.wrote("1/metadata/test/metadata.json", records("room"))
    running.wrote("1/metadata/test/pump.glb.attribute.json", records("serial", type="attribute"))
    assert running.stores().state == "done"
    assert notes(running.museum, "/") == {
        "material": "marble",
        "pieces": "3",
        "old": "true",
        "artist": "artist!",
    }
    assert notes(running.museum, "/test/pump.glb") == {"vendor": "vendor!", "model": "model!"}
    assert notes(running.museum, "/test/pump.glb", kind="attribute") == {"serial": "serial!"}
    assert notes(running.museum, "/test") == {"room": "room!"}
    assert running.outputs().metadata_count == 6


def test_metadata_of_files_and_of_later_pipelines_is_written(studio: OutputSetup) -> None:
    written = {"1/files/a.glb": b"glTF", "1/metadata/a.glb.metadata.json": records("vendor")}
    assert studio.run(written).state == "done"
    assert notes(studio.museum, "/a.glb") == {"vendor": "vendor!"}
    written = {
        "1/metadata/metadata.json": {"a": "1", "b": "1"},
        "2/metadata/metadata.json": {"a": "2"},
    }
    assert studio.run(written, execution_id="e2", workflow_id="w", pipelines=2).state == "done"
    assert notes(studio.museum, "/") == {"a": "2"}


def test_metadata_of_a_file_that_is_being_moved_is_stored_later(running: OutputSetup) -> None:
    changes = FileChangeRepository(running.tables)
    asset, paths = running.museum.asset, ["/test/", "/moved/"]
    changes.commit(asset, changes.state("statue"), "moveFolder.1", [], paths)
    running.wrote("1/metadata/test/pump.glb.metadata.json", records("vendor"))
    with pytest.raises(UnavailableError, match=r"changed by job moveFolder\.1"):
        running.stores()
    changes.release("statue", "moveFolder.1")
    assert running.stores().state == "done"
    assert notes(running.museum, "/test/pump.glb") == {"vendor": "vendor!"}


def test_an_update_leaves_other_keys_and_a_replacement_removes_them(running: OutputSetup) -> None:
    note(running.museum, "/", "artist", "unknown")
    note(running.museum, "/test/pump.glb", "vendor", "unknown")
    running.wrote("1/metadata/asset.metadata.json", records("material"))
    replaced = records("model", updateType="replace_all")
    running.wrote("1/metadata/test/pump.glb.metadata.json", replaced)
    assert running.stores().state == "done"
    assert notes(running.museum, "/") == {"artist": "unknown", "material": "material!"}
    assert notes(running.museum, "/test/pump.glb") == {"model": "model!"}


def test_the_inspection_among_other_pipelines_is_no_metadata(studio: OutputSetup) -> None:
    snapshots = [pipeline_snapshot("own"), pipeline_snapshot("again", resource="Inspect")]
    execution = new_execution(execution_status="RUNNING", started_by="admin", pipelines=snapshots)
    studio.executions.create(execution)
    studio.wrote("2/metadata/inspection.json", {"facts": {"triangles": 1}})
    studio.wrote("2/metadata/metadata.json", {"material": "bronze"})
    assert studio.stores().state == "done"
    assert studio.outputs().metadata == ["/"]
    forged = studio.started("e2", workflow_id="other")
    studio.wrote("1/metadata/inspection.json", {"facts": {}}, forged.execution_id)
    assert studio.stores("e2").state == "refused"


@pytest.mark.parametrize(
    "functions", [("Inspect", "InspectCad"), (None, "Inspect"), ("Inspect", None)]
)
def test_pictures_of_each_inspection_are_stored_as_those_of_the_first(
    studio: OutputSetup, functions: tuple[str | None, ...]
) -> None:
    snapshots = [
        pipeline_snapshot(f"p{number}", **({"resource": function} if function else {}))
        for number, function in enumerate(functions)
    ]
    execution = new_execution(execution_status="RUNNING", started_by="admin", pipelines=snapshots)
    studio.executions.create(execution)
    for number, function in enumerate(functions, 1):
        if function is not None:
            studio.wrote(f"{number}/metadata/inspection.json", {"facts": {}})
            studio.wrote(f"{number}/files/model.glb", b"glTF")
            studio.wrote(f"{number}/previews/thumbnail.png", PNG)
            studio.wrote(f"{number}/previews/thumbnail.webp", b"RIFF1234WEBP")
            studio.wrote(f"{number}/previews/turntable.png", PNG)
    stored = studio.stores()
    assert (stored.state, stored.cause) == ("done", "")
    model = studio.head("/model.glb")
    assert model is not None
    version = model.version.version_id
    turntable = turntable_key("statue", "/model.glb", version)
    assert studio.outputs().files == ["/model.glb"]
    assert studio.outputs().previews == ["/thumbnail.png", turntable]
    asset = studio.museum.assets.get_asset(ADMIN, "museum", "statue")
    assert asset.preview_location is not None
    assert asset.preview_location.key == "previews/statue/thumbnail.png"
    preview = asset_preview_version(studio.objects, BUCKET, asset.preview_location.key)
    assert preview.small is not None
    for key in (turntable, glb_key("statue", "/model.glb", version)):
        assert isinstance(studio.objects.head(AUXILIARY, key), ObjectHead)


def test_pictures_of_an_inspection_are_not_stored_beside_those_of_a_later_pipeline(
    studio: OutputSetup,
) -> None:
    snapshots = [pipeline_snapshot("p1", resource="Inspect"), pipeline_snapshot("p2")]
    execution = new_execution(execution_status="RUNNING", started_by="admin", pipelines=snapshots)
    studio.executions.create(execution)
    studio.wrote("1/previews/thumbnail.webp", b"RIFF1234WEBP")
    studio.wrote("1/previews/turntable.png", PNG)
    for number in (1, 2):
        studio.wrote(f"{number}/files/model.glb", b"glTF")
        studio.wrote(f"{number}/previews/thumbnail.png", PNG)
    assert studio.stores().state == "done"
    assert studio.outputs().previews == ["/thumbnail.png"]
    shown = asset_preview_version(studio.objects, BUCKET, "previews/statue/thumbnail.png")
    assert (shown.preview is None, shown.small) == (False, None)


@pytest.mark.parametrize(
    ("name", "body", "reason"),
    [
        ("metadata.json", b'{"metadata": [', "is not valid JSON"),
        ("metadata.json", b"[1, 2]", "must be a JSON object"),
        ("metadata.json", b"\xff\xfe", "is not valid JSON"),
        ("metadata.json", b"[" * 100_000, "is not valid JSON"),
        (
            "metadata.json",
            {"a": {"b": 1}},
            "the value of 'a' is not a text, finite number or boolean",
        ),
        ("metadata.json", {}, "at least 1 entry"),
        ("metadata.json", b'{"a": NaN}', "the value of 'a' is not a text, finite number"),
        ("metadata.json", {"a": 10**400}, "the value of 'a' is not a text, finite number"),
        ("asset.metadata.json", records(type="facts"), "must be 'metadata' or"),
        ("asset.metadata.json", records("a", updateType="merge"), "must be 'update' or"),
        ("asset.metadata.json", records("a", "a"), "is listed twice"),
        (
            "asset.metadata.json",
            {"metadata": [{"metadataKey": "n", "metadataValue": "x", "metadataValueType": "no"}]},
            "metadata.0.metadataValueType",
        ),
        (
            "asset.metadata.json",
            {"metadata": [{"metadataKey": "n", "metadataValue": "x", "metadataValueType": "xyz"}]},
            "metadata.0.metadataValue",
        ),
        ("asset.metadata.json", records(*(f"k{n}" for n in range(501))), "at most 500 entries"),
        ("absent.glb.metadata.json", records("a"), "/absent.glb"),
        ("absent.glb.attribute.json", records("a"), "/absent.glb"),
        ("../x.metadata.json", records("a"), "must not contain the segment '..'"),
        (".metadata.json", records("a"), "empty segment"),
        ("notes.txt", b"hello", "is not named metadata.json"),
        ("test/pump.glb.attribute.json", {"fact_triangles": "1"}, "fact_"),
    ],
)
def test_what_is_no_metadata_of_the_asset_is_refused_with_the_reason(
    running: OutputSetup, name: str, body: Any, reason: str
) -> None:
    running.wrote(f"1/metadata/{name}", body)
    stored = running.stores()
    assert stored.state == "refused"
    assert reason in stored.cause
    (refused,) = running.outputs().refused
    assert refused.path == f"1/metadata/{name}"


def test_a_metadata_file_of_many_bytes_is_not_read_to_its_end(
    running: OutputSetup, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rules, "MAX_METADATA_BYTES", 1000)
    running.wrote("1/metadata/metadata.json", {"a": "x" * 2000})
    assert "has more than 1000 bytes" in running.stores().cause


def test_metadata_of_more_than_500_records_with_those_that_are_there_is_refused(
    running: OutputSetup,
) -> None:
    note(running.museum, "/", "first", "1")
    running.wrote("1/metadata/metadata.json", records(*(f"k{n}" for n in range(500))))
    assert "There would be 501 keys" in running.stores().cause
    assert notes(running.museum, "/") == {"first": "1"}


def test_schemas_hold_for_what_executions_write(running: OutputSetup) -> None:
    fields = [SchemaField(metadata_field_key_name="height", metadata_field_value_type="number")]
    schema_service(running.museum.assets, running.tables).create_schema(
        ADMIN,
        CreateSchemaBody(
            database_id="museum",
            schema_name="Measures",
            metadata_schema_entity_type="assetMetadata",
            fields=SchemaFields(fields=fields),
        ),
    )
    running.wrote("1/metadata/metadata.json", {"height": "tall"})
    running.wrote("1/metadata/test/pump.glb.metadata.json", records("vendor"))
    stored = running.stores()
    assert "must be 'number', according to the metadata schema Measures" in stored.cause
    assert notes(running.museum, "/") == {}
    assert notes(running.museum, "/test/pump.glb") == {"vendor": "vendor!"}


def test_the_trail_names_the_user_the_execution_and_each_output(running: OutputSetup) -> None:
    running.wrote("1/files/a.glb")
    running.wrote("1/files/b.exe")
    running.wrote("1/metadata/metadata.json", {"material": "marble"})
    running.stores()
    entries = audit_entries(running.tables, "store_outputs")
    assert {entry["userId"] for entry in entries} == {"admin"}
    result = str(entries)
    assert "1/files/a.glb" in result
    assert "files with the extension .exe are blocked in this deployment" in result
    (written,) = audit_entries(running.tables, "update_asset_metadata")
    assert written["userId"] == "admin"
