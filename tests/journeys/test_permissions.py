"""A user with one database sees nothing of others, and nothing after the permission is revoked."""

from typing import Any
from uuid import uuid4

import pytest

from tests.journeys.runtime import Api, Runtime, wait_for, wait_until

# Functions read the rules every two seconds.
GONE_SECONDS = 5
"""The contract's maximum time until a revoked right has no effect."""


def unique(word: str) -> str:
    return f"{word}-{uuid4().hex[:8]}"


class World:
    """A viewer of one of two databases; one asset there has a tag that is hidden from viewers."""

    def __init__(self, runtime: Runtime) -> None:
        self.admin = admin = runtime.client()
        self.role, self.user = unique("role"), unique("user")
        self.own, self.foreign = (admin.new_database(unique("db")) for _ in range(2))
        self.tag = unique("tag")
        kind = {"tagTypeName": unique("kind"), "description": "Whether viewers see it"}
        admin.ok("POST", "/tag-types", kind)
        tag = {"tagName": self.tag, "tagTypeName": kind["tagTypeName"], "description": "Hidden"}
        admin.ok("POST", "/tags", tag)
        self.seen = admin.new_asset(self.own, "Seen pump")
        self.hidden = admin.new_asset(self.own, "Hidden pump", tags=[self.tag])
        self.elsewhere = admin.new_asset(self.foreign, "Foreign pump")
        for database, asset in (
            (self.own, self.seen),
            (self.own, self.hidden),
            (self.foreign, self.elsewhere),
        ):
            admin.upload(database, asset, {"/pump.glb": [b"glTF"]})
        admin.ok("POST", "/roles", {"roleName": self.role, "description": "Looks around"})
        self.give(admin)
        admin.ok("POST", "/user-roles", {"userId": self.user, "roleName": [self.role]})
        key = {"apiKeyName": "Own", "userId": self.user, "description": "Its own"}
        self.viewer = runtime.client(admin.ok("POST", "/auth/api-keys", key)["apiKey"])
        for database, documents in ((self.own, 4), (self.foreign, 2)):
            wait_for(lambda name=database: len(admin.search(databaseId=name)), documents)

    def give(self, admin: Api) -> None:
        templates = {
            each["template"]["name"]: each
            for each in admin.ok("GET", "/auth/constraintsTemplates")["Items"]
        }
        values = {"ROLE_NAME": self.role, "DATABASE_ID": self.own}
        admin.ok(
            "POST",
            "/auth/constraintsTemplateImport",
            {**templates["database-readonly"], "variableValues": values},
        )
        tagged = self.denied([{"field": "tags", "operator": "equals", "value": self.tag}])
        admin.ok("POST", f"/auth/constraints/{unique('deny')}", tagged)

    def denied(self, criteria: list[dict[str, str]]) -> dict[str, Any]:
        """A constraint that hides objects with these criteria from viewers."""
        return {
            "name": "Hidden",
            "description": "Keeps something from viewers",
            "objectType": "asset",
            "criteriaAnd": criteria,
            "groupPermissions": [
                {"groupId": self.role, "permission": "GET", "permissionType": "deny"}
            ],
        }


@pytest.fixture(scope="module")
def world(runtime: Runtime) -> World:
    return World(runtime)


def found(api: Api, **body: Any) -> set[str]:
    return {one["str_assetid"] for one in api.search(query="pump", **body)}


def test_lists_and_single_reads_return_the_objects_that_rules_allow(world: World) -> None:
    viewer = world.viewer
    databases = viewer.ok("GET", "/database")["Items"]
    assert {one["databaseId"] for one in databases} == {world.own}
    listed = viewer.ok("GET", f"/database/{world.own}/assets")["Items"]
    assert {one["assetId"] for one in listed} == {world.seen}
    everywhere = viewer.ok("GET", "/assets")["Items"]
    assert {one["assetId"] for one in everywhere} == {world.seen}
    assert viewer.ok("GET", f"/database/{world.own}/assets/{world.seen}")


