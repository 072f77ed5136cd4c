"""Resolves CloudFormation's intrinsic functions against the created resources.

It supports the functions that a CDK app renders. Any other `Fn::` is an error, because an ignored
function would result in a wrong value.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import cast

from pydantic import JsonValue

from local import arns

_SUB = re.compile(r"\$\{(!?[^}]*)\}")

PSEUDO_PARAMETERS: Mapping[str, str] = {
    "AWS::Region": arns.REGION,
    "AWS::AccountId": arns.ACCOUNT,
    "AWS::Partition": "aws",
    "AWS::URLSuffix": "amazonaws.com",
}


class UnresolvableError(Exception):
    """An expression cannot be resolved; the caller adds the place."""


class _Absent:
    """The value of `AWS::NoValue`: the property or list entry is omitted."""


_ABSENT = _Absent()
_Resolved = JsonValue | _Absent


@dataclass(frozen=True)
class Scope:
    """The names to which an expression of one stack may refer."""

    stack: str
    ref: Callable[[str], JsonValue]
    attribute: Callable[[str, str], JsonValue]
    imported: Callable[[str], JsonValue]
    conditions: Mapping[str, JsonValue]
    mappings: Mapping[str, JsonValue]
    pseudo_parameters: Mapping[str, str] = field(default_factory=lambda: PSEUDO_PARAMETERS)


def resolve(value: JsonValue, scope: Scope) -> JsonValue:
    """Return `value` with every intrinsic function replaced by its result.

    Raises:
        UnresolvableError: a function is unknown or malformed, or a reference is unknown.
    """
    resolved = _resolve(value, scope)
    if isinstance(resolved, _Absent):
        raise UnresolvableError("AWS::NoValue is used where a value is required")
    return resolved


def holds(condition: str, scope: Scope) -> bool:
    """Return whether the named condition of the template is true.

    Raises:
        UnresolvableError: there is no such condition.
    """
    if condition not in scope.conditions:
        raise UnresolvableError(f"no condition {condition}")
    return _truth(scope.conditions[condition], scope)


def references(value: JsonValue) -> Iterator[str]:
    """Yield the logical ids (and parameters) that `value` refers to in its own stack."""
    if isinstance(value, list):
        for entry in value:
            yield from references(entry)
    elif isinstance(value, dict):
        match value:
            case {"Ref": str(name)} if len(value) == 1:
                yield name
            case {"Fn::GetAtt": [str(name), *_]} if len(value) == 1:
                yield name
            case {"Fn::GetAtt": str(dotted)} if len(value) == 1:
                yield dotted.split(".", 1)[0]
            case {"Fn::Sub": expression} if len(value) == 1:
                yield from _sub_references(expression)
            case _:
                for entry in value.values():
                    yield from references(entry)


def _sub_references(expression: JsonValue) -> Iterator[str]:
    own: set[str] = set()
    text = expression
    if isinstance(expression, list) and len(expression) == 2:
        text, names = expression
        if isinstance(names, dict):
            own = set(names)
        yield from references(names)
    if isinstance(text, str):
        for name in _SUB.findall(text):
            if not name.startswith("!") and name not in own:
                yield name.split(".", 1)[0]


def _resolve(value: JsonValue, scope: Scope) -> _Resolved:
    if isinstance(value, list):
        entries = (_resolve(entry, scope) for entry in value)
        return [entry for entry in entries if not isinstance(entry, _Absent)]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        ((name, argument),) = value.items()
        if name == "Ref":
            return _ref(argument, scope)
        if name in _FUNCTIONS:
            return _FUNCTIONS[name](argument, scope)
        if name.startswith("Fn::"):
            raise UnresolvableError(f"the function {name} is not known to the local runtime")
    pairs = ((key, _resolve(entry, scope)) for key, entry in value.items())
    return {key: entry for key, entry in pairs if not isinstance(entry, _Absent)}


def _ref(argument: JsonValue, scope: Scope) -> _Resolved:
    if not isinstance(argument, str):
        raise UnresolvableError(f"Ref needs a name, not {argument!r}")
    if argument == "AWS::NoValue":
        return _ABSENT
    if argument in {"AWS::StackName", "AWS::StackId"}:
        return scope.stack if argument == "AWS::StackName" else stack_id(scope.stack)
    if argument in scope.pseudo_parameters:
        return scope.pseudo_parameters[argument]
    return scope.ref(argument)


def stack_id(stack: str) -> str:
    """Return the ARN that the stack would have on AWS."""
    return arns.arn("cloudformation", f"stack/{stack}/{arns.stable_id(stack)}")


def _get_att(argument: JsonValue, scope: Scope) -> _Resolved:
    match argument:
        case str(dotted) if "." in dotted:
            name, attribute = dotted.split(".", 1)
        case [str(name), str(attribute)]:
            pass
        case _:
            raise UnresolvableError(f"Fn::GetAtt needs a resource and an attribute: {argument!r}")
    return scope.attribute(name, attribute)


def _join(argument: JsonValue, scope: Scope) -> _Resolved:
    match argument:
        case [str(separator), entries]:
            parts = resolve(entries, scope)
        case _:
            raise UnresolvableError(f"Fn::Join needs a separator and a list: {argument!r}")
    if not isinstance(parts, list):
        raise UnresolvableError("Fn::Join needs a list")
    return separator.join(_text(part) for part in parts)


def _sub(argument: JsonValue, scope: Scope) -> _Resolved:
    names: dict[str, JsonValue] = {}
    match argument:
        case str(text):
            pass
        case [str(text), dict(values)]:
            names = cast("dict[str, JsonValue]", resolve(values, scope))
        case _:
            raise UnresolvableError(f"Fn::Sub needs a text: {argument!r}")

    def fill(reference: re.Match[str]) -> str:
        name = reference.group(1)
        if name.startswith("!"):
            return "${" + name[1:] + "}"
        if name in names:
            return _text(names[name])
        expression: JsonValue = {"Fn::GetAtt": name} if "." in name else {"Ref": name}
        return _text(resolve(expression, scope))

    return _SUB.sub(fill, text)


def _select(argument: JsonValue, scope: Scope) -> _Resolved:
    resolved = resolve(argument, scope)
    match resolved:
        case [int() | str() as index, list(entries)] if str(index).isdigit():
            place = int(index)
        case _:
            raise UnresolvableError(f"Fn::Select needs an index and a list: {argument!r}")
    if place >= len(entries):
        raise UnresolvableError(f"Fn::Select: no entry {place} in a list of {len(entries)}")
    return entries[place]


def _split(argument: JsonValue, scope: Scope) -> _Resolved:
    resolved = resolve(argument, scope)
    match resolved:
        case [str(separator), str(text)]:
            return list[JsonValue](text.split(separator))
        case _:
            raise UnresolvableError(f"Fn::Split needs a separator and a text: {argument!r}")


def _find_in_map(argument: JsonValue, scope: Scope) -> _Resolved:
    keys = resolve(argument, scope)
    match keys:
        case [str(name), str(first), str(second)]:
            level: JsonValue = dict(scope.mappings)
        case _:
            raise UnresolvableError(f"Fn::FindInMap needs three names: {argument!r}")
    for key in (name, first, second):
        if not isinstance(level, dict) or key not in level:
            raise UnresolvableError(f"Fn::FindInMap: no entry {name}/{first}/{second}")
        level = level[key]
    return level


def _if(argument: JsonValue, scope: Scope) -> _Resolved:
    match argument:
        case [str(condition), when_true, when_false]:
            return _resolve(when_true if holds(condition, scope) else when_false, scope)
        case _:
            raise UnresolvableError(f"Fn::If needs a condition and two values: {argument!r}")


def _base64(argument: JsonValue, scope: Scope) -> _Resolved:
    import base64  # noqa: PLC0415 - rendered by hardly any stack

    return base64.b64encode(_text(resolve(argument, scope)).encode()).decode()


def _truth(expression: JsonValue, scope: Scope) -> bool:
    match expression:
        case {"Condition": str(name)}:
            return holds(name, scope)
        case {"Fn::Equals": [left, right]}:
            return resolve(left, scope) == resolve(right, scope)
        case {"Fn::Not": [negated]}:
            return not _truth(negated, scope)
        case {"Fn::And": list(parts)}:
            return all(_truth(part, scope) for part in parts)
        case {"Fn::Or": list(parts)}:
            return any(_truth(part, scope) for part in parts)
        case _:
            raise UnresolvableError(f"not a condition: {expression!r}")


def _text(value: JsonValue) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int | float):
        return str(value)
    raise UnresolvableError(f"a text is needed, not {value!r}")


_FUNCTIONS: Mapping[str, Callable[[JsonValue, Scope], _Resolved]] = {
    "Fn::GetAtt": _get_att,
    "Fn::Join": _join,
    "Fn::Sub": _sub,
    "Fn::Select": _select,
    "Fn::Split": _split,
    "Fn::ImportValue": lambda name, scope: scope.imported(_text(resolve(name, scope))),
    "Fn::FindInMap": _find_in_map,
    "Fn::If": _if,
    "Fn::Base64": _base64,
}
