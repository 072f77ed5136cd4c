"""Items in DynamoDB's wire format: conversion both ways, and the limits that are checked first."""

from base64 import b64decode
from collections.abc import Mapping
from decimal import Decimal, DecimalException
from typing import Any, cast

from boto3.dynamodb.types import DYNAMODB_CONTEXT, Binary, TypeSerializer

from backend.aws.write_ids import WRITE_IDS
from backend.core.errors import InvalidInputError, TooLargeError
from backend.core.transactions import Item
from backend.spec.keys import ITEM_BYTES, PARTITION_KEY_BYTES, SORT_KEY_BYTES
from backend.spec.tables.model import KeyAttribute, Table

Wire = dict[str, Any]
_SHOWN_CHARS = 2100  # for a key that is too long: a path with a metadata key

_serializer = TypeSerializer()


def to_wire(item: Mapping[str, Any]) -> Wire:
    """Convert an item to the wire format, without None and empty sets.

    Raises:
        InvalidInputError: a number does not fit DynamoDB's 38 digits, or a text is not Unicode.
    """
    return {name: value_to_wire(name, value) for name, value in item.items() if value is not None}


def value_to_wire(name: str, value: object) -> Wire:
    """Convert the value of one attribute to the wire format (see `to_wire`)."""
    try:
        return cast("Wire", _serializer.serialize(_numbers_as_decimal(value)))
    except DecimalException:
        raise InvalidInputError.of(name, "the number has more than 38 digits") from None
    except TypeError:
        raise InvalidInputError.of(name, "cannot be stored (NaN, infinity or empty set)") from None


def from_wire(item: Mapping[str, Any]) -> Item:
    """Convert an item from the wire format, without the ids of its writes.

    Whole numbers become int, others remain Decimal.
    """
    return {name: _read(value) for name, value in item.items() if name not in WRITE_IDS}


def check_item(table: Table, wire: Wire) -> None:
    """Check an item against DynamoDB's limits before it is sent; errors name the attribute.

    Raises:
        InvalidInputError: a key attribute is empty or too long.
        TooLargeError: the item is over 400 KB.
    """
    check_key(table, wire)
    size = item_size(wire)
    if size > ITEM_BYTES:
        key = ", ".join(f"{name} {wire[name].get('S')!r}" for name in table.key_names)
        raise TooLargeError(
            f"the item of {table.name} with {key} has {size} bytes; the limit is {ITEM_BYTES}"
        )


def check_key(table: Table, wire: Wire) -> None:
    """Reject empty and overlong values of the keys of the table and its indexes."""
    _check(table.partition_key, wire, PARTITION_KEY_BYTES)
    if table.sort_key is not None:
        _check(table.sort_key, wire, SORT_KEY_BYTES)
    for index in table.indexes:
        if index.partition_key is not None:
            _check(index.partition_key, wire, PARTITION_KEY_BYTES)
        if index.sort_key is not None:
            _check(index.sort_key, wire, SORT_KEY_BYTES)


def _check(attribute: KeyAttribute, wire: Wire, limit: int) -> None:
    value = wire.get(attribute.name)
    if value is None or "S" not in value:
        return
    size = text_bytes(attribute.name, value["S"])
    if size == 0:
        raise InvalidInputError.of(attribute.name, "must not be empty")
    if size > limit:
        fact = f"has {size} bytes, at most {limit} fit a key: {value['S']!r:.{_SHOWN_CHARS}}"
        raise InvalidInputError.of(attribute.name, fact)


def text_bytes(name: str, text: str) -> int:
    """Return the size of a text in UTF-8.

    Raises:
        InvalidInputError: the text contains a lone surrogate, so it is not Unicode.
    """
    try:
        return len(text.encode())
    except UnicodeEncodeError:
        raise InvalidInputError.of(name, "is not valid Unicode text") from None


def item_size(wire: Wire) -> int:
    """Return the size of an item in bytes as DynamoDB counts it (names and values).

    Source: DynamoDB Developer Guide, "DynamoDB item sizes and formats".
    """
    return sum(text_bytes(name, name) + _size(name, value) for name, value in wire.items())


def _size(name: str, value: Wire) -> int:
    ((kind, content),) = value.items()
    match kind:
        case "S":
            size = text_bytes(name, content)
        case "N":
            # The size of a number: a byte for two digits, one for the exponent, one if
            # negative.
            number = DYNAMODB_CONTEXT.create_decimal(content)
            digits = "".join(map(str, number.as_tuple().digits)).strip("0")
            size = (len(digits) + 1) // 2 + 1 + number.is_signed()
        case "B":
            size = len(content)
        case "BOOL" | "NULL":
            size = 1
        case "L":
            size = 3 + sum(1 + _size(name, element) for element in content)
        case "M":
            size = 3 + sum(1 + text_bytes(name, k) + _size(k, v) for k, v in content.items())
        case _:  # a set: SS, NS, BS
            size = sum(_size(name, {kind[0]: element}) for element in content)
    return size


def _numbers_as_decimal(value: object) -> object:
    if isinstance(value, float):
        return Decimal(repr(value))
    if isinstance(value, dict):
        entries = cast("dict[str, object]", value)
        return {k: _numbers_as_decimal(v) for k, v in entries.items() if v is not None}
    if value in (set[object](), frozenset[object]()):  # boto3 would send it unchanged
        raise TypeError("DynamoDB cannot store an empty set")
    if isinstance(value, list | tuple):
        return [_numbers_as_decimal(element) for element in cast("list[object]", value)]
    return value


def _read(value: Wire) -> Any:
    """Convert a value; boto3's own deserializer takes several times as long."""
    ((kind, content),) = value.items()
    match kind:
        case "S" | "BOOL":
            native = content
        case "N":
            native = _number(content)
        case "NULL":
            native = None
        case "L":
            native = [_read(element) for element in content]
        case "M":
            native = {name: _read(element) for name, element in content.items()}
        case "B":
            native = _binary(content)
        case "SS":
            native = set(content)
        case "NS":
            native = {DYNAMODB_CONTEXT.create_decimal(element) for element in content}
        case "BS":
            native = {_binary(element) for element in content}
        case _:
            raise TypeError(f"DynamoDB does not support the type {kind!r}")
    return native


def _number(text: str) -> int | Decimal:
    if text.isdecimal():
        return int(text)
    number = DYNAMODB_CONTEXT.create_decimal(text)
    return int(number) if number == number.to_integral_value() else number


def _binary(content: bytes | str) -> Binary:
    """Return bytes, from bytes or from base64 as sent (see `parsing`)."""
    return Binary(b64decode(content) if isinstance(content, str) else content)
