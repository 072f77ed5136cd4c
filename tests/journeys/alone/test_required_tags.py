"""A required tag type, which every asset of the deployment must then have a tag of."""

from uuid import uuid4

import pytest

from tests.journeys.runtime import Api

pytestmark = pytest.mark.xdist_group("alone")


def test_a_tag_is_demanded_where_its_type_is_required(api: Api, database: str) -> None:
    name = f"kind-{uuid4().hex[:8]}"
    kind = {"tagTypeName": name, "description": "What it is", "required": "True"}
    api.ok("POST", "/tag-types", kind)
    try:
        tag = {"tagName": f"{name}-pump", "description": "A pump", "tagTypeName": name}
        api.ok("POST", "/tags", tag)
        status, body = api.refused("POST", "/assets", asset_body(database, tags=[]))
        assert (status, body["errors"][0]["field"]) == (400, "tags")
        api.ok("POST", "/assets", asset_body(database, tags=[tag["tagName"]]))
        shown = api.ok("GET", "/tags")["Items"]
        assert f"{name} [R]" in {item["tagTypeName"] for item in shown}
    finally:
        api.ok("DELETE", f"/tags/{name}-pump")
        api.ok("DELETE", f"/tag-types/{name}")


def asset_body(database: str, *, tags: list[str]) -> dict[str, object]:
    return {
        "databaseId": database,
        "assetName": "Tagged",
        "description": "made by a test",
        "isDistributable": True,
        "tags": tags,
    }
