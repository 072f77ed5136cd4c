"""The topic of every stage, and the user pool of stages that have one."""

from collections.abc import Callable
from typing import Any

import pytest

from backend.spec.functions import FUNCTIONS
from infra import grants
from tests.infra.templates import Assembly

POOL = "AWS::Cognito::UserPool"


@pytest.fixture(scope="module")
def with_pool(synthesized: Callable[[str], Assembly]) -> Assembly:
    return synthesized("hardened")


def _granted(assembly: Assembly, prefix: str) -> dict[str, dict[str, set[str]]]:
    """The actions of each function on a service, by resource."""
    found: dict[str, dict[str, set[str]]] = {}
    for spec in FUNCTIONS:
        for actions, resources in assembly.statements(assembly.resource(f"{spec.name}Role")):
            taken = {action for action in actions if action.startswith(prefix)}
            for resource in resources if taken else ():
                found.setdefault(spec.name, {}).setdefault(resource, set()).update(taken)
    return found


def test_a_function_publishes_and_subscribes_as_it_declares(assembly: Assembly) -> None:
    expected: dict[str, dict[str, set[str]]] = {}
    for spec in FUNCTIONS:
        for topics, action in ((spec.publishes, "Publish"), (spec.subscribes, "Subscribe")):
            for topic in topics:
                expected.setdefault(spec.name, {})[f"<{topic.name}>"] = {f"sns:{action}"}
    assert _granted(assembly, "sns:") == expected
    assert {"Notifier", "SubscriptionsApi"} == set(expected)


def test_the_topic_is_encrypted_and_takes_nothing_in_the_clear(assembly: Assembly) -> None:
    topic = assembly.of_type("AWS::SNS::Topic")["Notifications"]
    assert "DataKey" in assembly.text(topic.properties["KmsMasterKeyId"])
    (policy,) = assembly.of_type("AWS::SNS::TopicPolicy").values()
    (statement,) = policy.properties["PolicyDocument"]["Statement"]
    assert statement["Effect"] == "Deny"
    assert statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}


def test_no_stage_has_a_user_pool_unless_it_enables_one(assembly: Assembly) -> None:
    assert assembly.of_type(POOL) == {}
    assert _granted(assembly, "cognito-idp:") == {}


def test_a_wanted_user_pool_outlives_its_stack_and_allows_no_sign_up(
    with_pool: Assembly,
) -> None:
    (pool,) = with_pool.of_type(POOL).values()
    assert pool.name == "UserPool"
    assert pool.body["DeletionPolicy"] == "RetainExceptOnCreate"
    assert pool.properties["DeletionProtection"] == "ACTIVE"
    assert pool.properties["AdminCreateUserConfig"]["AllowAdminCreateUserOnly"] is True
    password = pool.properties["Policies"]["PasswordPolicy"]
    assert password["MinimumLength"] == 12
    (client,) = with_pool.of_type("AWS::Cognito::UserPoolClient").values()
    assert client.properties["GenerateSecret"] is False
    assert client.properties["PreventUserExistenceErrors"] == "ENABLED"


def test_one_function_administers_the_pool_one_reads_its_users_and_four_know_it(
    with_pool: Assembly,
) -> None:
    granted = _granted(with_pool, "cognito-idp:")
    assert granted == {
        "AccessApi": {"<UserPool.Arn>": set(grants.POOL_ADMINISTER)},
        "Authorizer": {"<UserPool.Arn>": {"cognito-idp:AdminGetUser"}},
    }
    knowing: dict[str, Any] = {}
    for spec in FUNCTIONS:
        variables = with_pool.resource(spec.name).properties["Environment"]["Variables"]
        if "USER_POOL_ID" in variables:
            knowing[spec.name] = with_pool.text(variables["USER_POOL_ID"])
            assert with_pool.text(variables["USER_POOL_CLIENT_ID"]) == "<UserPoolClient>"
    names = ("AccessApi", "Authorizer", "Bootstrap", "ConfigurationApi")
    assert knowing == dict.fromkeys(names, "<UserPool>")
