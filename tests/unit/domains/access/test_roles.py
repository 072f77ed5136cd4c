"""Roles, who has them, and names of deleted objects that constraints still mention."""

import json
from dataclasses import replace
from typing import Any

import pytest

from backend.core.authorization import SystemOnly
from backend.core.errors import AlreadyExistsError, PermissionDeniedError
from backend.core.identity import SYSTEM, Identity
from backend.core.transactions import Put
from backend.domains.access.errors import RoleRevisionError, UserRolesChangedError
from backend.domains.access.models.roles import RoleBody, UserRolesBody
from backend.domains.access.repository.deleted_names import DeletedNameRepository
from backend.domains.access.repository.policies import PolicyRepository
from backend.domains.access.repository.roles import (
    GrantRepository,
    RoleRepository,
    remove_writes,
    require_assigned,
)
from backend.domains.access.service.decisions import PolicyAuthorization
from backend.domains.access.service.deleted_names import DeletedNames
from backend.domains.access.service.roles import HOLDERS_AT_ONCE, RoleService
from backend.domains.assets.service.commands import AssetService
from backend.domains.databases.models import CreateDatabaseBody
from backend.domains.tags.models import TagTypeBody
from backend.spec.tables.access import CONSTRAINTS, ROLES
from backend.spec.tables.operations import JOBS
from tests.factories.access import stored_user_role
from tests.factories.administration import (
    JOB,
    AccessServices,
    Parts,
    stored_role,
    withdrawal_of,
)
from tests.factories.assets import ADMIN, NOON, asset_service
from tests.factories.audit import audit_service, entries
from tests.factories.buckets import BUCKET_ID
from tests.factories.http import Client, Response, operation_reply
from tests.factories.policies import everything, put_policy
from tests.fakes.objects import MemoryObjects
from tests.fakes.tables import MemoryTables

CREATED = "2026-03-01T12:00:00.000000Z"


@pytest.fixture
def services(parts: Parts) -> AccessServices:
    stored_role(parts.tables, "admin")
    stored_user_role(parts.tables, user_id="admin")
    return parts.services()


@pytest.fixture
def client(services: AccessServices) -> Client:
    return Client(services.router())


def role(client: Client, name: str, method: str = "POST", **more: object) -> Response:
    body = {"roleName": name, "description": "What it is for", **more}
    return client.send(method, "/roles", body=body)


def delete_role(client: Client, name: str) -> Response:
    return client.send(
        "DELETE", "/roles/x", route="DELETE /roles/{roleId}", parameters={"roleId": name}
    )


def give(client: Client, user: str, *names: str, method: str = "POST") -> Response:
    return client.send(method, "/user-roles", body={"userId": user, "roleName": list(names)})


def take_all(client: Client, user: str) -> Response:
    return client.send("DELETE", "/user-roles", body={"userId": user})


def roles(client: Client) -> dict[str, list[str]]:
    items = client.send("GET", "/user-roles").body["Items"]
    return {item["userId"]: item["roleName"] for item in items}


def test_a_role_is_made_listed_twice_and_changed(client: Client) -> None:
    made = role(client, "viewer", source="idp", mfaRequired=True)
    assert made.body == operation_reply("Role viewer was created", "create", roleName="viewer")
    assert role(client, "viewer", "PUT", description="Looks").body["operation"] == "update"
    listed = {item["roleName"]: item for item in client.send("GET", "/roles").body["Items"]}
    assert listed["viewer"] == {
        "roleName": "viewer",
        "description": "Looks",
        "createdOn": CREATED,
        "source": "idp",
        "mfaRequired": True,
    }
    assert listed["admin"]["mfaRequired"] is False
    role(client, "viewer")
    page = client.send("GET", "/roles", query={"maxItems": "1"}).body
    assert page.keys() == {"Items", "NextToken", "message"}
    assert page.pop("message") == page
    query = {"startingToken": page["NextToken"]}
    rest = client.send("GET", "/roles", query=query).body
    assert rest == {"Items": rest["Items"], "message": {"Items": rest["Items"]}}
    names = {item["roleName"] for item in [*page["Items"], *rest["message"]["Items"]]}
    assert names == {"admin", "viewer"}


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"description": "x"}, "roleName"),
        ({"roleName": "a/b", "description": "x"}, "roleName"),
        ({"roleName": "r" * 257, "description": "x"}, "roleName"),
        ({"roleName": 5, "description": "x"}, "roleName"),
        ({"roleName": "viewer", "description": None}, "description"),
        ({"roleName": "viewer", "description": ""}, "description"),
        ({"roleName": "viewer", "description": "x" * 257}, "description"),
        ({"roleName": "viewer", "description": "x", "mfaRequired": "yes"}, "mfaRequired"),
        ({"roleName": "viewer", "description": "x", "source": "s" * 257}, "source"),
    ],
)
def test_a_wrong_role_is_refused_by_field(client: Client, body: object, field: str) -> None:
    for method in ("POST", "PUT"):
        answer = client.send(method, "/roles", body=body)
        assert (answer.status, answer.body["errors"][0]["field"]) == (400, field)


