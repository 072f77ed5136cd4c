"""The content of audit entries, and the values that are too large for an item. Pure."""

import gzip
import hashlib
import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, cast

from backend.core.clock import iso
from backend.core.identity import SYSTEM, SYSTEM_PARTITIONS, user_of
from backend.core.paging import Page
from backend.domains.audit.models import Change, Entry, LargeValue, Period, StoredValue
from backend.spec.key_layouts import AUDIT_VALUES_PREFIX
from backend.spec.tables.operations import AUDIT_AT, AUDIT_ENTITY, AUDIT_USER_ID

# The separator of an entry's time and its suffix, which distinguishes entries of the same time.
SEPARATOR = "#"
_AFTER_SEPARATOR = "$"
ALL_TIMES = Period("0", ":")  # times begin with a digit
# Size of a value above which S3 stores it. A larger value costs more write units than a request to
# S3, and each list would read it.
VALUE_BYTES = 4 * 1024
# Size of all changes in one entry, for the same reason.
CHANGES_BYTES = 16 * 1024


SHOWN_CHARS = 256
"""Maximum length of each id in the path of a denied request."""


class SecretInEntryError(Exception):
    """A programming error: an entry would contain a secret."""


SECRET_ATTRIBUTES = frozenset({"apiKeyHash", "apiKey"})


def changed(
    before: Mapping[str, Any] | None, after: Mapping[str, Any] | None
) -> dict[str, tuple[Any, Any]]:
    """Return the attributes that differ, with both values; None means no value.

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
    """Return a value as JSON: the same bytes for equal values."""
    text = json.dumps(
        value, default=_plain, ensure_ascii=False, separators=(",", ":"), sort_keys=True
    )
    return text.encode()


def large(content: bytes) -> LargeValue:
    return LargeValue(hashlib.sha256(content).hexdigest(), content)


def reference(value: LargeValue) -> StoredValue:
    """Return the reference that an entry contains instead of a large value."""
    return StoredValue(
        sha256=value.sha256, bytes=len(value.content), s3_key=value_key(value.sha256)
    )


def references(entry: Entry) -> set[str]:
    """Return the hashes of the large values that an entry itself names."""
    named = [entry.changes_stored]
    for change in entry.changes.values():
        named += [change.before_stored, change.after_stored]
    return {value.sha256 for value in named if value is not None}


def references_within(changes: object) -> set[str]:
    """Return the hashes in a complete `changes` object, which is archived as one value."""
    hashes: set[str] = set()
    for change in cast("Mapping[str, Any]", changes).values():
        for side in ("beforeStored", "afterStored"):
            if side in change:
                hashes.add(change[side]["sha256"])
    return hashes


def value_key(sha256: str) -> str:
    """Return the archive key of a large value."""
    return AUDIT_VALUES_PREFIX + sha256


def extract_large_values(
    changes: Mapping[str, tuple[Any, Any]],
) -> tuple[dict[str, Change], list[LargeValue]]:
    """Return the changes with references instead of large values, and those values."""
    named_changes: dict[str, Change] = {}
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
        named_changes[name] = Change(**sides)
    return named_changes, apart


def dumped(changes: Mapping[str, Change]) -> dict[str, Any]:
    """Return changes as they are stored."""
    return {
        name: change.model_dump(by_alias=True, exclude_none=True)
        for name, change in changes.items()
    }


def partition_of(entry: Entry) -> str:
    """Return the partition of an entry in the index by user, the same one for each repetition."""
    if entry.user_id != SYSTEM.user_id:
        return entry.user_id
    number = zlib.crc32(entry.entity.encode()) % (len(SYSTEM_PARTITIONS) - 1)
    return SYSTEM_PARTITIONS[1 + number]


def with_user(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return an entry as stored, with its user instead of a partition of the product's entries."""
    name = AUDIT_USER_ID.name
    return {**item, name: user_of(item[name])} if name in item else dict(item)


def sort_keys_before(at: str, first: str) -> Period:
    """Return the sort keys from `first` to the last one before `at`."""
    return Period(first, at[:-1] + chr(ord(at[-1]) - 1) + "\U0010ffff")


def merged(parts: Sequence[Page[dict[str, Any]]], limit: int) -> Page[dict[str, Any]]:
    """Return the first items of all partitions, newest first."""
    rows = [
        ((item[AUDIT_AT.name], -number), item)
        for number, part in enumerate(parts)
        for item in part.items
    ]
    # A partition that was not read to its end may have more items after its last one.
    known = max(
        (
            (part.items[-1][AUDIT_AT.name], -number)
            for number, part in enumerate(parts)
            if part.after is not None
        ),
        default=None,
    )
    rows.sort(key=lambda row: row[0], reverse=True)
    items = [item for order, item in rows if known is None or order >= known][:limit]
    if known is None and len(items) == len(rows) < limit:
        return Page(tuple(items))
    key = (AUDIT_ENTITY.name, AUDIT_AT.name, AUDIT_USER_ID.name)
    return Page(tuple(items), {name: items[-1][name] for name in key})


def sort_keys_between(since: datetime | None, until: datetime | None) -> Period | None:
    """Return the sort keys of a period; None means no limit."""
    if since is None and until is None:
        return None
    first = ALL_TIMES.first if since is None else iso(since)
    last = ALL_TIMES.last if until is None else iso(until) + _AFTER_SEPARATOR
    return Period(first, last)


# Attributes of the row in the entry of an asset's creation. Counters and copies are omitted.
CREATED_ATTRIBUTES = (
    *("databaseId", "assetId", "assetName", "description", "isDistributable", "tags"),
    *("assetType", "bucketId", "assetLocation"),
)
# The suffix of that entry instead of a random one. An asset is created once, however often its
# stream repeats the record.
CREATION_SUFFIX = "created"


def is_creation(row: Mapping[str, Any]) -> bool:
    """Return whether a row in the stream of assets is new.

    Archiving and restoring also write rows.
    """
    return row.get("revision") == 1 and bool(row.get("createdAt")) and bool(row.get("createdBy"))


def archived_name(at: datetime, sequence: str) -> str:
    """Return the key for expired entries whose first one has this sequence number in its stream."""
    # A batch that is delivered again begins with the same entry, so it overwrites the same object.
    return f"{at.astimezone(UTC):%Y/%m/%d}/{sequence}.jsonl.gz"


def shown_path(path: Mapping[str, str]) -> dict[str, str]:
    """Return the ids in the path of a refused request, which may contain anything."""
    return {
        name: text.encode(errors="replace").decode()[:SHOWN_CHARS] for name, text in path.items()
    }


def compressed_lines(items: Iterable[Mapping[str, Any]]) -> bytes:
    """Return items as compressed lines of JSON: the same bytes for equal items."""
    return gzip.compress(b"".join(encoded(item) + b"\n" for item in items), mtime=0)


def _plain(value: object) -> int | float | str | list[Any]:
    """Convert values of items that JSON does not have."""
    match value:
        case Decimal():
            return int(value) if value == value.to_integral_value() else float(value)
        case set() | frozenset():
            return sorted(cast("set[Any]", value), key=str)
        case _:
            raise TypeError(f"{type(value).__name__} cannot be stored in an audit entry")
