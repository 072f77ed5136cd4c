"""Who can sign in: the routes of Cognito users, over moto's cognito-idp."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import count
from typing import Any, cast

import boto3
import pytest

from backend.aws.user_pool import CognitoUserPool
from backend.core.authorization import Secured
from backend.core.identity import Identity
from backend.core.paging import Page, PageRequest
from backend.core.user_pool import PoolUser
from backend.spec.routes import Action, Route
from tests.factories.access import OnlyUser, stored_user_role
from tests.factories.administration import Parts
from tests.factories.audit import entries
from tests.factories.http import Client, Response, operation_reply
from tests.fakes.user_pool import MemoryUserPool

NOON = "2026-03-01T12:00:00.000000Z"
ANN = {"userId": "ann", "email": "ann@example.org", "phone": "+12345678900"}


@pytest.fixture
def cognito() -> Any:
    """Not the product's own client, which outlives the AWS of one test."""
    return boto3.client("cognito-idp", region_name="us-east-1")


@pytest.fixture
def pool(cognito: Any) -> CognitoUserPool:
    return CognitoUserPool(cognito, cognito.create_user_pool(PoolName="users")["UserPool"]["Id"])


@pytest.fixture
def client(parts: Parts, pool: CognitoUserPool) -> Client:
    return Client(replace(parts, pool=pool).services().router())


def create(client: Client, **changes: object) -> Response:
    body = {name: value for name, value in {**ANN, **changes}.items() if value is not None}
    return client.send("POST", "/user/cognito", body=body)


def one(client: Client, method: str, user: str = "ann", body: object = None) -> Response:
    path = f"/user/cognito/{user}"
    return client.send(method, path, parameters={"userId": user}, body=body)


def reset(client: Client, user: str = "ann", body: object = None) -> Response:
    path = f"/user/cognito/{user}/resetPassword"
    body = {"confirmReset": True} if body is None else body
    return client.send("POST", path, parameters={"userId": user}, body=body)


def listed(client: Client) -> list[dict[str, Any]]:
    return client.send("GET", "/user/cognito").body["users"]


def assert_verified(pool: CognitoUserPool) -> None:
    user = cast("Any", pool.client.admin_get_user(UserPoolId=pool.pool_id, Username="ann"))
    values = {row["Name"]: row["Value"] for row in user["UserAttributes"]}
    assert (values["email_verified"], values["phone_number_verified"]) == ("true", "true")


def test_a_user_is_made_listed_changed_and_removed(client: Client, pool: CognitoUserPool) -> None:
    made = create(client)
    assert made.body == operation_reply(
        "User ann was created; a temporary password is sent by email", "create", userId="ann"
    )
    (ann,) = listed(client)
    assert ann.pop("userCreateDate") <= ann.pop("userLastModifiedDate")
    assert ann == {
        "userId": "ann",
        "email": "ann@example.org",
        "phone": "+12345678900",
        "userStatus": "FORCE_CHANGE_PASSWORD",
        "enabled": True,
        "mfaEnabled": False,
    }
    assert one(client, "PUT", body={"email": "a@x.org"}).body["operation"] == "update"
    (ann,) = listed(client)
    assert (ann["email"], ann["phone"]) == ("a@x.org", "+12345678900")
    both = one(client, "PUT", body={"clearPhone": True, "phone": "+12345678901"})
    assert (both.status, both.body["errors"][0]["field"]) == (400, "clearPhone")
    assert one(client, "PUT", body={"clearPhone": False}).status == 400
    assert one(client, "PUT", body={"clearPhone": "true"}).status == 400
    assert one(client, "PUT", body={"clearPhone": True}).status == 200
    (ann,) = listed(client)
    assert (ann["email"], ann.get("phone")) == ("a@x.org", None)
    assert one(client, "DELETE").body["operation"] == "delete"
    assert listed(client) == []
    create(client)
    assert one(client, "PUT", body={}).status == 400
    for body in ({"confirmReset": False}, {"confirmReset": "true"}):
        assert reset(client, body=body).status == 400
    # The request confirms: stock clients send the user's id alone.
    assert reset(client, body={"userId": "ann"}).status == 200


def test_ids_of_other_providers_and_endless_pools_are_refused(parts: Parts) -> None:
    pool = MemoryUserPool()
    parts = replace(parts, pool=pool, provider_prefix="corp.")
    client = Client(parts.services().router())
    for name in ("corp.ann", "CORP.ann"):
        answer = create(client, userId=name)
        assert [error["field"] for error in answer.body["errors"]] == ["userId"]
    assert pool.users == {}
    assert create(client, userId="corporal").status == 200
    pool = EndlessPool()
    parts = replace(parts, pool=pool, authorization=FewVisible())
    seconds = count()
    late = replace(
        parts.services().users, clock=lambda: parts.now + timedelta(seconds=next(seconds))
    )
    page = late.list_users(Identity("ann"), PageRequest(60))
    assert page.items == ()
    assert page.after == {"number": len(pool.users)}
    assert len(pool.users) < 5


