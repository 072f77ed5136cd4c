"""Writes as values: services compose them, and one transaction carries them out.

A service may return writes that a higher slice puts into its own transaction. `refused` is the
error to raise when a write's condition does not hold.
"""

from collections.abc import Mapping
from dataclasses import KW_ONLY, field
from typing import Any, Literal

from backend.core.errors import VitrineError
from backend.spec.tables.model import Table
from backend.values import frozen

Item = dict[str, Any]
Key = Mapping[str, str]

MAX_TRANSACTION_ITEMS = 100  # DynamoDB's limit


@frozen
class Condition:
    """A condition on one attribute of the item as it is stored.

    `not >` is also true if the attribute, or the item, is missing.
    """

    attribute: str
    operator: Literal["exists", "absent", "=", "<>", "<", "<=", ">", ">=", "not >"]
    value: object = None


def exists(attribute: str) -> Condition:
    return Condition(attribute, "exists")


def absent(attribute: str) -> Condition:
    return Condition(attribute, "absent")


def equals(attribute: str, value: object) -> Condition:
    return Condition(attribute, "=", value)


@frozen
class Put:
    """Write a whole item."""

    _: KW_ONLY
    table: Table
    item: Item
    conditions: tuple[Condition, ...] = ()
    refused: VitrineError | None = None


@frozen
class Update:
    """Change some attributes of an item; create it if missing, unless a condition forbids it.

    `add` increments numbers.
    """

    _: KW_ONLY
    table: Table
    key: Key
    set: Mapping[str, Any] = field(default_factory=dict[str, Any])
    remove: tuple[str, ...] = ()
    add: Mapping[str, int] = field(default_factory=dict[str, int])
    conditions: tuple[Condition, ...] = ()
    refused: VitrineError | None = None


@frozen
class Delete:
    """Remove an item."""

    _: KW_ONLY
    table: Table
    key: Key
    conditions: tuple[Condition, ...] = ()
    refused: VitrineError | None = None


@frozen
class Check:
    """Require a condition of an item that the transaction does not write."""

    _: KW_ONLY
    table: Table
    key: Key
    conditions: tuple[Condition, ...]
    refused: VitrineError | None = None


Write = Put | Update | Delete | Check


def put_new(table: Table, item: Item, refused: VitrineError) -> Put:
    """Return a put that is refused if an item with this key exists."""
    conditions = (absent(table.partition_key.name),)
    return Put(table=table, item=item, conditions=conditions, refused=refused)
