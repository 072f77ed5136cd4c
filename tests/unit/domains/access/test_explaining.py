"""Administrators receive the constraint that decides."""

from dataclasses import replace
from typing import Any

import pytest

from backend.domains.access.policy.model import Fields
from tests.factories.access import stored_user_role
from tests.factories.administration import Parts, stored_role
from tests.factories.http import Client, Response
from tests.factories.policies import everything, put_policy, stored

ASSET_ROUTE = "/database/{databaseId}/assets/{assetId}"
ON_ASSET = {"userId": "ann", "action": "GET", "objectType": "asset", "databaseId": "db1"}


@pytest.fixture
def client(parts: Parts) -> Client:
    stored_role(parts.tables, "viewer")
    stored_user_role(parts.tables, user_id="ann", role_name="viewer")
    put_policy(
        parts.tables,
        "role#viewer",
        stored("asset", ("databaseId", "equals", "db1"), constraint_id="see-db1"),
        everything("api", constraint_id="all-routes"),
    )
    hidden = stored("asset", ("tags", "equals", "secret"), effect="deny", constraint_id="hide")
    put_policy(parts.tables, "user#ann", hidden)
    put_policy(
        parts.tables,
        "role#reader",
        stored("api", ("route__path", "equals", ASSET_ROUTE), constraint_id="by-declaration"),
        stored("api", ("route__path", "starts_with", "/database/db2/"), constraint_id="by-path"),
    )
    stored_role(parts.tables, "reader")
    stored_user_role(parts.tables, user_id="bob", role_name="reader")
    parts = replace(parts, find_asset=find_asset)
    return Client(parts.services().router())


def find_asset(database_id: str, asset_id: str) -> Fields | None:
    if (database_id, asset_id) != ("db1", "lamp"):
        return None
    return {"databaseId": "db1", "assetName": "Lamp", "assetType": ".glb", "tags": ("secret",)}


def explain(client: Client, **query: str) -> Response:
    return client.send("GET", "/auth/explain", query={**ON_ASSET, **query})


def by(*found: tuple[str, str]) -> list[dict[str, Any]]:
    return [{"constraintId": name, "givenTo": grantee} for name, grantee in found]


def test_the_constraint_that_decides_is_named_and_no_other(client: Client) -> None:
    reply = explain(client, route="/database/db1/assets")
    assert reply.status == 200
    assert reply.body == {
        "userId": "ann",
        "roles": ["viewer"],
        "tier2": {"decision": "allow", "by": by(("see-db1", "role#viewer"))},
        "tier1": {"decision": "allow", "by": by(("all-routes", "role#viewer"))},
    }
    reply = explain(client, tags="red, secret")
    assert reply.body["tier2"] == {"decision": "deny", "by": by(("hide", "user#ann"))}
    assert explain(client, databaseId="db2").body["tier2"] == {"decision": "deny", "by": []}
    assert explain(client, userId="carl").body["roles"] == []
    reply = explain(client, objectType="database", tags="secret")
    assert reply.body["tier2"] == {"decision": "deny", "by": []}


def test_a_request_is_explained_with_the_asset_that_its_path_names(client: Client) -> None:
    request = {"userId": "ann", "method": "GET", "route": "/database/db1/assets/lamp"}
    hidden = {"decision": "deny", "by": by(("hide", "user#ann"))}
    for query in (
        request,
        {**request, "route": ASSET_ROUTE, "databaseId": "db1", "assetId": "lamp"},
        {**request, "route": "/assets", "databaseId": "db1", "assetId": "lamp"},
    ):
        reply = client.send("GET", "/auth/explain", query=query)
        assert reply.body["tier1"] == {
            "decision": "allow",
            "by": by(("all-routes", "role#viewer")),
        }
        assert reply.body["tier2"] == hidden
    assert explain(client, assetId="lamp").body["tier2"] == hidden


