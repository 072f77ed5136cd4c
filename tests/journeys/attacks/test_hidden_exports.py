"""An export of a visible asset that is linked to a hidden one."""

import json
from typing import Any
from uuid import uuid4

from tests.journeys.runtime import Runtime, wait_until
from tests.journeys.test_links import link


def test_an_export_counts_hidden_assets_and_names_none(runtime: Runtime, database: str) -> None:
    admin = runtime.client()
    root = admin.new_asset(database, "root")
    shown = admin.new_asset(database, "shown")
    hidden = admin.new_asset(database, "hidden", assetId=f"hidden-{uuid4().hex[:8]}")
    link(admin, database, root, shown)
    secret = link(admin, database, root, hidden)
    user = f"reader-{uuid4().hex[:12]}"
    admin.ok("POST", "/roles", {"roleName": user, "description": "of one user"})
    admin.ok("POST", "/user-roles", {"userId": user, "roleName": [user]})
    for kind, field, value, actions in (
        ("api", "route__path", "/database", ("GET", "POST")),
        ("asset", "databaseId", database, ("GET",)),
    ):
        criterion = {"field": field, "operator": "starts_with", "value": value}
        _rule(admin, user, kind, [criterion], actions, "allow")
    criterion = {"field": "assetName", "operator": "equals", "value": "hidden"}
    _rule(admin, user, "asset", [criterion], ("GET",), "deny")
    key = {"apiKeyName": "reader", "description": "Reads", "userId": user}
    reader = runtime.client(admin.ok("POST", "/auth/api-keys", key)["apiKey"])

    path = f"/database/{database}/assets/{root}/export"
    wait_until(lambda: reader.send("POST", path, {}).status_code == 200)
    named = admin.ok("POST", path, {})
    told = reader.ok("POST", path, {"fetchEntireChildrenSubtrees": True})
    assert [one["assetid"] for one in told["assets"]] == [root, shown]
    assert [one["childAssetId"] for one in told["relationships"]] == [shown]
    assert (told["totalAssetsInTree"], told["unauthorizedAssetCount"]) == (2, 1)
    for text in (hidden, secret):
        assert text in json.dumps(named)
        assert text not in json.dumps(told)


def _rule(
    admin: Any, user: str, kind: str, criteria: list[Any], actions: tuple[str, ...], effect: str
) -> None:
    rule = {
        "name": f"{kind} {effect}",
        "description": "What a reader sees",
        "objectType": kind,
        "criteriaAnd": criteria,
        "userPermissions": [
            {"userId": user, "permission": action, "permissionType": effect} for action in actions
        ],
    }
    admin.ok("POST", f"/auth/constraints/{user}-{kind}-{effect}", rule)
