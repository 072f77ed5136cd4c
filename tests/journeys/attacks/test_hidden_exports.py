"""An export of a visible asset that is linked to a hidden one."""

import json
from uuid import uuid4

from tests.journeys.attacks.actors import (
    ANY_ROUTE,
    connect,
    give_rule,
    new_role,
    new_user,
    permissions,
)
from tests.journeys.runtime import Runtime
from tests.journeys.test_links import link


def test_an_export_counts_hidden_assets_and_names_none(runtime: Runtime, database: str) -> None:
    admin = runtime.client()
    root = admin.new_asset(database, "root")
    shown = admin.new_asset(database, "shown")
    hidden = admin.new_asset(database, "hidden", assetId=f"hidden-{uuid4().hex[:8]}")
    link(admin, database, root, shown)
    secret = link(admin, database, root, hidden)
    role = new_role(admin, ANY_ROUTE, ("asset", "databaseId", "equals", database))
    rule = ("asset", "assetName", "equals", "hidden")
    give_rule(admin, rule, groupPermissions=permissions("groupId", role, "deny"))
    reader = connect(runtime, new_user(admin, role))

    path = f"/database/{database}/assets/{root}/export"
    named = admin.ok("POST", path, {})
    reply = reader.ok("POST", path, {"fetchEntireChildrenSubtrees": True})
    assert [one["assetid"] for one in reply["assets"]] == [root, shown]
    assert [one["childAssetId"] for one in reply["relationships"]] == [shown]
    assert (reply["totalAssetsInTree"], reply["unauthorizedAssetCount"]) == (2, 1)
    for text in (hidden, secret):
        assert text in json.dumps(named)
        assert text not in json.dumps(reply)
