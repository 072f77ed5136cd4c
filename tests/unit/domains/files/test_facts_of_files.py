"""Facts go with their file: moved, copied also to other databases, deleted."""

import pytest

from backend.domains.databases.models import CreateDatabaseBody
from backend.domains.metadata.models import Entity, Record
from backend.domains.metadata_schemas.models import CreateSchemaBody, SchemaField, SchemaFields
from backend.entrypoints.wiring.metadata import records
from backend.entrypoints.wiring.metadata_schemas import metadata_schemas
from tests.factories.assets import ADMIN, created_asset
from tests.factories.buckets import BUCKET_ID
from tests.factories.files import Gallery, gallery
from tests.unit.domains.files.changes import TickingClock, memory, note, notes

FACTS = {"fact_triangles": "12", "fact_shape": "AAAA"}
MOVE = {"sourcePath": "/a.glb", "destinationPath": "/parts/b.glb"}


@pytest.fixture
def museum() -> Gallery:
    museum = gallery(*memory(), clock=TickingClock())
    museum.put("/a.glb")
    entity = Entity("museum", "statue", "/a.glb", "attribute")
    records(museum.changing).put_facts(
        entity, [Record(metadata_key=key, metadata_value=text) for key, text in FACTS.items()]
    )
    return museum


def test_a_moved_file_takes_its_facts_along(museum: Gallery) -> None:
    assert museum.change("POST", "moveFile", MOVE).status == 200
    assert notes(museum, "/parts/b.glb", kind="attribute") == FACTS
    assert notes(museum, "/a.glb", kind="attribute") == {}


def test_a_deleted_file_leaves_no_facts(museum: Gallery) -> None:
    body = {"filePath": "/a.glb", "confirmPermanentDelete": True}
    assert museum.change("DELETE", "deleteFile", body).status == 200
    assert notes(museum, "/a.glb", kind="attribute") == {}


@pytest.mark.parametrize("has_own", [False, True])
def test_facts_are_copied_into_a_database_whose_schemas_know_no_such_keys(
    museum: Gallery, has_own: bool
) -> None:
    body = CreateDatabaseBody(
        database_id="strict",
        description="Takes few keys",
        default_bucket_id=BUCKET_ID,
        restrict_metadata_outside_schemas=True,
    )
    museum.assets.databases.create_database(ADMIN, body)
    created_asset(museum.assets, "bust", database_id="strict")
    year = SchemaField(metadata_field_key_name="year", metadata_field_value_type="string")
    schema = CreateSchemaBody(
        database_id="strict",
        metadata_schema_entity_type="fileAttribute",
        schema_name="Years",
        fields=SchemaFields(fields=[year]),
    )
    metadata_schemas(museum.changing).create_schema(ADMIN, schema)
    own = {"year": "1889"} if has_own else {}
    for key, value in own.items():
        note(museum, "/a.glb", key, value, kind="attribute")
    to = {"destinationAssetId": "bust", "destinationDatabaseId": "strict"}
    answer = museum.change("POST", "copyFile", MOVE | to)
    assert answer.status == 200, answer.body
    ids = ("strict", "bust")
    assert notes(museum, "/parts/b.glb", kind="attribute", ids=ids) == FACTS | own
