"""Builders create the resources of stacks, or only their names."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from pydantic import JsonValue

from infra.settings.values import partition_of
from local import arns
from local.intrinsics import PSEUDO_PARAMETERS, Scope, UnresolvableError, holds, resolve
from local.resources.base import Created
from tests.cloudformation.templates import Template


class ResourceFailedError(Exception):
    """A resource could not be created or updated."""

    def __init__(self, logical_id: str, reason: str) -> None:
        super().__init__(f"{logical_id}: {reason}")
        self.logical_id = logical_id
        self.reason = reason


@dataclass(frozen=True)
class Place:
    """The account and the region of the stand-in."""

    account: str = arns.ACCOUNT
    region: str = arns.REGION

    def arn(self, service: str, resource: str) -> str:
        """The ARN of a resource here."""
        partition = partition_of(self.region)
        return f"arn:{partition}:{service}:{self.region}:{self.account}:{resource}"

    @property
    def pseudo_parameters(self) -> Mapping[str, str]:
        return {
            **PSEUDO_PARAMETERS,
            "AWS::AccountId": self.account,
            "AWS::Region": self.region,
            "AWS::Partition": partition_of(self.region),
        }


@dataclass(frozen=True)
class DesiredStack:
    """A stack in its target state."""

    name: str
    template: Template
    parameters: Mapping[str, JsonValue]
    place: Place = field(default_factory=Place)
    generations: Mapping[str, int] = field(default_factory=dict[str, int])
    """The number of replacements of each resource that was replaced."""


class Builder(Protocol):
    """Creates and updates resources of stacks."""

    def build(self, stacks: Sequence[DesiredStack], building: str) -> Mapping[str, Created]:
        """Create the resources that the stacks declare, and return those of one stack.

        Raises:
            ResourceFailedError: a resource of the stack cannot be created.
        """
        ...

    def remove(self, stack: DesiredStack, logical_id: str) -> None:
        """Remove a resource, before its function is removed.

        Raises:
            ResourceFailedError: it cannot be removed.
        """
        ...


class Names:
    """A builder without resources: names and attributes look like AWS's."""

    def build(self, stacks: Sequence[DesiredStack], building: str) -> Mapping[str, Created]:
        """See `Builder.build`."""
        (wanted,) = (stack for stack in stacks if stack.name == building)
        return {name: made_up(wanted, name) for name in wanted.template.stack.resources}

    def remove(self, stack: DesiredStack, logical_id: str) -> None:
        """See `Builder.remove`."""


class _AnyAttribute(dict[str, JsonValue]):
    """An attribute that a template requests of a resource without content."""

    def __init__(self, place: Place, name: str) -> None:
        super().__init__()
        self._place = place
        self._name = name

    def __contains__(self, key: object) -> bool:
        return True

    def __missing__(self, key: str) -> JsonValue:
        return self._place.arn("stand-in", f"{self._name}/{key}")


def made_up(stack: DesiredStack, name: str) -> Created:
    """A resource that exists by name only; the name has its generation if it was replaced."""
    ref = f"{stack.name}-{name}-{arns.stable_id(stack.name, name)[:8]}"
    full = f"{stack.name}/{name}"
    if generation := stack.generations.get(name, 0):
        ref, full = f"{ref}-{generation}", f"{full}/{generation}"
    return Created(ref, _AnyAttribute(stack.place, full))


def scope_of(
    wanted: DesiredStack, created: Mapping[str, Created], exports: Mapping[str, JsonValue]
) -> Scope:
    """The names to which expressions of a stack refer.

    Raises:
        UnresolvableError: when resolving, if a name does not exist.
    """

    def ref(name: str) -> JsonValue:
        return wanted.parameters[name] if name in wanted.parameters else created[name].ref

    def attribute(name: str, key: str) -> JsonValue:
        attributes = created[name].attributes
        if key not in attributes:
            raise UnresolvableError(f"{name} has no attribute {key}")
        return attributes[key]

    def imported(name: str) -> JsonValue:
        if name not in exports:
            raise UnresolvableError(f"No export named {name} found.")
        return exports[name]

    stack = wanted.template.stack
    facts = (stack.conditions, stack.mappings, wanted.place.pseudo_parameters)
    return Scope(stack.name, ref, attribute, imported, *facts)


@dataclass(frozen=True)
class Output:
    """An output of a stack."""

    key: str
    value: str
    export: str | None
    description: str


def outputs_of(wanted: DesiredStack, scope: Scope) -> list[Output]:
    """The outputs of a stack.

    Raises:
        UnresolvableError: a name in it does not exist.
    """
    result: list[Output] = []
    for key, declared in wanted.template.stack.outputs.items():
        condition = declared.get("Condition")
        if isinstance(condition, str) and not holds(condition, scope):
            continue
        export = declared.get("Export")
        name = str(resolve(export.get("Name"), scope)) if isinstance(export, dict) else None
        value = str(resolve(declared.get("Value"), scope))
        result.append(Output(key, value, name, str(declared.get("Description", ""))))
    return result


def imports_of(value: JsonValue, scope: Scope) -> set[str]:
    """The names of all exports that a value refers to.

    Raises:
        UnresolvableError: there is no such export.
    """
    if isinstance(value, list):
        return {name for item in value for name in imports_of(item, scope)}
    if not isinstance(value, dict):
        return set()
    if "Fn::ImportValue" in value:
        name = str(resolve(value["Fn::ImportValue"], scope))
        scope.imported(name)
        return {name}
    return {name for item in value.values() for name in imports_of(item, scope)}
