"""Keeps CloudFormation from creating many resources of one kind at the same time."""

from aws_cdk import CfnResource


class InTurn:
    """Resources of which at most `at_once` are created or updated at the same time."""

    def __init__(self, at_once: int) -> None:
        self._at_once = at_once
        self._created: list[CfnResource] = []

    def add(self, resource: CfnResource) -> None:
        """Create `resource` after all earlier resources but the last few."""
        if len(self._created) >= self._at_once:
            resource.add_resource_dependency(self._created[-self._at_once])
        self._created.append(resource)
