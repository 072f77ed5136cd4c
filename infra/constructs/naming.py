"""Logical ids and output names exactly as declared, without the hash that CDK adds."""

from aws_cdk import CfnElement, CfnOutput, Stack
from constructs import IConstruct


def name_exactly(construct: IConstruct, name: str) -> None:
    """Set the logical id `name` for the resource of `construct`."""
    resource = construct.node.default_child
    if not isinstance(resource, CfnElement):
        raise TypeError(f"{construct.node.path} has no resource of its own")
    resource.override_logical_id(name)


def output(stack: Stack, name: str, value: str, description: str) -> None:
    """Declare a stack output with exactly that name."""
    CfnOutput(stack, name, value=value, description=description).override_logical_id(name)
