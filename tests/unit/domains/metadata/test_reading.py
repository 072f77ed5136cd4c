"""Reading metadata: its shape, its pages, and what versions kept of it."""

from backend.core.metadata_values import VALUE_TYPES
from backend.core.tables import Tables
from backend.domains.assets.service.commands import AssetService
from backend.domains.databases.models import UpdateDatabaseBody
from backend.spec.tables.assets import ASSET_FILE_METADATA_VERSIONS
from backend.spec.tables.metadata import ASSET_FILE_METADATA, FILE_ATTRIBUTES
from tests.factories.assets import ADMIN
from tests.factories.http import Client
from tests.unit.domains.metadata.calls import (
    FILE,
    add,
    add_to_file,
    all_keys,
    on_file,
    record,
    send,
    values,
)

SCHEMA_FIELDS = (
    "metadataSchemaName",
    "metadataSchemaField",
    "metadataSchemaRequired",
    "metadataSchemaSequence",
    "metadataSchemaDefaultValue",
    "metadataSchemaDependsOn",
    "metadataSchemaMultiFieldConflict",
    "metadataSchemaControlledListKeys",
)


def test_metadata_of_an_asset_is_listed_with_no_schema_speaking_of_it(client: Client) -> None:
    answer = send(client, "POST", body={"metadata": [record("weight", "12.5", "NUMBER")]})
    assert (answer.status, answer.body) == (
        200,
        {
            "success": True,
            "totalItems": 1,
            "successCount": 1,
            "failureCount": 0,
            "successfulItems": ["weight"],
            "failedItems": [],
            "message": "1 of 1 records were added",
            "timestamp": "2026-03-01T12:00:00.000000Z",
        },
    )
    assert send(client, "GET").body == {
        "metadata": [
            {
                "databaseId": "museum",
                "assetId": "statue",
                **record("weight", "12.5", "number"),
                **dict.fromkeys(SCHEMA_FIELDS),
                "metadataSchemaField": False,
            }
        ],
        "restrictMetadataOutsideSchemas": False,
        "message": "1 records",
    }


def test_rows_are_as_the_data_model_has_them(client: Client, tables: Tables) -> None:
    add(client, "weight")
    add_to_file(client, record("weight"))
    add_to_file(client, record("triangles"), type="attribute")
    rows = {
        "museum:statue:/": (ASSET_FILE_METADATA, "metadata", "weight"),
        "museum:statue:/a/b.glb": (ASSET_FILE_METADATA, "metadata", "weight"),
        "museum:statue:/a/b.glb ": (FILE_ATTRIBUTES, "attribute", "triangles"),
    }
    for sort_key, (table, name, key) in rows.items():
        stored = tables.get(
            table, {f"{name}Key": key, "databaseId:assetId:filePath": sort_key.strip()}
        )
        assert stored == {
            f"{name}Key": key,
            "databaseId:assetId:filePath": sort_key.strip(),
            "databaseId:assetId": "museum:statue",
            f"{name}Value": "v",
            f"{name}ValueType": "string",
        }


def test_an_asset_its_files_and_their_attributes_are_kept_apart(client: Client) -> None:
    send(client, "POST", body={"metadata": [record("k", "of the asset")]})
    add_to_file(client, record("k", "of the file"))
    add_to_file(client, record("k", "an attribute"), type="attribute")
    assert values(client) == {"k": "of the asset"}
    assert values(client, FILE, **on_file()) == {"k": "of the file"}
    assert values(client, FILE, **on_file("attribute")) == {"k": "an attribute"}
    assert values(client, FILE, **on_file(path="a/b.glb")) == {"k": "of the file"}
    listed = send(client, "GET", FILE, query=on_file()).body["metadata"][0]
    assert (listed["filePath"], listed["metadataSchemaName"]) == ("/a/b.glb", None)


def test_each_value_type_can_be_stored_and_read(client: Client) -> None:
    good = {
        "string": "any",
        "multiline_string": "two\nlines",
        "inline_controlled_list": "one",
        "number": "-1.5e10",
        "boolean": "True",
        "date": "2026-03-01T12:00:00Z",
        "xyz": '{"x": 1, "y": 2, "z": 3}',
        "wxyz": '{"w": 1, "x": 0, "y": 0, "z": 0}',
        "matrix4x4": "[[1,0,0,0],[0,1,0,0],[0,0,1,0],[0,0,0,1]]",
        "geopoint": '{"type": "Point", "coordinates": [7.5, 47.5]}',
        "geojson": '{"type": "FeatureCollection", "features": []}',
        "lla": '{"lat": 47.5, "long": 7.5, "alt": 400}',
        "json": '{"any": [1, null]}',
    }
    assert tuple(good) == VALUE_TYPES
    records = [record(kind, value, kind) for kind, value in good.items()]
    records += [record(f"empty {kind}", "", kind) for kind in good]
    assert send(client, "POST", body={"metadata": records}).body["successCount"] == 26
    assert values(client) == good | {f"empty {kind}": "" for kind in good}


def test_lists_are_paged_by_key(client: Client) -> None:
    keys = [f"k{number}" for number in range(7)]
    add(client, *reversed(keys))
    assert all_keys(client, pageSize="3") == keys


def test_the_database_shows_whether_schemas_restrict(client: Client, assets: AssetService) -> None:
    body = UpdateDatabaseBody(restrict_metadata_outside_schemas=True)
    assets.databases.update_database(ADMIN, "museum", body)
    assert send(client, "GET").body["restrictMetadataOutsideSchemas"] is True


def test_a_version_shows_what_was_kept_with_it(client: Client, tables: Tables) -> None:
    add(client, "now")
    partition = {"databaseId:assetId:assetVersionId": "museum:statue:0"}
    kept = [("metadata:/:then", "then"), ("metadata:/a/b.glb:of a file", "of a file")]
    tables.put_many(
        ASSET_FILE_METADATA_VERSIONS,
        [
            {
                **partition,
                "type:filePath:metadataKey": key,
                "databaseId:assetId": "museum:statue",
                **record(name),
            }
            for key, name in kept
        ],
    )
    assert values(client, assetVersionId="0") == {"then": "v"}
    assert values(client, FILE, **on_file(), assetVersionId="0") == {"of a file": "v"}
    missing = send(client, "GET", query={"assetVersionId": "1"})
    assert (missing.status, missing.body["code"]) == (404, "AssetVersionNotFound")
    assert send(client, "GET", query={"assetVersionId": "0:x"}).status == 400
