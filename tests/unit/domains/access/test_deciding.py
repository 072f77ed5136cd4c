"""The rules of a user's roles decide, as soon as they change; administrators receive why."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, cast

import pytest

from backend.core.authorization import Secured
from backend.core.errors import UnavailableError
from backend.core.identity import Identity
from backend.core.tables import Tables
from backend.core.transactions import Delete, Update
from backend.domains.access.policy.model import ACTIONS, OBJECT_TYPES, Fields
from backend.domains.access.policy.search_filter import EVERYTHING
from backend.domains.access.repository.policies import Granted, PolicyRepository, StoredRules
from backend.domains.access.service.decisions import (
    CACHED_USERS,
    PolicyAuthorization,
    route_fields,
)
from backend.spec import routes
from backend.spec.routes import Action, Route
from backend.spec.tables.access import POLICIES, ROLES, USER_ROLES
from tests.factories.access import stored_user_role
from tests.factories.administration import Parts, stored_role
from tests.factories.http import Client, Response
from tests.factories.policies import everything, put_policy, stored

ANN = Identity("ann")
ASSET = Secured("asset", {"databaseId": "db1", "assetName": "pump", "assetType": "", "tags": ()})

Take = Callable[[Tables], None]


class World:
    """Ann's rights as rules over tables decide, and a repository that records its calls."""

    def __init__(self, tables: Tables, now: datetime) -> None:
        self.tables, self.at = tables, now
        self.real = PolicyRepository(tables)
        self.requested: list[str] = []
        self.before_reading: list[Callable[[], None]] = []
        """Concurrent changes while rights are read, once each."""
        self.stale: Mapping[str, StoredRules] = {}
        """Rules as they were before that, for the reading that it comes into."""
        self.rules = PolicyAuthorization(cast("PolicyRepository", self), lambda: self.at)

    def epoch(self) -> int:
        self.requested.append("epoch")
        return self.real.epoch()

    def granted(self, user_id: str, *, mfa: bool) -> Granted:
        self.requested.append(user_id)
        if self.before_reading:
            self.before_reading.pop(0)()
        rights = self.real.granted(user_id, mfa=mfa)
        torn, self.stale = {**rights.rules, **self.stale}, {}
        return rights._replace(rules=torn)

    def given(self, *rules: Mapping[str, Any], role: str = "viewer", **more: Any) -> None:
        """Give Ann a role with these rules."""
        stored_role(self.tables, role, **more)
        stored_user_role(self.tables, user_id="ann", role_name=role)
        put_policy(self.tables, f"role#{role}", *rules, epoch=1)

    def may(self, action: Action, target: Secured = ASSET) -> bool:
        return self.rules.may(ANN, action, target)

    def uses(self, route: Route, **path: str) -> bool:
        return self.rules.may_use(ANN, route, path)


@pytest.fixture
def world(tables: Tables, now: datetime) -> World:
    return World(tables, now)


def test_who_has_no_role_may_use_public_routes_only(world: World) -> None:
    assert not any(world.may(action) for action in ACTIONS)
    assert not world.uses(routes.LIST_DATABASES)
    assert world.rules.search_filter(ANN) is None
    public = [route for route in routes.ROUTES if route.public]
    assert public
    assert all(world.uses(route) for route in public)


def test_the_rules_of_a_role_count_for_who_has_it(world: World) -> None:
    world.given(stored("asset", ("databaseId", "equals", "db1"), actions=["GET"]))
    assert world.may("GET")
    assert not world.may("PUT")
    assert not world.rules.may(Identity("bob"), "GET", ASSET)
    assert not world.may("GET", Secured("asset", {"databaseId": "db2"}))


def test_the_rules_of_the_user_count_beside_those_of_roles(world: World) -> None:
    world.given(everything("asset"))
    put_policy(world.tables, "user#ann", everything("asset", effect="deny", actions=["DELETE"]))
    assert world.may("GET")
    assert not world.may("DELETE")


def test_a_denial_of_one_role_wins_over_another_role(world: World) -> None:
    world.given(everything("asset"))
    world.given(stored("asset", ("databaseId", "equals", "db1"), effect="deny"), role="guard")
    assert not world.may("GET")
    assert world.may("GET", Secured("asset", {"databaseId": "db2"}))


