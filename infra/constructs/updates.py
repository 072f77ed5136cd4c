"""Protects updates and deletions of stacks: retained resources, and exports."""

from aws_cdk import RemovalPolicy, Stack

# The policy of resources with data: they are retained when their stack is deleted. If a creation
# fails, CloudFormation deletes what it has created, so that it can be repeated; resources that were
# retained would belong to no stack.
RETAINED = RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE


def export(stack: Stack, *values: str) -> None:
    """Export attributes of resources under the names of CDK's references between stacks."""
    for value in values:
        # CDK exports an attribute only while another stack uses it. Without the last use, the
        # export would be removed from the first stack, which is deployed first, and CloudFormation
        # refuses that while the deployed other stack still imports it.
        stack.export_value(value)
