"""User pools of the templates: under the same ids at every start, and after their engine's end."""

from types import SimpleNamespace
from typing import Any, cast

import boto3
import pytest
from moto import mock_aws

from local.assembly import Resource
from local.clients import Clients
from local.errors import AssemblyError
from local.plan import Plan
from local.resources.base import Context
from local.resources.cognito import create_user_pool, create_user_pool_client, recreate


def resource(kind: str, **properties: Any) -> Resource:
    return cast(
        "Resource",
        SimpleNamespace(
            stack="vitrine-local-storage",
            logical_id=kind,
            kind=f"AWS::Cognito::{kind}",
            properties=properties,
        ),
    )


@pytest.fixture
def context(monkeypatch: pytest.MonkeyPatch) -> Any:
    """As the runtime's engine is started: ids follow from names."""
    monkeypatch.setenv("MOTO_COGNITO_IDP_USER_POOL_ID_STRATEGY", "HASH")
    monkeypatch.setenv("MOTO_COGNITO_IDP_USER_POOL_CLIENT_ID_STRATEGY", "HASH")
    clients = SimpleNamespace(cognito=boto3.client("cognito-idp", region_name="us-east-1"))
    return SimpleNamespace(clients=clients, plan=Plan())


def made(context: Any) -> tuple[str, str]:
    pool = create_user_pool(cast("Context", context), resource("UserPool"))
    declared = resource("UserPoolClient", UserPoolId=pool.ref, GenerateSecret=False)
    client = create_user_pool_client(cast("Context", context), declared)
    assert pool.attributes["Arn"] == (
        f"arn:aws:cognito-idp:us-east-1:000000000000:userpool/{pool.ref}"
    )
    return pool.ref, client.ref


@mock_aws
def test_a_pool_has_the_same_ids_at_every_start(context: Any) -> None:
    assert made(context) == made(context)


@mock_aws
def test_a_pool_that_its_engine_forgot_is_made_again_under_its_ids(context: Any) -> None:
    pool, client = made(context)
    cognito = context.clients.cognito
    cognito.delete_user_pool(UserPoolId=pool)
    assert cognito.list_user_pools(MaxResults=5)["UserPools"] == []
    recreate(cast("Clients", context.clients), context.plan)
    found = cognito.describe_user_pool_client(UserPoolId=pool, ClientId=client)
    assert found["UserPoolClient"]["ClientId"] == client


@mock_aws
def test_messages_of_a_pool_are_not_dropped_in_silence(context: Any) -> None:
    with pytest.raises(AssemblyError, match="LambdaConfig"):
        create_user_pool(cast("Context", context), resource("UserPool", LambdaConfig={}))
