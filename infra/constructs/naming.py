"""Logical ids and output names that are exactly the declared ones, not CDK's with a hash."""

from aws_cdk import CfnElement, CfnOutput, Stack
from constructs import IConstruct


def name_exactly(construct: IConstruct, name: str) -> None:
    """Give the resource behind `construct` the logical id `name`."""
    resource = construct.node.default_child
    if not isinstance(resource, CfnElement):
        raise TypeError(f"{construct.node.path} has no resource of its own")
    resource.override_logical_id(name)


def output(stack: Stack, name: str, value: str, description: str) -> None:
    """Declare a stack output of that exact name."""
    CfnOutput(stack, name, value=value, description=description).override_logical_id(name)
