"""IAM roles and policies, collected for the enforcement; the engines do not use them."""

from pydantic import JsonValue

from local import arns
from local.assembly import Resource
from local.iam.policy import PolicyError
from local.iam.roles import Role, Statement, statements_of
from local.resources.base import Context, Created, Properties, parse, refusal


class InlinePolicy(Properties):
    """A policy inside a role."""

    policy_name: str
    policy_document: JsonValue


class IamRole(Properties):
    """`AWS::IAM::Role`; a permissions boundary is not supported, so it is refused."""

    no_effect = "AssumeRolePolicyDocument Description MaxSessionDuration Tags"

    managed_policy_arns: tuple[str, ...] = ()
    path: str = "/"
    policies: tuple[InlinePolicy, ...] = ()
    role_name: str | None = None


class IamPolicy(Properties):
    """`AWS::IAM::Policy`: inline in the roles that it names."""

    policy_document: JsonValue
    policy_name: str
    roles: tuple[str, ...] = ()


class IamManagedPolicy(Properties):
    """`AWS::IAM::ManagedPolicy`."""

    no_effect = "Description"

    policy_document: JsonValue
    managed_policy_name: str | None = None
    path: str = "/"
    roles: tuple[str, ...] = ()


def create_role(context: Context, resource: Resource) -> Created:
    """Collect the role, with its inline policies and the managed ones that it names.

    Raises:
        AssemblyError: a managed policy is not part of this deployment, so its statements are
            not known.
    """
    declared = parse(IamRole, resource)
    name = declared.role_name or arns.physical_name(resource.stack, resource.logical_id, limit=64)
    role = Role(name)
    for inline in declared.policies:
        role.statements += _read(resource, inline.policy_document)
    for policy_arn in declared.managed_policy_arns:
        if policy_arn not in context.roles.managed:
            raise refusal(resource, f"the policy {policy_arn} is not in the templates")
        role.statements += context.roles.managed[policy_arn]
    role_arn = _arn("role", declared.path, name)
    context.roles.by_arn[role_arn] = role
    return Created(name, {"Arn": role_arn, "RoleId": arns.stable_id(role_arn)})


def create_policy(context: Context, resource: Resource) -> Created:
    """Add the policy to its roles."""
    declared = parse(IamPolicy, resource)
    _attach(context, resource, declared.roles, _read(resource, declared.policy_document))
    return Created(arns.physical_name(resource.stack, resource.logical_id, limit=128))


def create_managed_policy(context: Context, resource: Resource) -> Created:
    """Collect the policy, and add it to its roles."""
    declared = parse(IamManagedPolicy, resource)
    statements = _read(resource, declared.policy_document)
    name = declared.managed_policy_name or arns.physical_name(
        resource.stack, resource.logical_id, limit=128
    )
    policy_arn = _arn("policy", declared.path, name)
    context.roles.managed[policy_arn] = statements
    _attach(context, resource, declared.roles, statements)
    return Created(policy_arn, {"PolicyArn": policy_arn})


def _attach(
    context: Context, resource: Resource, roles: tuple[str, ...], statements: list[Statement]
) -> None:
    by_name = {role.name: role for role in context.roles.by_arn.values()}
    for name in roles:
        if name not in by_name:
            raise refusal(resource, f"the role {name} is not in the templates")
        by_name[name].statements += statements


def _read(resource: Resource, document: JsonValue) -> list[Statement]:
    try:
        return statements_of(document)
    except PolicyError as error:
        raise refusal(resource, str(error)) from error


def _arn(kind: str, path: str, name: str) -> str:
    return f"arn:aws:iam::{arns.ACCOUNT}:{kind}{path}{name}"
