"""Protects updates and deletions of stacks: retained resources, and exports."""

from aws_cdk import RemovalPolicy, Stack

# The policy of resources with data: they are retained when their stack is deleted. If a creation
# fails, CloudFormation deletes what it has created, so that it can be repeated; resources that were
# retained would belong to no stack.
RETAINED = RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE


def export(stack: Stack, *values: str) -> None:
    """Export attributes of resources under the names that CDK gives to references between stacks.

    CDK exports an attribute only while another stack uses it. Removing the last use would remove
    the export from the first stack, which is deployed first. CloudFormation refuses that while the
    deployed other stack still imports it.
    """
    for value in values:
        stack.export_value(value)
