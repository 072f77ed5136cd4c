"""What an entry says of a write, and what of it is too large for an item. Pure."""

import hashlib
import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from backend.domains.audit.models import Change, LargeValue, StoredValue
from backend.spec.buckets import AUDIT_VALUES_PREFIX

VALUE_BYTES = 4 * 1024
"""A larger value costs more write units than one request to S3, and every list would carry it."""
CHANGES_BYTES = 16 * 1024
"""All changes of one entry, for the same reason; far below the 400 KB of an item."""


class SecretInEntryError(Exception):
    """A programming error: an entry would hold what nobody may read."""


SECRET_ATTRIBUTES = frozenset({"apiKeyHash", "apiKey"})


def changed(
    before: Mapping[str, Any] | None, after: Mapping[str, Any] | None
) -> dict[str, tuple[Any, Any]]:
    """The attributes that differ, with both values; None stands for no value.

    Raises:
        SecretInEntryError: one of them is a secret.
    """
    old, new = before or {}, after or {}
    names = [*old, *(name for name in new if name not in old)]
    for name in names:
        if name in SECRET_ATTRIBUTES:
            raise SecretInEntryError(name)
    return {
        name: (old.get(name), new.get(name)) for name in names if old.get(name) != new.get(name)
    }


def encoded(value: object) -> bytes:
    """A value as JSON, the same bytes for equal values."""
    text = json.dumps(
        value, default=_number, ensure_ascii=False, separators=(",", ":"), sort_keys=True
    )
    return text.encode()


def large(content: bytes) -> LargeValue:
    return LargeValue(hashlib.sha256(content).hexdigest(), content)


def reference(value: LargeValue) -> StoredValue:
    """What an entry says instead of a large value."""
    return StoredValue(
        sha256=value.sha256, bytes=len(value.content), s3_key=value_key(value.sha256)
    )


def value_key(sha256: str) -> str:
    """Where a large value stands in the archive."""
    return AUDIT_VALUES_PREFIX + sha256


def bounded(
    changes: Mapping[str, tuple[Any, Any]],
) -> tuple[dict[str, Change], list[LargeValue]]:
    """The changes with references instead of large values, and those values."""
    found: dict[str, Change] = {}
    apart: list[LargeValue] = []
    for name, (before, after) in changes.items():
        sides: dict[str, Any] = {}
        for side, value in (("before", before), ("after", after)):
            content = encoded(value)
            if len(content) <= VALUE_BYTES:
                sides[side] = value
            else:
                apart.append(large(content))
                sides[f"{side}_stored"] = reference(apart[-1])
        found[name] = Change(**sides)
    return found, apart


def dumped(changes: Mapping[str, Change]) -> dict[str, Any]:
    """Changes as they are stored."""
    return {
        name: change.model_dump(by_alias=True, exclude_none=True)
        for name, change in changes.items()
    }


def _number(value: object) -> int | float:
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    raise TypeError(f"{type(value).__name__} has no place in an entry")
