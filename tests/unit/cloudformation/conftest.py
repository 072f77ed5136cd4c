"""Stacks with a few resources, in a stand-in that creates none."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from local.resources.base import Created
from tests.cloudformation.building import DesiredStack, Names, Place
from tests.cloudformation.records import Record
from tests.cloudformation.stacks import Stacks

PATIENCE_SECONDS = 10
QUEUE: Mapping[str, Any] = {"Type": "AWS::SQS::Queue"}
Resources = Mapping[str, Any]


class RecordingNames(Names):
    """Records what is built and removed."""

    def __init__(self) -> None:
        self.built: list[list[str]] = []
        self.removed: list[str] = []

    def build(self, stacks: Sequence[DesiredStack], building: str) -> Mapping[str, Created]:
        self.built.append([stack.name for stack in stacks])
        return super().build(stacks, building)

    def remove(self, stack: DesiredStack, logical_id: str) -> None:
        self.removed.append(logical_id)


class Account:
    """An account with the parameter of the toolkit."""

    def __init__(self, place: Place | None = None) -> None:
        self.builder = RecordingNames()
        self.stacks = Stacks(self.builder, {"/version": "30"}.get, place)

    def deploy(self, name: str, resources: Resources, **sections: Any) -> Record:
        """Create or update a stack, as the CDK command does."""
        text = json.dumps({"Resources": resources, **sections})
        creates = not any(item.name == name for item in self.stacks.all())
        self.stacks.propose(name, "change", text, creates=creates, parameters={}, tags=[])
        self.stacks.execute(name, "change", "token").join(PATIENCE_SECONDS)
        return self.stacks.find(name)

    def delete(self, name: str) -> Record:
        """Delete a stack."""
        record = self.stacks.find(name)
        self.stacks.delete(name, "token").join(PATIENCE_SECONDS)
        return record


@pytest.fixture
def account() -> Account:
    return Account()


def exported(value: Any) -> dict[str, Any]:
    """Outputs with one export."""
    return {"Outputs": {"Out": {"Value": value, "Export": {"Name": "shared"}}}}
