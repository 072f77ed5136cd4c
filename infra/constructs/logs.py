"""A log group with a retention in days, which is deleted with its stack."""

from aws_cdk import RemovalPolicy, Stack
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs

from infra.constructs.naming import name_exactly


def log_group(stack: Stack, name: str, *, days: int, key: kms.IKey | None) -> logs.LogGroup:
    """Return the log group; `days` is one of the retentions of CloudWatch Logs."""
    group = logs.LogGroup(stack, name, removal_policy=RemovalPolicy.DESTROY, encryption_key=key)
    resource = group.node.default_child
    if not isinstance(resource, logs.CfnLogGroup):
        raise TypeError(f"{name} is not a log group")
    resource.retention_in_days = days  # the construct requires an enumeration
    name_exactly(group, name)
    return group