def test_a_change_of_a_role_keeps_what_it_omits(client: Client, parts: Parts) -> None:
    role(client, "viewer", source="idp", sourceIdentifier="looking", mfaRequired=True)

    def change(**fields: object) -> dict[str, Any]:
        answer = client.send("PUT", "/roles", body={"roleName": "viewer", **fields})
        assert answer.status == 200, answer.body
        listed = client.send("GET", "/roles").body["Items"]
        (found,) = (item for item in listed if item["roleName"] == "viewer")
        return {name: value for name, value in found.items() if name != "createdOn"}

    before = change(description="Looks")
    assert before["mfaRequired"] is True
    assert change(source=None) == {k: v for k, v in before.items() if k != "source"}
    assert "source" not in (parts.tables.get(ROLES, {"roleName": "viewer"}) or {})
    assert change(mfaRequired=None)["mfaRequired"] is True
    assert change(mfaRequired=False, sourceIdentifier="") == {
        "roleName": "viewer",
        "description": "Looks",
        "mfaRequired": False,
        "sourceIdentifier": "",
    }
    answer = client.send("PUT", "/roles", body={"roleName": "viewer"})
    assert (answer.status, answer.body["errors"][0]["field"]) == (400, "body")
    assert client.send("POST", "/roles", body={"roleName": "other"}).status == 400


def test_a_name_is_taken_once_and_the_administrators_role_stays(client: Client) -> None:
    assert role(client, "viewer").status == 200
    assert role(client, "viewer").body["code"] == "RoleExists"
    assert role(client, "nobody", "PUT").status == 404
    assert delete_role(client, "nobody").status == 404
    assert delete_role(client, "admin").status == 409
    assert role(client, "admin", "PUT", mfaRequired=True).status == 409
    assert role(client, "admin", "PUT", mfaRequired=False).status == 200


def test_a_user_gets_further_roles_and_exactly_those_roles(client: Client, parts: Parts) -> None:
    for name in ("viewer", "editor", "robot"):
        role(client, name)
    value = give(client, "ann@example.org", "viewer")
    assert value.body == operation_reply(
        "Roles of ann@example.org were added", "create", userId="ann@example.org"
    )
    assert give(client, "ann@example.org", "editor").status == 200
    assert roles(client)["ann@example.org"] == ["editor", "viewer"]
    assert give(client, "ann@example.org", "viewer", "robot", method="PUT").status == 200
    assert roles(client)["ann@example.org"] == ["robot", "viewer"]
    result = [e for e in entries(parts.tables) if e["entity"] == "userRole:ann@example.org"]
    changes = [entry["changes"]["roleName"] for entry in result]
    assert {"before": ["editor", "viewer"], "after": ["robot", "viewer"]} in changes
    assert take_all(client, "ann@example.org").status == 200
    assert "ann@example.org" not in roles(client)
    assert take_all(client, "ann@example.org").status == 404


def test_refused_roles_of_a_user_change_nothing(client: Client) -> None:
    role(client, "viewer")
    role(client, "editor")
    give(client, "ann", "viewer")
    assert give(client, "ann", "editor", "viewer").body["code"] == "UserRoleExists"
    assert roles(client)["ann"] == ["viewer"]
    for method in ("POST", "PUT"):
        answer = give(client, "ann", "nobody", method=method)
        assert (answer.status, answer.body["errors"][0]["field"]) == (400, "roleName")
    assert roles(client)["ann"] == ["viewer"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"roleName": ["viewer"]}, "userId"),
        ({"userId": "a b", "roleName": ["viewer"]}, "userId"),
        ({"userId": "ann"}, "roleName"),
        ({"userId": "ann", "roleName": []}, "roleName"),
        ({"userId": "ann", "roleName": "viewer"}, "roleName"),
        ({"userId": "ann", "roleName": ["viewer", "viewer"]}, "roleName"),
        ({"userId": "ann", "roleName": [f"r{n}" for n in range(31)]}, "roleName"),
    ],
)
def test_wrong_roles_of_a_user_are_refused_by_field(
    client: Client, body: object, field: str
) -> None:
    answer = client.send("POST", "/user-roles", body=body)
    assert (answer.status, answer.body["errors"][0]["field"]) == (400, field)


