"""The main path once, on the real engines: create, upload, search, permissions, versions, archive.

`make test` runs only this journey; the others test each step in detail. It takes over 20 seconds:
the product starts, and each change passes streams and queues into both indexes.
"""

from typing import Any
from uuid import uuid4

import httpx

from tests.journeys.runtime import Api, Runtime, noise, wait_for
from tests.journeys.test_lifecycle import CONFIRMED
from tests.journeys.test_versions import made

MIB = 1024 * 1024
PARTS = [noise(5 * MIB, "first"), noise(1000, "second")]
FILE = "/models/engine.glb"


def test_an_asset_from_its_creation_to_its_archive(runtime: Runtime) -> None:
    admin = runtime.client()
    shown, hidden = (admin.new_database(f"{item}-{uuid4().hex[:8]}") for item in ("own", "other"))
    asset = admin.new_asset(shown, "Beam Engine")
    elsewhere = admin.new_asset(hidden, "Beam Bridge")
    path = f"/database/{shown}/assets/{asset}"
    assert admin.upload(shown, asset, {FILE: PARTS})["overallSuccess"] is True
    entry = {"metadataKey": "maker", "metadataValue": "Boulton", "metadataValueType": "string"}
    assert admin.ok("POST", f"{path}/metadata", {"metadata": [entry]})["successCount"] == 1

    def found(api: Api, **more: Any) -> list[tuple[str, str]]:
        hits = api.search(**more)
        return sorted(
            (hit["str_databaseid"], hit.get("str_key", hit["str_assetid"])) for hit in hits
        )

    wait_for(
        lambda: found(admin, query="beam"),
        sorted([(shown, asset), (shown, f"{asset}{FILE}"), (hidden, elsewhere)]),
    )
    wait_for(lambda: found(admin, metadataKey="maker", metadataValue="boulton"), [(shown, asset)])
    assert httpx.get(downloaded(admin, path)).content == b"".join(PARTS)

    viewer = viewer_of(runtime, admin, shown)
    assert found(viewer, query="beam") == sorted([(shown, asset), (shown, f"{asset}{FILE}")])
    assert viewer.refused("GET", f"/database/{hidden}/assets/{elsewhere}")[0] == 404
    assert viewer.refused("PUT", path, {"description": "Mine"})[0] == 403

    first = made(admin, path)
    assert admin.upload(shown, asset, {FILE: [b"another engine"]})["overallSuccess"] is True
    second = made(admin, path)
    assert (first, second) == ("1", "2")
    assert httpx.get(downloaded(admin, path, assetVersionId=first)).content == b"".join(PARTS)
    assert httpx.get(downloaded(viewer, path)).content == b"another engine"

    admin.completed("DELETE", f"{path}/archiveAsset", CONFIRMED["archive"])
    wait_for(lambda: found(admin, query="beam"), [(hidden, elsewhere)])
    assert viewer.refused("GET", path)[0] == 404
    admin.completed("PUT", f"{path}/unarchiveAsset", CONFIRMED["unarchive"])
    wait_for(lambda: len(found(viewer, query="beam")), 2)


def downloaded(api: Api, path: str, **version: str) -> str:
    """The URL of the file, of its current or of an earlier version."""
    body = {"downloadType": "assetFile", "key": FILE, **version}
    return api.ok("POST", f"{path}/download", body)["downloadUrl"]


def viewer_of(runtime: Runtime, admin: Api, database: str) -> Api:
    """A client with the key of a user who may see one database."""
    role, user = (f"{item}-{uuid4().hex[:8]}" for item in ("role", "user"))
    admin.ok("POST", "/roles", {"roleName": role, "description": "Looks around"})
    templates = admin.ok("GET", "/auth/constraintsTemplates")["Items"]
    (template,) = (item for item in templates if item["template"]["name"] == "database-readonly")
    values = {"ROLE_NAME": role, "DATABASE_ID": database}
    admin.ok("POST", "/auth/constraintsTemplateImport", {**template, "variableValues": values})
    admin.ok("POST", "/user-roles", {"userId": user, "roleName": [role]})
    key = {"apiKeyName": "Own", "userId": user, "description": "Its own"}
    return runtime.client(admin.ok("POST", "/auth/api-keys", key)["apiKey"])
