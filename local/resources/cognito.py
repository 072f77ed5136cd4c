"""Cognito user pools and the applications that sign in to them, in moto.

The engine keeps them in memory: each start creates them again, with the same ids, without users.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from local import arns
from local.resources.base import Context, Created, Properties, parse

if TYPE_CHECKING:
    from local.assembly import Resource
    from local.clients import Clients
    from local.plan import Plan

# Attributes in the id tokens of clients without a list of readable attributes. Cognito includes all
# of them; moto only the listed ones.
_READABLE = ["email", "email_verified"]


class UserPool(Properties):
    """`AWS::Cognito::UserPool`; no e-mail is sent, and password policies have no effect."""

    no_effect = (
        "AccountRecoverySetting AdminCreateUserConfig AutoVerifiedAttributes DeletionProtection "
        "EmailVerificationMessage EmailVerificationSubject EnabledMfas MfaConfiguration Policies "
        "SmsVerificationMessage UserPoolTags VerificationMessageTemplate"
    )

    user_pool_name: str | None = None


class UserPoolClient(Properties):
    """`AWS::Cognito::UserPoolClient`; moto lets each application sign in by any flow."""

    no_effect = (
        "AllowedOAuthFlowsUserPoolClient ExplicitAuthFlows PreventUserExistenceErrors "
        "SupportedIdentityProviders"
    )

    user_pool_id: str
    generate_secret: bool = False
    client_name: str | None = None


def create_user_pool(context: Context, resource: Resource) -> Created:
    """Create the pool, empty."""
    declared = parse(UserPool, resource)
    name = declared.user_pool_name or arns.physical_name(
        resource.stack, resource.logical_id, limit=128
    )
    made = context.clients.cognito.create_user_pool(PoolName=name)["UserPool"]
    pool_id = made.get("Id", "")
    context.plan.user_pools.append((name, pool_id, []))
    provider = f"cognito-idp.{arns.REGION}.amazonaws.com/{pool_id}"
    return Created(
        pool_id,
        {
            "Arn": arns.arn("cognito-idp", f"userpool/{pool_id}"),
            "ProviderName": provider,
            "ProviderURL": f"https://{provider}",
            "UserPoolId": pool_id,
        },
    )


def create_user_pool_client(context: Context, resource: Resource) -> Created:
    """Create the application."""
    declared = parse(UserPoolClient, resource)
    name = declared.client_name or resource.logical_id
    client_id = _create_client(context.clients, declared.user_pool_id, name)
    for _, pool_id, clients in context.plan.user_pools:
        if pool_id == declared.user_pool_id:
            clients.append(name)
    return Created(client_id, {"ClientId": client_id, "Name": name})


def recreate(clients: Clients, plan: Plan) -> None:
    """Create the pools that the engine has lost by its restart; their users are lost."""
    for name, pool_id, applications in plan.user_pools:
        clients.cognito.create_user_pool(PoolName=name)
        for application in applications:
            _create_client(clients, pool_id, application)


def _create_client(clients: Clients, pool_id: str, name: str) -> str:
    made = clients.cognito.create_user_pool_client(
        UserPoolId=pool_id, ClientName=name, ReadAttributes=_READABLE
    )
    return made["UserPoolClient"].get("ClientId", "")