def test_users_have_thirty_roles_and_one_is_administrator(client: Client, parts: Parts) -> None:
    names = [f"role{number}" for number in range(31)]
    for name in names:
        stored_role(parts.tables, name)
    assert give(client, "ann", *names[:30]).status == 200
    assert give(client, "ann", names[30]).status == 400
    assert give(client, "ann", *names[1:], method="PUT").status == 200
    assert roles(client)["ann"] == sorted(names[1:])
    role(client, "viewer")
    for answer in (take_all(client, "admin"), give(client, "admin", "viewer", method="PUT")):
        assert (answer.status, answer.body["code"]) == (409, "LastAdministrator")
    stored_user_role(parts.tables, user_id="ann")
    assert take_all(client, "admin").status == 200
    assert take_all(client, "ann").body["code"] == "LastAdministrator"
    assert give(client, "ann", "viewer", "admin", method="PUT").status == 200


def test_two_administrators_cannot_take_each_other_away_at_once(
    services: AccessServices, parts: Parts
) -> None:
    stored_user_role(parts.tables, user_id="ann")
    grants = GrantRepository(parts.tables)
    # What the slower of two requests writes, which read before the other one wrote.
    slower = [*remove_writes(grants.of_user("ann")), require_assigned("admin", "admin")]
    services.user_roles.delete_user_roles(Identity("admin"), "admin")
    with pytest.raises(UserRolesChangedError):
        grants.write(slower)
    assert grants.has("ann", "admin")


def test_users_are_listed_page_by_page_and_none_is_split(client: Client, parts: Parts) -> None:
    expected = {"admin": ["admin"]}
    for number in range(7):
        names = [f"role{element}" for element in range(number % 3 + 1)]
        expected[f"user{number}"] = names
        for name in names:
            stored_user_role(parts.tables, user_id=f"user{number}", role_name=name)
    listed: dict[str, list[str]] = {}
    for page in client.read_pages("/user-roles", maxItems="2"):
        assert len(page["Items"]) <= 2
        assert page.pop("message") == page
        assert "NextToken" not in page or len(page["Items"]) == 2
        for item in page["Items"]:
            assert item["userId"] not in listed
            listed[item["userId"]] = item["roleName"]
    assert listed == expected


def test_a_deleted_role_is_taken_from_its_users_at_once(client: Client, parts: Parts) -> None:
    role(client, "viewer")
    role(client, "editor")
    give(client, "ann", "viewer", "editor")
    give(client, "bob", "viewer")
    answer = delete_role(client, "viewer")
    assert (answer.status, "jobId" in answer.body) == (200, False)
    assert roles(client) == {"admin": ["admin"], "ann": ["editor"]}
    entities = {e["entity"] for e in entries(parts.tables) if e["operation"] == "delete_role"}
    assert entities == {"role:viewer", "userRole:ann", "userRole:bob"}
    assert role(client, "viewer").status == 200
    assert "viewer" not in str(roles(client))


def test_a_role_that_someone_is_given_meanwhile_is_not_deleted_without_them(
    services: AccessServices, client: Client, parts: Parts
) -> None:
    role(client, "viewer")
    seen = RoleRepository(parts.tables).get("viewer")
    assert seen is not None
    body = UserRolesBody(user_id="ann", role_name=["viewer"])
    services.user_roles.add_user_roles(Identity("admin"), body)
    with pytest.raises(RoleRevisionError):
        RoleRepository(parts.tables).delete(seen)
    assert delete_role(client, "viewer").status == 200
    assert roles(client) == {"admin": ["admin"]}


