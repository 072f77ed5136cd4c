"""Which resources an update replaces, by the schemas that CloudFormation publishes."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import cast

from cfnlint.schema import PROVIDER_SCHEMA_MANAGER
from pydantic import JsonValue

from local.assembly import Object, Resource
from local.intrinsics import references
from tests.cloudformation.building import DesiredStack, ResourceFailedError
from tests.cloudformation.records import Change

_SCHEMAS_OF = "us-east-1"
_FIXED = ("createOnlyProperties", "conditionalCreateOnlyProperties")
REPLACING = "Requested update requires the creation of a new physical resource; hence creating one."
_CUSTOM_NAMED = (
    "CloudFormation cannot update a stack when a custom-named resource requires replacing. "
    "Rename {} and update the stack again."
)


def replaced(before: DesiredStack | None, after: DesiredStack) -> list[str]:
    """Return the names of resources that an update replaces, in the order of their creation.

    Resources whose fixed properties refer to a replaced resource are replaced too, because its name
    changes.
    """
    result: list[str] = []
    if before is None:
        return result
    for resource in after.template.stack.in_order():
        name = resource.logical_id
        old = before.template.resources.get(name)
        new = after.template.resources[name]
        if old is not None and _is_replaced(old, new, result):
            result.append(name)
    return result


def following(before: DesiredStack | None, after: DesiredStack) -> DesiredStack:
    """The stack with the generation of each resource, incremented for replaced ones."""
    generations = Counter(before.generations if before else {})
    generations.update(replaced(before, after))
    return replace(after, generations=generations)


def changed_by(before: DesiredStack | None, after: DesiredStack) -> list[Resource]:
    """The resources that are created or updated, in their order."""
    replacements = set(replaced(before, after))
    return [
        item
        for item in after.template.stack.in_order()
        if before is None
        or before.template.resources.get(item.logical_id)
        != after.template.resources[item.logical_id]
        or replacements
        & set(references(after.template.resources[item.logical_id].get("Properties")))
    ]


def changes_of(before: DesiredStack | None, after: DesiredStack) -> Iterator[Change]:
    """The effects of a change set."""
    old = before.template.resources if before else dict[str, Object]()
    new, replacements = after.template.resources, replaced(before, after)
    for name in {**old, **new}:
        kind = str((new.get(name) or old[name])["Type"])
        if name not in old:
            yield Change("Add", name, kind)
        elif name not in new:
            yield Change("Remove", name, kind)
        elif old[name] != new[name]:
            yield Change("Modify", name, kind, replaces=name in replacements)


def refuse_names(before: DesiredStack, after: DesiredStack) -> None:
    """Check that replaced resources can exist twice, until the old ones are deleted.

    Raises:
        ResourceFailedError: the template gives one a name, which would be in use.
    """
    replacements = replaced(before, after)
    for name in replacements:
        old, new = (_properties(item.template.resources[name]) for item in (before, after))
        paths = _paths(str(after.template.resources[name]["Type"]), "primaryIdentifier")
        # A part that the service generates, or the name of a replaced resource, is different each
        # time.
        parts = [(_at(new, path), _at(old, path)) for path in paths]
        if all(
            part is not None and part == earlier and not set(references(part)) & set(replacements)
            for part, earlier in parts
        ):
            raise ResourceFailedError(name, _CUSTOM_NAMED.format(parts[0][0]))


def _is_replaced(old: Object, new: Object, others: list[str]) -> bool:
    kind = str(new["Type"])
    if old["Type"] != kind:
        return True
    return any(
        _at(_properties(old), path) != _at(_properties(new), path)
        or set(references(_at(_properties(new), path))) & set(others)
        for key in _FIXED
        for path in _paths(kind, key)
    )


def _paths(kind: str, key: str) -> Iterator[list[str]]:
    result = PROVIDER_SCHEMA_MANAGER.get_resource_schema(_SCHEMAS_OF, kind)
    schema = cast("Mapping[str, list[str] | None]", result.schema)
    for path in schema.get(key) or ():
        yield path.removeprefix("/properties/").split("/")


def _properties(resource: Object) -> JsonValue:
    return resource.get("Properties")


def _at(value: JsonValue, path: list[str]) -> JsonValue:
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value
