"""Metadata of databases, assets and files, and the schemas that govern it, over HTTP."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx

from tests.journeys.runtime import Api, Runtime, noise, wait_for
from tests.journeys.test_links import link as new_link

AT_ONCE = 8


def record(key: str, value: str = "v", value_type: str = "string") -> dict[str, str]:
    return {"metadataKey": key, "metadataValue": value, "metadataValueType": value_type}


def field(key: str, value_type: str = "string", **more: Any) -> dict[str, Any]:
    return {"metadataFieldKeyName": key, "metadataFieldValueType": value_type, **more}


def values(api: Api, path: str) -> dict[str, str]:
    metadata = api.ok("GET", path)["metadata"]
    return {item["metadataKey"]: item["metadataValue"] for item in metadata}


def new_schema(api: Api, database: str, entity: str, *fields: Any, **more: Any) -> str:
    body = {
        "databaseId": database,
        "metadataSchemaEntityType": entity,
        "schemaName": "Measures",
        "fields": {"fields": list(fields)},
        "enabled": True,
        **more,
    }
    return api.ok("POST", "/metadataschema", body)["metadataSchemaId"]


def new_measures(api: Api, database: str) -> str:
    """A schema with a required weight, and its unit, which has a default."""
    unit = field("unit", "inline_controlled_list", controlledListKeys=["kg", "lb"])
    return new_schema(
        api,
        database,
        "ASSETMETADATA",
        field("weight", "number", required=True, sequence=1, dependsOnFieldKeyName=["unit"]),
        {**unit, "sequence": 0, "defaultMetadataFieldValue": "kg"},
    )


def violated(api: Api, method: str, path: str, *records: dict[str, str]) -> list[str]:
    status, refusal = api.refused(method, path, {"metadata": list(records)})
    assert (status, refusal["code"]) == (400, "MetadataSchemaViolation")
    return [error["field"] for error in refusal["errors"]]


def test_metadata_of_a_database_is_written_read_replaced_and_removed(
    api: Api, database: str
) -> None:
    path = f"/database/{database}/metadata"
    added = api.ok("POST", path, {"metadata": [record("owner", "Ada"), record("n", "1", "number")]})
    assert (added["success"], added["successfulItems"]) == (True, ["owner", "n"])
    assert values(api, path) == {"n": "1", "owner": "Ada"}
    replaced = {"metadata": [record("owner", "Bea")], "updateType": "replace_all"}
    assert api.ok("PUT", path, replaced)["successCount"] == 1
    assert values(api, path) == {"owner": "Bea"}
    gone = api.ok("DELETE", path, {"metadataKeys": ["owner", "n"]})
    assert gone["failedItems"] == [{"key": "n", "error": "The key does not exist"}]
    assert values(api, path) == {}
    assert api.refused("GET", "/database/no-such-database/metadata")[0] == 404
    wrong = {"metadata": [record("n", "many", "number")]}
    assert api.refused("POST", path, wrong)[1]["errors"][0]["field"] == "metadata.0.metadataValue"


def test_a_schema_applies_to_writing_listing_and_removing(runtime: Runtime, database: str) -> None:
    api = runtime.client()
    asset = api.new_asset(database, "Lion")
    path = f"/database/{database}/assets/{asset}/metadata"
    new_measures(api, database)
    assert values(api, path) == {"unit": "kg", "weight": ""}
    assert violated(api, "POST", path, record("colour")) == ["metadata"]
    assert violated(api, "PUT", path, record("weight", "7")) == ["metadata.0.metadataValueType"]
    stone = record("unit", "stone", "inline_controlled_list")
    weight = record("weight", "7", "number")
    assert violated(api, "PUT", path, stone, weight) == ["metadata.0.metadataValue"]
    api.ok("POST", path, {"metadata": [weight, record("colour")]})
    result = {item["metadataKey"]: item for item in api.ok("GET", path)["metadata"]}
    assert result["unit"]["metadataValue"] == "kg"
    assert result["weight"]["metadataSchemaRequired"] is True
    assert result["weight"]["metadataSchemaName"] == f"Measures ({database})"
    assert result["colour"]["metadataSchemaField"] is False

    def by_unit() -> list[str]:
        hits = api.search(databaseId=database, metadataKey="unit", metadataValue="kg")
        return [hit["str_assetid"] for hit in hits]

    wait_for(by_unit, [asset])

    removed = api.ok("DELETE", path, {"metadataKeys": ["weight", "unit", "colour"]})
    assert removed["successfulItems"] == ["colour"]
    assert {item["key"] for item in removed["failedItems"]} == {"weight", "unit"}


def test_a_schema_governs_while_it_is_enabled_and_until_its_deletion(
    api: Api, database: str
) -> None:
    path = f"/database/{database}/assets/{api.new_asset(database, 'Lion')}/metadata"
    schema = new_measures(api, database)
    result = f"/database/{database}/metadataSchema/{schema}"
    assert api.ok("GET", result)["metadataSchemaEntityType"] == "assetMetadata"
    listed = api.ok("GET", f"/metadataschema?databaseId={database}")["Items"]
    assert [item["metadataSchemaId"] for item in listed] == [schema]
    assert len(api.ok("GET", "/metadataschema?pageSize=1")["Items"]) == 1

    api.ok("POST", path, {"metadata": [record("weight", "7", "number")]})
    api.ok("PUT", f"/database/{database}", {"restrictMetadataOutsideSchemas": True})
    assert violated(api, "POST", path, record("colour")) == ["metadata.0.metadataKey"]
    api.ok("PUT", "/metadataschema", {"metadataSchemaId": schema, "enabled": False})
    api.ok("POST", path, {"metadata": [record("colour")]})
    api.ok("PUT", "/metadataschema", {"metadataSchemaId": schema, "enabled": True})
    assert violated(api, "PUT", path, record("colour")) == ["metadata.0.metadataKey"]

    assert api.ok("DELETE", path, {"metadataKeys": ["weight"]})["success"] is False
    assert api.refused("DELETE", result, {})[0] == 400
    api.ok("DELETE", result, {"confirmDelete": True})
    assert api.refused("GET", result)[0] == 404
    assert api.ok("DELETE", path, {"metadataKeys": ["weight"]})["success"] is True


def test_schemas_of_files_apply_by_extension_and_conflicts_are_reported(
    api: Api, database: str
) -> None:
    asset = api.new_asset(database, "Lion")
    names = ("/a.glb", "/b.txt")
    api.upload(database, asset, {name: [noise(20, name)] for name in names})
    new_schema(
        api,
        database,
        "fileMetadata",
        field("polygons", "number", required=True),
        fileKeyTypeRestriction=".GLB",
    )
    new_schema(api, database, "fileMetadata", field("polygons", "string"), field("text"))
    new_schema(api, database, "fileAttribute", field("made by"))
    path = f"/database/{database}/assets/{asset}/metadata/file"

    def conflicts_of(name: str, kind: str = "metadata") -> dict[str, bool]:
        query = httpx.QueryParams({"filePath": name, "type": kind})
        metadata = api.ok("GET", f"{path}?{query}")["metadata"]
        return {item["metadataKey"]: item["metadataSchemaMultiFieldConflict"] for item in metadata}

    assert conflicts_of("/a.glb") == {"polygons": True, "text": False}
    assert conflicts_of("/b.txt") == {"polygons": False, "text": False}
    assert conflicts_of("/a.glb", "attribute") == {"made by": False}
    status, error = api.refused(
        "POST",
        path,
        {"filePath": "/b.txt", "type": "metadata", "metadata": [record("polygons", "1", "number")]},
    )
    assert (status, error["errors"][0]["field"]) == (400, "metadata.0.metadataValueType")


def test_schemas_govern_metadata_of_links(api: Api, database: str) -> None:
    lion, plinth = (api.new_asset(database, name) for name in ("Lion", "Plinth"))
    new_schema(api, database, "assetLinkMetadata", field("angle", "number", required=True))
    path = f"/asset-links/{new_link(api, database, plinth, lion)}/metadata"
    assert violated(api, "POST", path, record("angle", "steep")) == ["metadata.0.metadataValueType"]
    api.ok("POST", path, {"metadata": [record("angle", "30", "number")]})
    assert values(api, path) == {"angle": "30"}


def test_several_entities_are_changed_at_once_if_they_are_as_expected(
    api: Api, database: str
) -> None:
    lion, plinth = (api.new_asset(database, name) for name in ("Lion", "Plinth"))
    api.upload(database, lion, {"/a.txt": [noise(20, "a")]})
    link = new_link(api, database, plinth, lion)
    of_asset = {"databaseId": database, "assetId": lion}
    of_file = {**of_asset, "filePath": "/a.txt"}
    entities: list[dict[str, Any]] = [
        {"databaseId": database},
        of_asset,
        of_file,
        {**of_file, "type": "attribute"},
        {"assetLinkId": link},
    ]

    def edit_all(**change: Any) -> list[int]:
        sent: list[dict[str, Any]] = [{**entity, "metadata": [], **change} for entity in entities]
        results = api.ok("PUT", "/metadata/batch", {"entities": sent})["results"]
        return [result["status"] for result in results]

    assert edit_all(metadata=[record("owner", "Ada")]) == [200] * 5
    api.ok("PUT", f"/database/{database}/metadata", {"metadata": [record("owner", "Bea")]})
    changed = {**record("owner", "Cleo"), "expectedValue": "Ada"}
    assert edit_all(metadata=[changed, record("more")]) == [409, 200, 200, 200, 200]
    assert values(api, f"/database/{database}/metadata") == {"owner": "Bea"}
    assert values(api, f"/asset-links/{link}/metadata") == {"owner": "Cleo", "more": "v"}
    gone = {"metadataKey": "more", "expectedValue": "v"}
    assert edit_all(removals=[gone]) == [200] * 5
    path = f"/database/{database}/assets/{lion}/metadata"
    assert values(api, path) == values(api, f"{path}/file?filePath=/a.txt&type=metadata")


def test_schemas_of_a_database_apply_to_files_copied_into_it(api: Api, database: str) -> None:
    other = api.new_database(f"{database}-2")
    new_schema(api, other, "fileMetadata", field("polygons", "number"))
    lion, bust = api.new_asset(database, "Lion"), api.new_asset(other, "Bust")
    api.upload(database, lion, {"/a.glb": [noise(20, "a")]})
    base = f"/database/{database}/assets/{lion}"
    of = {"filePath": "/a.glb", "type": "metadata"}
    copy = {
        "sourcePath": "/a.glb",
        "destinationPath": "/b.glb",
        "destinationAssetId": bust,
        "destinationDatabaseId": other,
    }
    api.ok("POST", f"{base}/metadata/file", {**of, "metadata": [record("polygons", "many")]})
    status, error = api.refused("POST", f"{base}/copyFile", copy)
    assert (status, error["code"]) == (409, "FileChangeFailed")
    assert "does not accept the metadata polygons" in error["message"]
    theirs = f"/database/{other}/assets/{bust}"
    assert api.ok("GET", f"{theirs}/listFiles")["items"] == []
    number = [record("polygons", "9", "number")]
    api.ok("PUT", f"{base}/metadata/file", {**of, "metadata": number, "updateType": "replace_all"})
    api.completed("POST", f"{base}/copyFile", copy)
    of_copy = httpx.QueryParams({**of, "filePath": "/b.glb"})
    assert values(api, f"{theirs}/metadata/file?{of_copy}") == {"polygons": "9"}


def test_an_asset_never_gets_more_than_500_records_however_many_write(
    runtime: Runtime, database: str
) -> None:
    api = runtime.client()
    path = f"/database/{database}/assets/{api.new_asset(database, 'Lion')}/metadata"
    api.ok("POST", path, {"metadata": [record(f"k{n:03}") for n in range(490)]})

    def add(number: int) -> int:
        own = runtime.client()
        body = {"metadata": [record(f"w{number}-{n}") for n in range(3)]}
        return own.send("POST", path, body).status_code

    with ThreadPoolExecutor(AT_ONCE) as pool:
        statuses = sorted(pool.map(add, range(AT_ONCE)))
    assert statuses == [200] * 3 + [409] * (AT_ONCE - 3)
    assert len(api.ok("GET", f"{path}?pageSize=1000")["metadata"]) == 499
    everything = {"metadata": [record("only")], "updateType": "replace_all"}
    api.ok("PUT", path, everything)
    assert values(api, path) == {"only": "v"}