def test_a_role_that_requires_a_second_factor_applies_only_with_one(world: World) -> None:
    world.given(everything("asset"), mfaRequired=True)
    assert not world.may("GET")
    assert world.rules.may(ANN._replace(mfa=True), "GET", ASSET)
    assert not world.may("GET"), "the two are kept apart"


@pytest.mark.parametrize("more", [None, {"deletedBy": "job"}], ids=["gone", "being deleted"])
def test_a_role_that_is_deleted_while_in_use_does_not_count(
    world: World, more: dict[str, Any] | None
) -> None:
    world.given(everything("asset"), role="admin", **(more or {}))
    if more is None:
        world.tables.write(Delete(table=ROLES, key={"roleName": "admin"}))
    assert not world.may("GET")
    assert not world.may("GET", Secured("failure"))


def test_types_that_no_rule_names_are_for_administrators(world: World) -> None:
    world.given(*(everything(type_) for type_ in OBJECT_TYPES))
    stored_role(world.tables, "admin")
    stored_user_role(world.tables, user_id="boss")
    for item in ("failure", "queue", "audit", "constraint", "searchIndex", "apiKey"):
        target = Secured(item, {"userId": "boss"})
        assert world.rules.may(Identity("boss"), "POST", target)
        assert not world.may("POST", target)


def test_buckets_are_seen_unless_a_rule_denies_and_own_keys_are_managed(world: World) -> None:
    assert world.may("GET", Secured("bucket", {"bucketId": "b"}))
    assert not world.may("PUT", Secured("bucket", {"bucketId": "b"}))
    assert world.may("POST", Secured("apiKey", {"userId": "ann"}))
    assert not world.may("GET", Secured("apiKey", {"userId": "bob"}))
    world.at += timedelta(seconds=2)
    allowed = stored("bucket", ("bucketId", "equals", "one"), actions=["POST"])
    denied = stored("bucket", ("bucketId", "equals", "two"), effect="deny", actions=["GET"])
    world.given(allowed, denied)
    result, two = (Secured("bucket", {"bucketId": item}) for item in ("one", "two"))
    assert (world.may("GET", result), world.may("POST", result)) == (True, True)
    assert (world.may("GET", two), world.may("POST", two)) == (False, False)


def test_administrators_obey_rules_but_reach_the_constraints(world: World) -> None:
    denials = [everything(kind, effect="deny") for kind in ("asset", "api")]
    world.given(*denials, everything("asset"), role="admin")
    assert not world.may("GET")
    of_constraints = [route for route in routes.ROUTES if route.object_type == "constraint"]
    assert of_constraints
    assert all(world.uses(route) for route in of_constraints)
    assert not world.uses(routes.LIST_DATABASES)


def test_rights_are_read_once_while_nothing_changes(world: World) -> None:
    world.given(everything("asset"))
    for _ in range(3):
        assert world.may("GET")
    assert world.requested == ["epoch", "ann", "epoch"]
    world.at += timedelta(seconds=2)
    assert world.may("GET")
    assert world.requested == ["epoch", "ann", "epoch", "epoch"]


def test_a_denial_that_moves_to_another_role_meanwhile_is_never_absent(world: World) -> None:
    denial = stored("asset", ("assetName", "equals", "pump"), effect="deny")
    world.given(everything("asset"), denial, role="one")
    world.given(role="other")

    def move() -> None:
        """Its old place is read after the move, the new one was before."""
        world.stale = {"role#other": ()}
        put_policy(world.tables, "role#one", everything("asset"), epoch=2)
        put_policy(world.tables, "role#other", denial, epoch=2)

    world.before_reading = [move]
    assert not world.may("GET")
    assert world.requested == ["epoch", "ann", "epoch", "ann", "epoch"]


def test_rights_that_change_without_end_are_an_outage(world: World) -> None:
    world.given(everything("asset"))

    def change(epoch: int) -> Callable[[], None]:
        return lambda: put_policy(world.tables, "role#viewer", everything("asset"), epoch=epoch)

    world.before_reading = [change(epoch) for epoch in range(2, 12)]
    assert world.may("GET"), "a script that changes permissions does not refuse others"
    change(12)()
    world.at += timedelta(seconds=2)
    world.before_reading = [change(epoch) for epoch in range(13, 31)]
    with pytest.raises(UnavailableError, match="changed too often"):
        world.may("GET")
    world.before_reading = []
    assert world.may("GET")


