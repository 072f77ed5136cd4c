"""Roles, sign-ins, profiles and subscriptions seen from the client."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field

import httpx
import pytest
from pydantic import JsonValue
from vitrine import ConflictError, NotFoundError, PermissionDeniedError, Vitrine

from tests.unit.client.fake_server import FakeServer
from tests.unit.client.shell import Shell

DONE: dict[str, JsonValue] = {
    "success": True,
    "message": "done",
    "operation": "x",
    "timestamp": "2026",
}


@dataclass
class Answers:
    """Returns planned replies, and records the bodies of the requests."""

    server: FakeServer
    bodies: list[tuple[str, JsonValue]] = field(default_factory=list[tuple[str, JsonValue]])

    def plan(self, *bodies: JsonValue, status: int = 200) -> Callable[[], list[JsonValue]]:
        answers = [httpx.Response(status, json=body) for body in bodies]

        def serve(request: httpx.Request) -> httpx.Response:
            path = request.url.raw_path.decode()
            sent = json.loads(request.content) if request.content else None
            self.bodies.append((f"{request.method} {path}", sent))
            return answers.pop(0)

        self.server.api.handler = serve
        return lambda: [body for _, body in self.bodies]

    @property
    def requests(self) -> list[str]:
        return [request for request, _ in self.bodies]


@pytest.fixture
def answers(server: FakeServer) -> Answers:
    return Answers(server)


def test_roles_of_all_pages_are_listed(client: Vitrine, answers: Answers) -> None:
    answers.plan(
        {"Items": [{"roleName": "viewer", "mfaRequired": True}], "NextToken": "t"},
        {"Items": [{"roleName": "editor"}]},
    )
    found = list(client.roles.list())
    assert [(one.role_name, one.mfa_required) for one in found] == [
        ("viewer", True),
        ("editor", False),
    ]
    assert answers.requests == ["GET /roles", "GET /roles?startingToken=t"]


def test_a_role_is_made_given_and_deleted(client: Vitrine, answers: Answers) -> None:
    bodies = answers.plan(DONE, DONE, DONE, DONE, {**DONE, "jobId": "withdrawRole.1"})
    client.roles.create("viewer", description="Looks")
    client.roles.give("ann", ["viewer"])
    client.roles.set("ann", ["viewer", "editor"])
    client.roles.take_all("ann")
    assert client.roles.delete("lab viewer").job_id == "withdrawRole.1"
    assert answers.requests == [
        "POST /roles",
        "POST /user-roles",
        "PUT /user-roles",
        "DELETE /user-roles",
        "DELETE /roles/lab%20viewer",
    ]
    assert bodies() == [
        {"roleName": "viewer", "description": "Looks"},
        {"userId": "ann", "roleName": ["viewer"]},
        {"userId": "ann", "roleName": ["viewer", "editor"]},
        {"userId": "ann"},
        None,
    ]


def test_the_last_administrator_is_a_conflict(client: Vitrine, answers: Answers) -> None:
    refusal: JsonValue = {"message": "ann is the last administrator", "code": "LastAdministrator"}
    answers.plan(refusal, status=409)
    with pytest.raises(ConflictError, match="last administrator"):
        client.roles.take_all("ann")


def test_sign_ins_and_profiles(client: Vitrine, answers: Answers) -> None:
    user: JsonValue = {
        "userId": "ann",
        "email": "ann@x.org",
        "userStatus": "CONFIRMED",
        "enabled": True,
    }
    profile: JsonValue = {"message": {"Items": [{"userId": "ann", "email": "ann@x.org"}]}}
    bodies = answers.plan({"users": [user]}, DONE, DONE, DONE, DONE, profile, profile)
    (found,) = client.sign_ins.list()
    assert (found.user_id, found.user_status) == ("ann", "CONFIRMED")
    client.sign_ins.create("ann", email="ann@x.org")
    client.sign_ins.update("ann", phone="+12345678900")
    client.sign_ins.reset_password("ann")
    client.sign_ins.delete("ann")
    assert client.profiles.get("ann").email == "ann@x.org"
    assert client.profiles.keep("ann", email="ann@x.org").user_id == "ann"
    assert bodies()[1:4] == [
        {"userId": "ann", "email": "ann@x.org"},
        {"phone": "+12345678900"},
        {"confirmReset": True},
    ]


def test_a_deployment_without_user_pool_is_reported(client: Vitrine, answers: Answers) -> None:
    answers.plan({"message": "no pool", "code": "UserPoolNotDeployed"}, status=404)
    with pytest.raises(NotFoundError, match="no pool"):
        list(client.sign_ins.list())


def test_the_profile_of_another_is_denied(client: Vitrine, answers: Answers) -> None:
    answers.plan({"message": "only your own", "code": "PermissionDenied"}, status=403)
    with pytest.raises(PermissionDeniedError):
        client.profiles.get("bob")


ROW: JsonValue = {
    "eventName": "Asset Version Change",
    "entityName": "Asset",
    "entityId": "statue",
    "subscribers": ["ann"],
    "entityValue": "A statue",
    "databaseId": "museum",
}


def test_subscriptions_are_listed_changed_and_checked(client: Vitrine, answers: Answers) -> None:
    done: JsonValue = {"message": "success"}
    bodies = answers.plan(
        {"message": {"Items": [ROW], "NextToken": "t"}},
        {"message": {"Items": [ROW]}},
        *(done, done, done, done, done),
        {"message": "Not subscribed"},
    )
    assert [one.entity_id for one in client.subscriptions.list()] == ["statue", "statue"]
    client.subscriptions.create("statue", ["ann"])
    client.subscriptions.update("statue", ["ann"])
    client.subscriptions.unsubscribe("statue", ["ann"])
    client.subscriptions.delete("statue")
    assert client.subscriptions.is_subscribed("statue", "ann")
    assert not client.subscriptions.is_subscribed("statue", "bob")
    assert answers.requests[2:] == [
        "POST /subscriptions",
        "PUT /subscriptions",
        "DELETE /unsubscribe",
        "DELETE /subscriptions",
        "POST /check-subscription",
        "POST /check-subscription",
    ]
    assert bodies()[2] == {
        "eventName": "Asset Version Change",
        "entityName": "Asset",
        "entityId": "statue",
        "subscribers": ["ann"],
    }


@pytest.mark.parametrize(
    ("arguments", "answer", "shown"),
    [
        (["roles", "list"], {"Items": [{"roleName": "viewer"}]}, "viewer"),
        (["roles", "create", "viewer"], DONE, "viewer"),
        (["roles", "update", "viewer", "--description", "x"], DONE, "viewer"),
        (["roles", "delete", "viewer", "--yes"], {**DONE, "jobId": "job.1"}, "job.1"),
        (["roles", "users"], {"Items": [{"userId": "ann", "roleName": ["a", "b"]}]}, "a, b"),
        (["roles", "give", "ann", "a", "b"], DONE, "a, b"),
        (["roles", "set", "ann", "a"], DONE, "ann"),
        (["roles", "take", "ann", "--yes"], DONE, "ann"),
        (["users", "list"], {"users": [{"userId": "ann", "email": "a@x.org"}]}, "a@x.org"),
        (["users", "create", "ann", "--email", "a@x.org"], DONE, "a@x.org"),
        (["users", "update", "ann", "--email", "a@x.org"], DONE, "a@x.org"),
        (["users", "delete", "ann", "--yes"], DONE, "ann"),
        (["users", "reset-password", "ann", "--yes"], DONE, "ann"),
        (["users", "profile", "ann"], {"message": {"Items": [{"userId": "ann"}]}}, "ann"),
        (["subscriptions", "list"], {"message": {"Items": [ROW]}}, "A statue"),
        (["subscriptions", "add", "statue", "ann"], {"message": "success"}, "statue"),
        (["subscriptions", "set", "statue", "ann"], {"message": "success"}, "statue"),
        (["subscriptions", "remove", "statue", "ann"], {"message": "success"}, "ann"),
        (["subscriptions", "delete", "statue", "--yes"], {"message": "success"}, "statue"),
        (["subscriptions", "check", "statue", "ann"], {"message": "success"}, "yes"),
    ],
)
def test_each_command_prints_lines_or_json(
    shell: Shell, answers: Answers, arguments: list[str], answer: JsonValue, shown: str
) -> None:
    answers.plan(answer, answer)
    assert shown in shell.run(*arguments)
    assert shell.code == 0
    assert isinstance(shell.json(*arguments), dict)


@pytest.mark.parametrize(
    "arguments",
    [
        ["roles", "delete", "viewer"],
        ["roles", "take", "ann"],
        ["users", "delete", "ann"],
        ["users", "update", "ann"],
        ["subscriptions", "delete", "statue"],
    ],
)
def test_a_missing_confirmation_or_option_is_wrong_usage(
    shell: Shell, server: FakeServer, arguments: list[str]
) -> None:
    shell.run(*arguments)
    assert shell.code == 2
    assert server.requests == []


def test_who_is_not_subscribed_fails_the_check(shell: Shell, answers: Answers) -> None:
    answers.plan({"message": "Not subscribed"})
    assert "no" in shell.run("subscriptions", "check", "statue", "ann")
    assert shell.code == 1
