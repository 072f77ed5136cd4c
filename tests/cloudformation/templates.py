"""A template, and the errors that CloudFormation reports before it creates resources."""

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import cast

from pydantic import JsonValue

from local.assembly import Object, Stack, stack_of
from local.errors import LocalError
from local.intrinsics import PSEUDO_PARAMETERS, references

MOST_BYTES = 1_000_000
MOST_RESOURCES = 500
MOST_OUTPUTS = 200
_PSEUDO = {*PSEUDO_PARAMETERS, "AWS::NoValue", "AWS::StackName", "AWS::StackId"}


class RefusedError(Exception):
    """CloudFormation refuses a request; the message is that of the reply."""

    code = "ValidationError"


class ChangeSetNotFoundError(RefusedError):
    """There is no such change set."""

    code = "ChangeSetNotFound"


@dataclass(frozen=True)
class Template:
    """The text of a template, and what it declares."""

    text: str
    body: Object
    stack: Stack

    @property
    def resources(self) -> Mapping[str, Object]:
        return cast("dict[str, Object]", self.body.get("Resources", {}))

    def policy(self, logical_id: str) -> str:
        """The `DeletionPolicy` of a resource."""
        return str(self.resources[logical_id].get("DeletionPolicy", "Delete"))

    def keeps(self, logical_id: str, *, creating: bool) -> bool:
        """Return whether a resource is retained by a deletion of its stack, or a rollback."""
        policy = self.policy(logical_id)
        return policy == "Retain" or (policy == "RetainExceptOnCreate" and not creating)


def read(stack: str, text: str) -> Template:
    """Return the template, if CloudFormation accepts it.

    Raises:
        RefusedError: it is not a template, is too large, or its references are unknown or
            circular.
    """
    if len(text.encode()) > MOST_BYTES:
        raise RefusedError(f"Template may not exceed {MOST_BYTES} bytes in size.")
    try:
        body = json.loads(text)
    except ValueError as error:
        raise RefusedError(f"Template format error: JSON not well-formed. ({error})") from error
    if not isinstance(body, dict) or not cast("Object", body).get("Resources"):
        raise RefusedError("Template format error: At least one Resources member must be defined.")
    template = Template(text, cast("Object", body), stack_of(stack, cast("Object", body)))
    _refuse_numbers(template.stack)
    _refuse_references(template)
    return template


def _refuse_numbers(stack: Stack) -> None:
    for name, count, most in (
        ("resources", len(stack.resources), MOST_RESOURCES),
        ("outputs", len(stack.outputs), MOST_OUTPUTS),
    ):
        if count > most:
            fact = f"Number of {name}, {count}, is greater than maximum allowed, {most}"
            raise RefusedError(f"Template format error: {fact}")


def _refuse_references(template: Template) -> None:
    stack = template.stack
    known = {*stack.resources, *stack.parameters, *_PSEUDO}
    for place, value in (
        ("Resources", template.body["Resources"]),
        ("Outputs", template.body.get("Outputs")),
    ):
        if unknown := sorted(set(_dependencies(value, stack.resources)) - known):
            fact = f"Unresolved resource dependencies [{', '.join(unknown)}] in the {place} block"
            raise RefusedError(f"Template format error: {fact} of the template")
    try:
        list(stack.in_order())
    except LocalError as error:
        raise RefusedError(f"Circular dependency between resources: {error}") from error


def _dependencies(value: JsonValue, resources: Collection[str]) -> Iterator[str]:
    yield from references(value)
    if isinstance(value, dict):
        for name in resources:
            declared = value.get(name)
            if isinstance(declared, dict):
                result = declared.get("DependsOn", [])
                yield from map(str, result if isinstance(result, list) else [result])


def changed_indexes(before: Object, after: Object) -> set[str]:
    """The global indexes that differ between two declarations of a table."""
    old, new = _indexes(before), _indexes(after)
    return {name for name in {*old, *new} if old.get(name) != new.get(name)}


def _indexes(resource: Object) -> dict[str, JsonValue]:
    properties = cast("Object", resource.get("Properties", {}))
    declared = cast("list[Object]", properties.get("GlobalSecondaryIndexes", []))
    return {str(item["IndexName"]): item for item in declared}


def is_protected(resource: Object) -> bool:
    """Return whether a resource refuses its deletion."""
    properties = cast("Object", resource.get("Properties", {}))
    return (
        properties.get("DeletionProtectionEnabled") is True
        or properties.get("DeletionProtection") == "ACTIVE"
    )