def take_role(tables: Tables) -> None:
    grant = Delete(table=USER_ROLES, key={"userId": "ann", "roleName": "viewer"})
    tables.transact([grant, Update(table=POLICIES, key={"policyKey": "epoch"}, add={"n": 1})])


def take_rules(tables: Tables) -> None:
    put_policy(tables, "role#viewer", epoch=2)


@pytest.mark.parametrize("take", [take_role, take_rules])
def test_what_was_taken_away_ends_after_two_seconds(world: World, take: Take) -> None:
    world.given(everything("asset"))
    assert world.may("GET")
    take(world.tables)
    world.at += timedelta(seconds=1.9)
    assert world.may("GET")
    world.at += timedelta(seconds=0.1)
    assert not world.may("GET")
    assert world.rules.search_filter(ANN) is None


def test_what_was_read_before_the_clock_was_set_back_is_not_believed(world: World) -> None:
    world.given(everything("asset"))
    assert world.may("GET")
    put_policy(world.tables, "role#viewer", epoch=2)
    world.at -= timedelta(hours=1)
    assert not world.may("GET")


def test_kept_rights_are_bounded(world: World) -> None:
    for number in range(CACHED_USERS + 1):
        world.rules.may(Identity(f"user-{number}"), "GET", ASSET)
    world.requested.clear()
    world.rules.may(Identity(f"user-{CACHED_USERS}"), "GET", ASSET)
    assert world.requested == []
    world.rules.may(Identity("user-0"), "GET", ASSET)
    assert world.requested == ["user-0", "epoch"]


def test_a_rule_that_cannot_be_read_denies_its_type(world: World) -> None:
    broken = {**stored("asset", ("tags", "matches", "x")), "constraintId": "broken"}
    world.given(everything("asset"), everything("database"), broken)
    assert not world.may("GET")
    assert world.rules.search_filter(ANN) is None
    assert world.may("GET", Secured("database", {"databaseId": "db1"}))


def test_a_rule_on_unknown_attributes_denies_everything(world: World) -> None:
    world.given(everything("asset"), {"constraintId": "broken"})
    assert not world.may("GET")


def test_who_may_see_all_assets_searches_without_conditions(world: World) -> None:
    world.given(stored("asset", ("databaseId", "contains", ".*")))
    assert world.rules.search_filter(ANN) == EVERYTHING


def test_routes_are_granted_by_path_and_method(world: World) -> None:
    world.given(stored("api", ("route__path", "starts_with", "/database"), actions=["GET"]))
    assert world.uses(routes.LIST_DATABASES)
    assert world.uses(routes.GET_ASSET, databaseId="db1", assetId="a")
    assert world.uses(routes.HEAD_FILE, databaseId="db1", assetId="a", proxy="x")
    assert not world.uses(routes.CREATE_DATABASE)
    assert not world.uses(routes.LIST_TAGS)
    world.at += timedelta(seconds=2)
    denial = stored("api", ("route__path", "contains", "/database/db1"), effect="deny")
    put_policy(world.tables, "role#viewer", everything("api"), denial, epoch=2)
    assert not world.uses(routes.LIST_ASSETS, databaseId="db1")
    assert world.uses(routes.LIST_ASSETS, databaseId="other")


def test_a_route_is_granted_for_one_database_or_all(world: World) -> None:
    world.given(stored("api", ("route__path", "equals", "/database/db1/assets")))
    assert world.uses(routes.LIST_ASSETS, databaseId="db1")
    assert not world.uses(routes.LIST_ASSETS, databaseId="db2")
    declared = stored("api", ("route__path", "equals", "/database/{databaseId}/assets"))
    put_policy(world.tables, "role#viewer", declared, epoch=2)
    world.at += timedelta(seconds=2)
    assert world.uses(routes.LIST_ASSETS, databaseId="db2")


def test_a_parameter_never_looks_like_several_segments() -> None:
    path = {"databaseId": "db1", "assetId": "a%/comments", "proxy": "auth/roles"}
    requested, declared = route_fields(routes.STREAM_FILE, path)["route__path"]
    assert requested == "/database/db1/assets/a%25%2Fcomments/download/stream/auth%2Froles"
    assert declared == routes.STREAM_FILE.path


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
