"""The rules of a user's roles decide, as soon as they change."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import pytest

from backend.core.authorization import Secured
from backend.core.errors import UnavailableError
from backend.core.identity import Identity
from backend.core.tables import Tables
from backend.core.transactions import Delete, Update
from backend.domains.access.policy.model import ACTIONS, OBJECT_TYPES
from backend.domains.access.policy.search_filter import EVERYTHING
from backend.domains.access.repository.policies import Granted, PolicyRepository, StoredRules
from backend.domains.access.service.decisions import (
    CACHED_USERS,
    PolicyAuthorization,
    route_fields,
)
from backend.spec import routes
from backend.spec.routes import Route
from backend.spec.tables.access import POLICIES, ROLES, USER_ROLES
from tests.factories.access import stored_user_role
from tests.factories.administration import stored_role
from tests.factories.policies import everything, put_policy, stored

ANN = Identity("ann")
ASSET = Secured("asset", {"databaseId": "db1", "assetName": "pump", "assetType": "", "tags": ()})


@dataclass
class ManualClock:
    at: datetime

    def __call__(self) -> datetime:
        return self.at


@dataclass
class CountingRepository:
    """The repository; records its calls."""

    real: PolicyRepository
    requested: list[str] = field(default_factory=list[str])
    before_reading: list[Callable[[], None]] = field(default_factory=list[Callable[[], None]])
    """Concurrent changes while rights are read, once each."""
    stale: Mapping[str, StoredRules] = field(default_factory=dict[str, StoredRules])
    """Rules as they were before that, for the reading that it comes into."""

    def epoch(self) -> int:
        self.requested.append("epoch")
        return self.real.epoch()

    def granted(self, user_id: str, *, mfa: bool) -> Granted:
        self.requested.append(user_id)
        if self.before_reading:
            self.before_reading.pop(0)()
        found = self.real.granted(user_id, mfa=mfa)
        torn, self.stale = {**found.rules, **self.stale}, {}
        return found._replace(rules=torn)


@pytest.fixture
def hand(now: datetime) -> ManualClock:
    return ManualClock(now)


@pytest.fixture
def counted(tables: Tables) -> CountingRepository:
    return CountingRepository(PolicyRepository(tables))


@pytest.fixture
def rules(counted: CountingRepository, hand: ManualClock) -> PolicyAuthorization:
    return PolicyAuthorization(counted, hand)  # pyright: ignore[reportArgumentType] - it counts


def given(
    tables: Tables,
    *found: Mapping[str, Any],
    role: str = "viewer",
    epoch: int = 1,
    **more: Any,
) -> None:
    """Ann has a role with these rules."""
    stored_role(tables, role, **more)
    stored_user_role(tables, user_id="ann", role_name=role)
    put_policy(tables, f"role#{role}", *found, epoch=epoch)


def test_who_has_no_role_may_do_nothing(rules: PolicyAuthorization) -> None:
    assert not any(rules.may(ANN, action, ASSET) for action in ACTIONS)
    assert not rules.may_use(ANN, routes.LIST_DATABASES, {})
    assert rules.search_filter(ANN) is None


def test_public_routes_are_for_everyone(rules: PolicyAuthorization) -> None:
    public = [route for route in routes.ROUTES if route.public]
    assert public
    assert all(rules.may_use(ANN, route, {}) for route in public)


def test_the_rules_of_a_role_count_for_who_has_it(
    rules: PolicyAuthorization, tables: Tables
) -> None:
    given(tables, stored("asset", ("databaseId", "equals", "db1"), actions=["GET"]))
    assert rules.may(ANN, "GET", ASSET)
    assert not rules.may(ANN, "PUT", ASSET)
    assert not rules.may(Identity("bob"), "GET", ASSET)
    assert not rules.may(ANN, "GET", Secured("asset", {"databaseId": "db2"}))


def test_the_rules_of_the_user_count_beside_those_of_roles(
    rules: PolicyAuthorization, tables: Tables
) -> None:
    given(tables, everything("asset"))
    put_policy(tables, "user#ann", everything("asset", effect="deny", actions=["DELETE"]))
    assert rules.may(ANN, "GET", ASSET)
    assert not rules.may(ANN, "DELETE", ASSET)


def test_a_denial_of_one_role_wins_over_another_role(
    rules: PolicyAuthorization, tables: Tables
) -> None:
    given(tables, everything("asset"))
    given(tables, stored("asset", ("databaseId", "equals", "db1"), effect="deny"), role="guard")
    assert not rules.may(ANN, "GET", ASSET)
    assert rules.may(ANN, "GET", Secured("asset", {"databaseId": "db2"}))


def test_a_role_that_requires_a_second_factor_applies_only_with_one(
    rules: PolicyAuthorization, tables: Tables
) -> None:
    given(tables, everything("asset"), mfaRequired=True)
    assert not rules.may(ANN, "GET", ASSET)
    assert rules.may(ANN._replace(mfa=True), "GET", ASSET)
    assert not rules.may(ANN, "GET", ASSET), "the two are kept apart"


@pytest.mark.parametrize("more", [None, {"deletedBy": "job"}], ids=["gone", "being deleted"])
def test_a_role_that_is_deleted_while_in_use_does_not_count(
    rules: PolicyAuthorization, tables: Tables, more: dict[str, Any] | None
) -> None:
    given(tables, everything("asset"), role="admin", **(more or {}))
    if more is None:
        tables.write(Delete(table=ROLES, key={"roleName": "admin"}))
    assert not rules.may(ANN, "GET", ASSET)
    assert not rules.may(ANN, "GET", Secured("failure"))


def test_types_that_no_rule_names_are_for_administrators(
    rules: PolicyAuthorization, tables: Tables
) -> None:
    given(tables, *(everything(each) for each in OBJECT_TYPES))
    stored_role(tables, "admin")
    stored_user_role(tables, user_id="boss")
    for each in ("failure", "queue", "audit", "constraint", "searchIndex", "apiKey"):
        target = Secured(each, {"userId": "boss"})
        assert rules.may(Identity("boss"), "POST", target)
        assert not rules.may(ANN, "POST", target)


def test_buckets_are_seen_and_own_keys_managed_by_users_of_the_routes(
    rules: PolicyAuthorization,
) -> None:
    assert rules.may(ANN, "GET", Secured("bucket", {"bucketId": "b"}))
    assert not rules.may(ANN, "PUT", Secured("bucket", {"bucketId": "b"}))
    assert rules.may(ANN, "POST", Secured("apiKey", {"userId": "ann"}))
    assert not rules.may(ANN, "GET", Secured("apiKey", {"userId": "bob"}))


def test_a_bucket_is_changed_by_rule_and_hidden_by_a_denial(
    rules: PolicyAuthorization, tables: Tables
) -> None:
    allowed = stored("bucket", ("bucketId", "equals", "one"), actions=["POST"])
    denied = stored("bucket", ("bucketId", "equals", "two"), effect="deny", actions=["GET"])
    given(tables, allowed, denied)
    one, two = (Secured("bucket", {"bucketId": each}) for each in ("one", "two"))
    assert (rules.may(ANN, "GET", one), rules.may(ANN, "POST", one)) == (True, True)
    assert (rules.may(ANN, "GET", two), rules.may(ANN, "POST", two)) == (False, False)


def test_an_administrator_is_no_exception_to_rules(
    rules: PolicyAuthorization, tables: Tables
) -> None:
    given(tables, everything("asset", effect="deny"), everything("asset"), role="admin")
    assert not rules.may(ANN, "GET", ASSET)


def test_no_rule_locks_administrators_out_of_the_constraints(
    rules: PolicyAuthorization, tables: Tables
) -> None:
    given(tables, everything("api", effect="deny"), role="admin")
    of_constraints = [route for route in routes.ROUTES if route.object_type == "constraint"]
    assert of_constraints
    assert all(rules.may_use(ANN, route, {}) for route in of_constraints)
    assert not rules.may_use(ANN, routes.LIST_DATABASES, {})


def test_rights_are_read_once_while_nothing_changes(
    rules: PolicyAuthorization, tables: Tables, counted: CountingRepository, hand: ManualClock
) -> None:
    given(tables, everything("asset"))
    for _ in range(3):
        assert rules.may(ANN, "GET", ASSET)
    assert counted.requested == ["epoch", "ann", "epoch"]
    hand.at += timedelta(seconds=2)
    assert rules.may(ANN, "GET", ASSET)
    assert counted.requested == ["epoch", "ann", "epoch", "epoch"]


def test_a_denial_that_moves_to_another_role_meanwhile_is_never_absent(
    rules: PolicyAuthorization, tables: Tables, counted: CountingRepository
) -> None:
    denial = stored("asset", ("assetName", "equals", "pump"), effect="deny")
    given(tables, everything("asset"), denial, role="one")
    given(tables, role="other")

    def move() -> None:
        """Its old place is read after the move, the new one was before."""
        counted.stale = {"role#other": ()}
        put_policy(tables, "role#one", everything("asset"), epoch=2)
        put_policy(tables, "role#other", denial, epoch=2)

    counted.before_reading = [move]
    assert not rules.may(ANN, "GET", ASSET)
    assert counted.requested == ["epoch", "ann", "epoch", "ann", "epoch"]


def test_rights_that_change_without_end_are_an_outage(
    rules: PolicyAuthorization, tables: Tables, counted: CountingRepository
) -> None:
    given(tables, everything("asset"))

    def change(epoch: int) -> Callable[[], None]:
        return lambda: put_policy(tables, "role#viewer", everything("asset"), epoch=epoch)

    counted.before_reading = [change(epoch) for epoch in range(2, 12)]
    with pytest.raises(UnavailableError, match="changed too often"):
        rules.may(ANN, "GET", ASSET)
    counted.before_reading = []
    assert rules.may(ANN, "GET", ASSET)


def test_a_right_that_was_taken_away_ends_after_two_seconds(
    rules: PolicyAuthorization, tables: Tables, hand: ManualClock
) -> None:
    given(tables, everything("asset"))
    assert rules.may(ANN, "GET", ASSET)
    put_policy(tables, "role#viewer", epoch=2)
    hand.at += timedelta(seconds=1.9)
    assert rules.may(ANN, "GET", ASSET)
    hand.at += timedelta(seconds=0.1)
    assert not rules.may(ANN, "GET", ASSET)
    assert rules.search_filter(ANN) is None


def test_a_role_that_was_taken_away_ends_after_two_seconds(
    rules: PolicyAuthorization, tables: Tables, hand: ManualClock
) -> None:
    given(tables, everything("asset"))
    assert rules.may(ANN, "GET", ASSET)
    tables.transact(
        [
            Delete(table=USER_ROLES, key={"userId": "ann", "roleName": "viewer"}),
            Update(table=POLICIES, key={"policyKey": "epoch"}, add={"n": 1}),
        ]
    )
    hand.at += timedelta(seconds=2)
    assert not rules.may(ANN, "GET", ASSET)


def test_what_was_read_before_the_clock_was_set_back_is_not_believed(
    rules: PolicyAuthorization, tables: Tables, hand: ManualClock
) -> None:
    given(tables, everything("asset"))
    assert rules.may(ANN, "GET", ASSET)
    put_policy(tables, "role#viewer", epoch=2)
    hand.at -= timedelta(hours=1)
    assert not rules.may(ANN, "GET", ASSET)


def test_kept_rights_are_bounded(rules: PolicyAuthorization, counted: CountingRepository) -> None:
    for number in range(CACHED_USERS + 1):
        rules.may(Identity(f"user-{number}"), "GET", ASSET)
    counted.requested.clear()
    rules.may(Identity(f"user-{CACHED_USERS}"), "GET", ASSET)
    assert counted.requested == []
    rules.may(Identity("user-0"), "GET", ASSET)
    assert counted.requested == ["user-0", "epoch"]


def test_a_rule_that_cannot_be_read_denies_its_type_and_nothing_else(
    rules: PolicyAuthorization, tables: Tables
) -> None:
    broken = {**stored("asset", ("tags", "matches", "x")), "constraintId": "broken"}
    given(tables, everything("asset"), everything("database"), broken)
    assert not rules.may(ANN, "GET", ASSET)
    assert rules.search_filter(ANN) is None
    assert rules.may(ANN, "GET", Secured("database", {"databaseId": "db1"}))


def test_a_rule_on_unknown_attributes_denies_everything(
    rules: PolicyAuthorization, tables: Tables
) -> None:
    given(tables, everything("asset"), {"constraintId": "broken"})
    assert not rules.may(ANN, "GET", ASSET)


def test_who_may_see_all_assets_searches_without_conditions(
    rules: PolicyAuthorization, tables: Tables
) -> None:
    given(tables, stored("asset", ("databaseId", "contains", ".*")))
    assert rules.search_filter(ANN) == EVERYTHING


def uses(rules: PolicyAuthorization, route: Route, **path: str) -> bool:
    return rules.may_use(ANN, route, path)


def test_routes_are_granted_by_path_and_method(rules: PolicyAuthorization, tables: Tables) -> None:
    given(tables, stored("api", ("route__path", "starts_with", "/database"), actions=["GET"]))
    assert uses(rules, routes.LIST_DATABASES)
    assert uses(rules, routes.GET_ASSET, databaseId="db1", assetId="a")
    assert uses(rules, routes.HEAD_FILE, databaseId="db1", assetId="a", proxy="x")
    assert not uses(rules, routes.CREATE_DATABASE)
    assert not uses(rules, routes.LIST_TAGS)


def test_a_route_is_granted_for_one_database(rules: PolicyAuthorization, tables: Tables) -> None:
    given(tables, stored("api", ("route__path", "equals", "/database/db1/assets")))
    assert uses(rules, routes.LIST_ASSETS, databaseId="db1")
    assert not uses(rules, routes.LIST_ASSETS, databaseId="db2")


def test_a_route_is_granted_as_it_is_declared(rules: PolicyAuthorization, tables: Tables) -> None:
    given(tables, stored("api", ("route__path", "equals", "/database/{databaseId}/assets")))
    assert uses(rules, routes.LIST_ASSETS, databaseId="db2")


def test_a_denied_path_is_denied_however_it_is_spelled(
    rules: PolicyAuthorization, tables: Tables
) -> None:
    denial = stored("api", ("route__path", "contains", "/database/db1"), effect="deny")
    given(tables, everything("api"), denial)
    assert not uses(rules, routes.LIST_ASSETS, databaseId="db1")
    assert uses(rules, routes.LIST_ASSETS, databaseId="other")


def test_a_parameter_never_looks_like_several_segments() -> None:
    path = {"databaseId": "db1", "assetId": "a%/comments", "proxy": "auth/roles"}
    requested, declared = route_fields(routes.STREAM_FILE, path)["route__path"]
    assert requested == "/database/db1/assets/a%25%2Fcomments/download/stream/auth%2Froles"
    assert declared == routes.STREAM_FILE.path
