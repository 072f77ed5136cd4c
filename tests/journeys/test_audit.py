"""The audit log over HTTP, from the synthesized templates on."""

from typing import Any

from tests.journeys.runtime import Runtime, wait_until


def test_the_audit_log_lists_changes_and_the_creation_newest_first(
    runtime: Runtime, database: str
) -> None:
    api = runtime.client()
    asset = api.new_asset(database, "Before")
    path = f"/database/{database}/assets/{asset}"
    api.ok("PUT", path, {"assetName": "After"})
    record = {"metadataKey": "note", "metadataValue": "x" * 5000, "metadataValueType": "string"}
    api.ok("POST", f"{path}/metadata", {"metadata": [record]})
    api.upload(database, asset, {"/a.stl": [b"solid\n"]})
    api.refused("PUT", path, {"tags": ["no such tag"]})

    def audit_items() -> list[dict[str, Any]]:
        return api.ok("GET", "/audit", params={"entity": f"asset:{database}:{asset}"})["Items"]

    expected = ["complete_upload", "create_asset_metadata", "update_asset", "create_asset"]
    wait_until(lambda: [entry["operation"] for entry in audit_items()] == expected)
    uploaded, described, renamed, created = audit_items()
    assert renamed["changes"] == {"assetName": {"before": "Before", "after": "After"}}
    assert created["changes"]["assetName"] == {"after": "Before"}
    assert uploaded["changes"]["files"]["after"] == {"/a.stl": "uploaded"}
    stored = described["changes"]["metadata.note"]["afterStored"]
    query = {"entity": described["entity"], "at": described["at"]}
    value = api.ok("GET", f"/audit/values/{stored['sha256']}", params=query)["value"]
    assert value == {"value": record["metadataValue"], "valueType": "string"}
    (made,) = api.ok("GET", "/audit", params={"entity": f"database:{database}"})["Items"]
    assert made["operation"] == "create_database"
    newest = api.ok("GET", "/audit", params={"userId": made["userId"], "maxItems": "1"})
    assert "NextToken" in newest