def test_absent_and_invisible_look_the_same(world: World) -> None:
    for path in ("", "/listFiles", "/getVersions", "/metadata", "/asset-links"):
        status, hidden = world.viewer.refused(
            "GET", f"/database/{world.own}/assets/{world.hidden}{path}"
        )
        absent = world.viewer.refused("GET", f"/database/{world.own}/assets/none-such{path}")
        assert status == absent[0] == 404
        result = hidden["message"].replace(world.hidden, "none-such")
        assert result == absent[1]["message"]


def test_a_search_and_its_counts_know_of_nothing_else(world: World) -> None:
    assert {world.seen, world.hidden} <= found(world.admin, databaseId=world.own)
    assert found(world.viewer) == {world.seen}
    body = {"query": "pump", "aggregations": True, "size": 100}
    reply = world.viewer.ok("POST", "/search", body)
    assert reply["hits"]["total"]["value"] == 2  # the asset and its file
    facets = reply["aggregations"]
    assert [each["key"] for each in facets["str_databaseid"]["filtered_databaseid"]["buckets"]] == [
        world.own
    ]
    assert facets["list_tags"]["filtered_tags"]["buckets"] == []


def test_a_visible_object_cannot_be_changed_without_permission(world: World) -> None:
    path = f"/database/{world.own}/assets/{world.seen}"
    assert world.viewer.refused("PUT", path, {"description": "Mine"})[0] == 403
    assert world.viewer.refused("GET", "/auth/explain")[0] == 403


def test_an_administrator_receives_the_reason(world: World) -> None:
    query = {"userId": world.user, "action": "GET", "objectType": "asset", "databaseId": world.own}
    reply = world.admin.ok("GET", "/auth/explain", params=query)
    assert (reply["tier2"]["decision"], reply["roles"]) == ("allow", [world.role])
    reply = world.admin.ok("GET", "/auth/explain", params={**query, "tags": world.tag})
    assert reply["tier2"]["decision"] == "deny"
    assert reply["tier2"]["by"][0]["givenTo"] == f"role#{world.role}"
    request = {"method": "GET", "route": f"/database/{world.own}/assets/{world.seen}"}
    reply = world.admin.ok("GET", "/auth/explain", params={"userId": world.user, **request})
    assert (reply["tier1"]["decision"], reply["tier2"]["decision"]) == ("allow", "allow")


def test_a_denial_takes_effect_in_all_functions(world: World) -> None:
    asset = f"/database/{world.own}/assets/{world.seen}"
    facets = {"query": "pump", "aggregations": True}

    def shown() -> tuple[int, int, set[str], int]:
        return (
            len(world.viewer.ok("GET", f"/database/{world.own}/assets")["Items"]),
            world.viewer.send("GET", f"{asset}/listFiles").status_code,
            found(world.viewer),
            world.viewer.ok("POST", "/search", facets)["aggregationTotal"],
        )

    assert shown() == (1, 200, {world.seen}, 2)
    denial = f"/auth/constraints/{unique('deny')}"
    named = [{"field": "assetName", "operator": "starts_with", "value": "Seen"}]
    world.admin.ok("POST", denial, world.denied(named))
    # No document was rebuilt: the index is unchanged.
    wait_until(lambda: shown() == (0, 404, set(), 0), seconds=GONE_SECONDS)
    world.admin.ok("DELETE", denial)
    wait_until(lambda: shown() == (1, 200, {world.seen}, 2), seconds=GONE_SECONDS)


def test_a_role_that_was_taken_away_has_no_effect_in_any_function(world: World) -> None:
    asset = f"/database/{world.own}/assets/{world.seen}"
    requests = [
        lambda: world.viewer.send("GET", "/database").status_code,
        lambda: world.viewer.send("GET", asset).status_code,
        lambda: world.viewer.send("GET", f"{asset}/listFiles").status_code,
        lambda: world.viewer.send("POST", "/search", {"query": "pump"}).status_code,
    ]
    assert {send() for send in requests} == {200}
    world.admin.ok("DELETE", "/user-roles", {"userId": world.user})
    wait_until(lambda: {send() for send in requests} == {403}, seconds=GONE_SECONDS)