def test_a_route_is_explained_as_it_is_declared_and_as_it_is_requested(client: Client) -> None:
    def tier1(path: str) -> object:
        query = {"userId": "bob", "action": "GET", "objectType": "tag", "route": path}
        return client.send("GET", "/auth/explain", query=query).body["tier1"]

    allowed = {"decision": "allow", "by": by(("by-declaration", "role#reader"))}
    assert tier1("/database/db1/assets/lamp") == tier1(ASSET_ROUTE) == allowed
    assert tier1("/database/db2/assets") == {
        "decision": "allow",
        "by": by(("by-path", "role#reader")),
    }
    assert tier1("/database/db1/assets") == {"decision": "deny", "by": []}


def test_a_route_that_also_needs_another_one_is_explained_by_the_denial_of_that(
    client: Client, parts: Parts
) -> None:
    def tier1() -> object:
        return explain(client, route="/database/db1/assets/lamp/files/glb").body["tier1"]

    denied = "/download", "/auxiliaryPreviewAssets"
    allowed = {"decision": "allow", "by": by(("all-routes", "role#viewer"))}
    for number in (0, 1, 2):
        denials = [
            stored("api", ("route__path", "contains", path), effect="deny", constraint_id="keep")
            for path in denied[:number]
        ]
        put_policy(parts.tables, "user#ann", *denials)
        kept = {"decision": "deny", "by": by(("keep", "user#ann"))}
        assert tier1() == (kept if number == 2 else allowed)


def test_where_no_rule_is_evaluated_none_is_named(client: Client, parts: Parts) -> None:
    stored_role(parts.tables, "admin")
    stored_user_role(parts.tables, user_id="eve", role_name="admin")

    def explained(user: str, path: str) -> tuple[object, object]:
        query = {"userId": user, "method": "GET", "route": path}
        body = client.send("GET", "/auth/explain", query=query).body
        return body.get("tier1"), body.get("tier2")

    yes, no = ({"decision": decision, "by": list[object]()} for decision in ("allow", "deny"))
    assert explained("bob", "/api/version") == (yes, None)
    assert explained("eve", "/auth/constraints") == (yes, yes)
    assert explained("bob", "/auth/constraints") == (no, no)


def test_keys_are_for_those_whose_they_are(client: Client, parts: Parts) -> None:
    def explained(**of: str) -> object:
        query = {"userId": "ann", "method": "POST", "route": "/auth/api-keys", **of}
        return client.send("GET", "/auth/explain", query=query).body["tier2"]["decision"]

    assert explained() == explained(ofUserId="ann") == "allow"
    assert explained(ofUserId="bob") == "deny"
    stranger = Client(client.router, user_id="stranger")
    assert explain(stranger).status == 403


def test_buckets_are_open_to_see_unless_a_rule_denies(client: Client, parts: Parts) -> None:
    two = stored("bucket", ("bucketId", "equals", "two"), effect="deny", constraint_id="hide-two")
    put_policy(parts.tables, "user#bob", two)

    def explained(action: str, bucket_id: str) -> Any:
        query = {"userId": "bob", "action": action, "objectType": "bucket", "bucketId": bucket_id}
        return client.send("GET", "/auth/explain", query=query).body["tier2"]

    assert explained("GET", "one") == {"decision": "allow", "by": []}
    assert explained("POST", "one") == {"decision": "deny", "by": []}
    assert explained("GET", "two") == {"decision": "deny", "by": by(("hide-two", "user#bob"))}


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"method": "GET", "route": "/nothing/here"}, "route"),
        ({"method": "PUT", "route": "/api/version"}, "route"),
        ({"method": "GET", "route": "/database/db1/assets/gone"}, "assetId"),
        ({"action": "GET", "objectType": "asset", "assetId": "lamp"}, "databaseId"),
        ({"route": "/database"}, "method"),
        ({"action": "GET"}, "objectType"),
        ({**ON_ASSET, "action": "HEAD"}, "action"),
        ({**ON_ASSET, "objectType": "planet"}, "objectType"),
        ({**ON_ASSET, "userId": ""}, "userId"),
    ],
)
def test_a_missing_object_or_an_incomplete_query_is_refused(
    client: Client, query: dict[str, str], field: str
) -> None:
    reply = client.send("GET", "/auth/explain", query={"userId": "ann", **query})
    assert reply.status == 400
    assert field in str(reply.body)
