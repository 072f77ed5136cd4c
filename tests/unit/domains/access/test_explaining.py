"""An administrator is told which constraint decides."""

from datetime import datetime
from typing import Any

import pytest

from backend.aws.tables import DynamoTables
from backend.domains.access.routes import build_router
from backend.domains.audit.service import AuditService
from tests.factories.access import stored_user_role
from tests.factories.administration import Parts, stored_role
from tests.factories.http import Answer, Client
from tests.factories.policies import everything, put_policy, stored

ON_ASSET = {"userId": "ann", "action": "GET", "objectType": "asset", "databaseId": "db1"}


@pytest.fixture
def client(tables: DynamoTables, audit: AuditService, now: datetime) -> Client:
    stored_role(tables, "viewer")
    stored_user_role(tables, user_id="ann", role_name="viewer")
    put_policy(
        tables,
        "role#viewer",
        stored("asset", ("databaseId", "equals", "db1"), constraint_id="see-db1"),
        everything("api", constraint_id="all-routes"),
    )
    hidden = stored("asset", ("tags", "equals", "secret"), effect="deny", constraint_id="hide")
    put_policy(tables, "user#ann", hidden)
    return Client(build_router(*Parts(tables, audit, now).services()))


def ask(client: Client, **query: str) -> Answer:
    return client.send("GET", "/auth/explain", query={**ON_ASSET, **query})


def by(*found: tuple[str, str]) -> list[dict[str, Any]]:
    return [{"constraintId": name, "givenTo": grantee} for name, grantee in found]


def test_the_constraint_that_allows_is_named(client: Client) -> None:
    reply = ask(client, routePath="/database/db1/assets")
    assert reply.status == 200
    assert reply.body == {
        "userId": "ann",
        "roles": ["viewer"],
        "tier2": {"decision": "allow", "by": by(("see-db1", "role#viewer"))},
        "tier1": {"decision": "allow", "by": by(("all-routes", "role#viewer"))},
    }


def test_the_constraint_that_denies_is_named_and_no_other(client: Client) -> None:
    reply = ask(client, tags="red, secret")
    assert reply.body["tier2"] == {"decision": "deny", "by": by(("hide", "user#ann"))}


def test_where_nothing_allows_no_constraint_is_named(client: Client) -> None:
    assert ask(client, databaseId="db2").body["tier2"] == {"decision": "deny", "by": []}
    assert ask(client, userId="bob").body["roles"] == []


def test_fields_that_the_type_has_not_do_not_count(client: Client) -> None:
    reply = ask(client, objectType="database", tags="secret")
    assert reply.body["tier2"] == {"decision": "deny", "by": []}


@pytest.mark.parametrize(
    ("field", "value"), [("action", "HEAD"), ("objectType", "planet"), ("userId", "")]
)
def test_a_question_that_makes_no_sense_is_refused(client: Client, field: str, value: str) -> None:
    reply = ask(client, **{field: value})
    assert reply.status == 400
    assert field in str(reply.body)


def test_nobody_else_is_told(tables: DynamoTables, client: Client) -> None:
    stranger = Client(client.router, user_id="stranger")
    assert ask(stranger).status == 403
