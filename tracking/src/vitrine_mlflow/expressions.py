"""Values, conditions and writes in the form that DynamoDB takes them."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, TypeAlias

from vitrine_mlflow.keys import Key
from vitrine_mlflow.table import PARTITION_KEY, SORT_KEY

Item: TypeAlias = dict[str, Any]


class Presence(Enum):
    """A condition on the presence of an attribute, whatever its value."""

    ABSENT = "attribute_not_exists"
    PRESENT = "attribute_exists"


ABSENT, PRESENT = Presence.ABSENT, Presence.PRESENT
Condition: TypeAlias = Mapping[str, Any]  # attribute: value or Presence; all must hold


@dataclass(frozen=True)
class Put:
    """Write a whole item."""

    item: Item
    condition: Condition = field(default_factory=dict[str, Any])


@dataclass(frozen=True)
class Update:
    """Change attributes of an item; the item is created if it does not exist."""

    key: Key
    sets: Mapping[str, Any] = field(default_factory=dict[str, Any])
    removes: Sequence[str] = ()
    adds: Mapping[str, int] = field(default_factory=dict[str, int])
    condition: Condition = field(default_factory=dict[str, Any])


@dataclass(frozen=True)
class Delete:
    """Remove an item; nothing happens if it does not exist."""

    key: Key
    condition: Condition = field(default_factory=dict[str, Any])


@dataclass(frozen=True)
class Check:
    """Require a condition of an item that the transaction does not change."""

    key: Key
    condition: Condition


Write: TypeAlias = Put | Update | Delete | Check


def serialize(value: Any) -> dict[str, Any]:
    """A value as DynamoDB represents it. Floats are stored as text by their callers."""
    match value:
        case bool():
            typed = {"BOOL": value}
        case str():
            typed = {"S": value}
        case int():
            typed = {"N": str(value)}
        case bytes():
            typed = {"B": value}
        case None:
            typed = {"NULL": True}
        case dict():
            entries: Item = value  # pyright: ignore[reportUnknownVariableType]
            typed = {"M": serialize_item(entries)}
        case _:
            typed = {"L": [serialize(member) for member in value]}
    return typed


def serialize_item(item: Mapping[str, Any]) -> dict[str, Any]:
    return {name: serialize(value) for name, value in item.items()}


def deserialize(value: Mapping[str, Any]) -> Any:
    """Return what `serialize` represented."""
    ((kind, content),) = value.items()
    match kind:
        case "N":
            return int(content)
        case "NULL":
            return None
        case "B":
            # clients without a parser for binary values return them as base64
            return base64.b64decode(content) if isinstance(content, str) else content
        case "M":
            return deserialize_item(content)
        case "L":
            return [deserialize(member) for member in content]
        case _:
            return content


def deserialize_item(item: Mapping[str, Any]) -> Item:
    return {name: deserialize(value) for name, value in item.items()}


def key_of(item: Item) -> Key:
    return Key(item[PARTITION_KEY], item[SORT_KEY])


def with_key(key: Key, attributes: Item) -> Item:
    """An item of these attributes at a key."""
    return {PARTITION_KEY: key.pk, SORT_KEY: key.sk, **attributes}


def key_attributes(key: Key) -> dict[str, Any]:
    return {PARTITION_KEY: {"S": key.pk}, SORT_KEY: {"S": key.sk}}


class Placeholders:
    """Names and values of one expression."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.values: dict[str, Any] = {}

    def name(self, attribute: str) -> str:
        for placeholder, known in self.names.items():
            if known == attribute:
                return placeholder
        placeholder = f"#n{len(self.names)}"
        self.names[placeholder] = attribute
        return placeholder

    def value(self, value: Any) -> str:
        placeholder = f":v{len(self.values)}"
        self.values[placeholder] = serialize(value)
        return placeholder

    def condition(self, condition: Condition) -> str:
        return " AND ".join(
            f"{wanted.value}({self.name(attribute)})"
            if isinstance(wanted, Presence)
            else f"{self.name(attribute)} = {self.value(wanted)}"
            for attribute, wanted in condition.items()
        )

    def parameters(self) -> dict[str, Any]:
        parameters: dict[str, Any] = {}
        if self.names:
            parameters["ExpressionAttributeNames"] = self.names
        if self.values:
            parameters["ExpressionAttributeValues"] = self.values
        return parameters


def write_parameters(write: Write) -> tuple[str, dict[str, Any]]:
    """The name of a write in a transaction, and its parameters without the table."""
    placeholders = Placeholders()
    parameters: dict[str, Any] = {}
    match write:
        case Put():
            kind, parameters["Item"] = "Put", serialize_item(write.item)
        case Update():
            kind, parameters["Key"] = "Update", key_attributes(write.key)
            parameters["UpdateExpression"] = _update_expression(write, placeholders)
        case Delete():
            kind, parameters["Key"] = "Delete", key_attributes(write.key)
        case Check():
            kind, parameters["Key"] = "ConditionCheck", key_attributes(write.key)
    if write.condition:
        parameters["ConditionExpression"] = placeholders.condition(write.condition)
    return kind, {**parameters, **placeholders.parameters()}


def _update_expression(update: Update, placeholders: Placeholders) -> str:
    clauses: list[str] = []
    if update.sets:
        pairs = [
            f"{placeholders.name(name)} = {placeholders.value(value)}"
            for name, value in update.sets.items()
        ]
        clauses.append("SET " + ", ".join(pairs))
    if update.removes:
        clauses.append("REMOVE " + ", ".join(placeholders.name(name) for name in update.removes))
    if update.adds:
        pairs = [
            f"{placeholders.name(name)} {placeholders.value(number)}"
            for name, number in update.adds.items()
        ]
        clauses.append("ADD " + ", ".join(pairs))
    return " ".join(clauses)