def test_a_role_of_many_users_is_taken_from_them_by_a_job(client: Client, parts: Parts) -> None:
    role(client, "viewer")
    count = HOLDERS_AT_ONCE * 2 + 5
    for number in range(count):
        stored_user_role(parts.tables, user_id=f"user{number}", role_name="viewer")
    assert delete_role(client, "viewer").body["jobId"] == JOB
    assert parts.tables.get(JOBS, {"jobId": JOB}) is not None
    # Meanwhile the role is invisible and cannot be assigned, and its name is reserved.
    assert [item["roleName"] for item in client.send("GET", "/roles").body["Items"]] == ["admin"]
    assert role(client, "viewer").status == 409
    assert give(client, "late", "viewer").status == 400
    assert delete_role(client, "viewer").status == 404
    job = withdrawal_of(parts.tables, parts.audit)

    def step() -> tuple[int, bool]:
        done = job.step("viewer", job_id=JOB, created_by="admin", cursor={})
        return done.users, done.finished

    assert step() == (count, True)
    assert step() == (0, True)
    assert roles(client) == {"admin": ["admin"]}
    assert parts.tables.get(ROLES, {"roleName": "viewer"}) is None
    result = [e for e in entries(parts.tables) if e["entity"].startswith("userRole:user")]
    assert len(result) == count
    assert role(client, "viewer").status == 200
    give(client, "ann", "viewer")
    job = withdrawal_of(parts.tables, parts.audit)
    assert job.step("viewer", job_id=JOB, created_by="admin", cursor={}).finished
    assert roles(client)["ann"] == ["viewer"]


ANN = Identity("ann")
FIELDS = ("databaseId", "tagTypeName", "roleName")
by_field = pytest.mark.parametrize("field", FIELDS)


class Names:
    """Databases, tag types and roles, and Ann, who may create and delete all of them."""

    def __init__(self) -> None:
        self.tables = MemoryTables()
        self.assets: AssetService = asset_service(self.tables, MemoryObjects())
        self.roles: RoleService = (
            Parts(self.tables, audit_service(MemoryObjects()), NOON).services().roles
        )
        stored_role(self.tables, "editor")
        stored_user_role(self.tables, user_id="ann", role_name="editor")
        kinds = ("database", "tagType", "role")
        put_policy(self.tables, "role#editor", *map(everything, kinds))
        self.rules = PolicyAuthorization(PolicyRepository(self.tables), lambda: NOON)

    def create(self, caller: Identity, field: str, name: str = "old") -> None:
        rules = self.rules if caller == ANN else self.assets.authorization
        names = DeletedNames(DeletedNameRepository(self.tables), rules)
        if field == "databaseId":
            body = CreateDatabaseBody(
                database_id=name, description="Things", default_bucket_id=BUCKET_ID
            )
            service = replace(self.assets.databases, authorization=rules, names=names)
            service.create_database(caller, body)
        elif field == "tagTypeName":
            tags = replace(self.assets.tags, authorization=rules, names=names)
            tags.create_tag_type(caller, TagTypeBody(tag_type_name=name, description="Things"))
        else:
            roles = replace(self.roles, authorization=rules, names=names)
            roles.create_role(caller, RoleBody(role_name=name, description="Things"))

    def delete(self, field: str, name: str = "old") -> None:
        if field == "databaseId":
            self.assets.databases.delete_database(ADMIN, name)
        elif field == "tagTypeName":
            self.assets.tags.delete_tag_type(ADMIN, name)
        else:
            self.roles.delete_role(ADMIN, name)

    def mention(self, field: str, value: Any, block: str = "criteriaAnd") -> None:
        criterion = {"field": field, "operator": "is_one_of", "value": value}
        item = {"constraintId": "rule#group#viewer", block: json.dumps([criterion])}
        self.tables.write(Put(table=CONSTRAINTS, item=item))


@pytest.fixture
def names() -> Names:
    return Names()


@by_field
@pytest.mark.parametrize("value", ["old", ["other", "old"]])
@pytest.mark.parametrize("block", ["criteriaAnd", "criteriaOr"])
def test_a_deleted_name_that_rules_mention_is_for_administrators(
    names: Names, field: str, value: Any, block: str
) -> None:
    names.create(ANN, field)
    names.delete(field)
    names.mention(field, value, block)
    with pytest.raises(PermissionDeniedError, match="old, which was deleted"):
        names.create(ANN, field)
    names.create(ADMIN, field)


@by_field
def test_a_deleted_name_that_no_rule_mentions_is_free(names: Names, field: str) -> None:
    names.create(ANN, field)
    names.delete(field)
    names.mention(field, ["older", "ol"])
    names.mention("assetName", "old", "criteriaOr")
    names.create(ANN, field)


@by_field
def test_a_new_name_is_free_although_rules_mention_it(names: Names, field: str) -> None:
    names.mention(field, "old")
    names.create(ANN, field)
    with pytest.raises(AlreadyExistsError):
        names.create(ANN, field)


def test_the_product_itself_creates_databases_of_any_name(names: Names) -> None:
    names.create(ANN, "databaseId")
    names.delete("databaseId")
    names.mention("databaseId", "old")
    unruled = DeletedNames(DeletedNameRepository(names.tables), SystemOnly())
    unruled.require_unruled(SYSTEM, "databaseId", "old")
