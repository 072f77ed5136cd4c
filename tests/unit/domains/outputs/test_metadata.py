"""Metadata and attributes that executions wrote."""

from typing import Any

import pytest

from backend.domains.metadata_schemas.models import CreateSchemaBody, SchemaField, SchemaFields
from backend.domains.outputs import rules
from tests.factories.assets import ADMIN
from tests.factories.executions import new_execution, pipeline_snapshot
from tests.factories.metadata import schema_service
from tests.factories.outputs import PNG, OutputSetup
from tests.unit.domains.files.changes import audit_entries, note, notes


def records(*keys: str, **more: Any) -> dict[str, Any]:
    """A metadata file with a text for each key."""
    found = [
        {"metadataKey": key, "metadataValue": f"{key}!", "metadataValueType": "string"}
        for key in keys
    ]
    return {"metadata": found, **more}


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


def test_files_of_the_same_execution_can_be_described(studio: OutputSetup) -> None:
    studio.started()
    studio.wrote("1/files/a.glb")
    studio.wrote("1/metadata/a.glb.metadata.json", records("vendor"))
    assert studio.stores().state == "done"
    assert notes(studio.museum, "/a.glb") == {"vendor": "vendor!"}


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
    assert studio.outputs().files == ["/model.glb"]
    assert studio.outputs().previews == ["/thumbnail.png"]
    asset = studio.museum.assets.get_asset(ADMIN, "museum", "statue")
    assert asset.preview_location is not None
    assert asset.preview_location.key == "previews/statue/thumbnail.png"


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
    found = str(entries)
    assert "1/files/a.glb" in found
    assert "files with the extension .exe are blocked in this deployment" in found
    (written,) = audit_entries(running.tables, "update_asset_metadata")
    assert written["userId"] == "admin"


def test_metadata_that_a_later_pipeline_replaced_is_not_written(studio: OutputSetup) -> None:
    studio.started(pipelines=2)
    studio.wrote("1/metadata/metadata.json", {"a": "1", "b": "1"})
    studio.wrote("2/metadata/metadata.json", {"a": "2"})
    assert studio.stores().state == "done"
    assert notes(studio.museum, "/") == {"a": "2"}