def test_a_reset_sends_or_requires_a_password(client: Client, pool: CognitoUserPool) -> None:
    create(client)
    before = listed(client)
    assert reset(client).body["operation"] == "resetPassword"
    (user,) = listed(client)
    assert user["userStatus"] == "FORCE_CHANGE_PASSWORD"
    contact = ("email", "phone")
    assert [user[name] for name in contact] == [before[0][name] for name in contact]
    assert all(user[name] for name in contact)
    assert_verified(pool)
    pool.client.admin_set_user_password(
        UserPoolId=pool.pool_id, Username="ann", Password="Secret-pass1", Permanent=True
    )
    assert reset(client).status == 200
    assert [user["userStatus"] for user in listed(client)] == ["RESET_REQUIRED"]
    pool.client.admin_disable_user(UserPoolId=pool.pool_id, Username="ann")
    refused = reset(client)
    assert (refused.status, refused.body["code"]) == (409, "StateForbids")


def test_a_name_is_taken_once(client: Client, parts: Parts, pool: CognitoUserPool) -> None:
    create(client)
    again = create(client)
    assert (again.status, again.body["code"]) == (409, "CognitoUserExists")
    for answer in (
        one(client, "PUT", "bob", {"email": "b@x.org"}),
        one(client, "DELETE", "bob"),
        reset(client, "bob"),
    ):
        assert (answer.status, answer.body["code"]) == (404, "CognitoUserNotFound")
    assert len(entries(parts.tables)) == 1
    assert_verified(pool)


class FewVisible(OnlyUser):
    def may(self, caller: Identity, action: Action, target: Secured) -> bool:
        return str(target.fields["userId"]).startswith("a")


@pytest.mark.parametrize("hidden", [0, 1, 70])
@pytest.mark.parametrize("limit", [1, 3, 4])
def test_the_end_of_a_page_does_not_depend_on_hidden_users_behind_it(
    parts: Parts, limit: int, hidden: int
) -> None:
    pool = MemoryUserPool()
    for name in (*("a1", "a2", "a3"), *(f"b{number}" for number in range(hidden))):
        pool.create_user(name, email="x@example.org", phone=None)
    users = replace(parts, pool=pool, authorization=FewVisible()).services().users
    page, pages = PageRequest(limit), list[int]()
    while True:
        reply = users.list_users(Identity("ann"), page)
        pages.append(len(reply.items))
        if reply.after is None:
            break
        page = PageRequest(limit, reply.after)
    assert pages == {1: [1, 1, 1, 0], 3: [3, 0], 4: [3]}[limit]


@dataclass
class EndlessPool(MemoryUserPool):
    """A pool that has no end."""

    def list_users(self, page: PageRequest) -> Page[PoolUser]:
        number = 0 if page.after is None else int(page.after["number"])
        self.create_user(f"user-{number}", email="x@example.org", phone=None)
        return Page((self.users[f"user-{number}"],), {"number": number + 1})


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"userId": None}, "userId"),
        ({"userId": "a b"}, "userId"),
        ({"userId": "u" * 129}, "userId"),
        ({"email": None}, "email"),
        ({"email": "ann"}, "email"),
        ({"phone": "12345678900"}, "phone"),
        ({"phone": "+0123456789"}, "phone"),
        ({"phone": "+1234567890123456"}, "phone"),
    ],
)
def test_a_wrong_user_is_refused_by_field(
    client: Client, changes: dict[str, object], field: str
) -> None:
    answer = create(client, **changes)
    assert (answer.status, answer.body["errors"][0]["field"]) == (400, field)
    assert listed(client) == []


class NoRoleOf:
    """Everything but one role, as a rule says by negation: what names no role is not refused."""

    def __init__(self, role_name: str) -> None:
        self.role_name = role_name

    def may_use(self, caller: Identity, route: Route, path: Mapping[str, str]) -> bool:
        return True

    def may(self, caller: Identity, action: Action, target: Secured) -> bool:
        return target.fields.get("roleName") != self.role_name


def test_who_may_not_give_a_role_takes_over_no_one_who_has_it(
    parts: Parts, pool: CognitoUserPool
) -> None:
    rules = NoRoleOf("admin")
    services = replace(parts, authorization=rules, pool=pool).services()
    client = Client(services.router(), authorization=rules)
    create(client)
    assert one(client, "PUT", body={"email": "eve@example.org"}).status == 200
    stored_user_role(parts.tables, user_id="ann", role_name="viewer")
    assert one(client, "PUT", body={"email": "ann@example.org"}).status == 200
    for user in ("ann", "boss"):
        stored_user_role(parts.tables, user_id=user, role_name="admin")
    for refused in (
        one(client, "PUT", body={"email": "eve@example.org"}),
        reset(client),
        one(client, "DELETE"),
        create(client, userId="boss"),
    ):
        assert (refused.status, refused.body["code"]) == (403, "PermissionDenied")
    assert [(item["userId"], item["email"]) for item in listed(client)] == [
        ("ann", "ann@example.org")
    ]


def test_without_a_pool_each_route_returns_the_reason(parts: Parts) -> None:
    client = Client(parts.services().router())
    for answer in (
        client.send("GET", "/user/cognito"),
        create(client),
        one(client, "PUT", body={"email": "a@x.org"}),
        one(client, "DELETE"),
        reset(client),
    ):
        assert (answer.status, answer.body["code"]) == (404, "UserPoolNotDeployed")
