"""Determines the documents that change events affect. Pure: no I/O, no AWS types.

Events are used only as a sign *that* something changed; the current state is read later, after a
ticket is taken. So only ids of the images are used, and `inheritedRevision`, which starts a
fan-out.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from backend.core.objects import ObjectRef
from backend.core.quoting import quoted
from backend.core.references import AssetRef
from backend.search.indexing.references import (
    MalformedReferenceError,
    Reference,
    at_path,
    from_message,
)
from backend.spec import keys
from backend.spec.tables import TABLES
from backend.spec.tables.assets import ASSET_LINKS, ASSETS
from backend.spec.tables.metadata import ASSET_FILE_METADATA, FILE_ATTRIBUTES
from backend.spec.tables.model import Table
from backend.values import frozen

Record = Mapping[str, Any]
Image = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True, order=True)
class FanOut:
    """An attribute of an asset that its files inherit has changed, for the nth time.

    Revisions start again where an id is reused after a deletion: the time of creation
    distinguishes the two assets.
    """

    database_id: str
    asset_id: str
    inherited_revision: int
    created_at: str = ""


@frozen
class Poison:
    """An event that cannot be parsed: a name for it, its body, and the reason."""

    name: str
    body: object
    reason: str


@dataclass(slots=True)
class Changes:
    """The result of a batch of events; several events of one document result in one reference.

    Of the references, `records` are those whose metadata or attributes have changed: they are read
    through indexes that lag behind.
    """

    references: set[Reference] = field(default_factory=set[Reference])
    records: set[Reference] = field(default_factory=set[Reference])
    fan_outs: set[FanOut] = field(default_factory=set[FanOut])
    poison: list[Poison] = field(default_factory=list[Poison])


class _MalformedError(Exception):
    """The event lacks a value; the message names it."""


# Tables by the names of their keys, which no two tables with a stream share. The function needs
# neither permissions on the tables nor their physical names.
_TABLES_BY_KEY = {frozenset(table.key_names): table for table in TABLES if table.stream}


def table_changes(records: Sequence[Record]) -> Changes:
    """Return what records of DynamoDB streams change."""
    changes = Changes()
    for number, record in enumerate(records):
        try:
            _add_table_change(changes, record)
        except (_MalformedError, ValueError) as error:
            name = _name(record, "eventID", number)
            changes.poison.append(Poison(name, record, str(error)))
    # The last one of an asset rebuilds for all changes before it.
    changes.fan_outs = _latest(changes.fan_outs)
    return changes


def object_changes(messages: Sequence[Record]) -> Changes:
    """Return what object events of S3 change, which EventBridge put into a queue."""
    return _collect_changes(messages, lambda body: {_object_of(body)})


def settle_changes(messages: Sequence[Record]) -> Changes:
    """Return the documents that settle messages of `rebuild` name."""
    return _collect_changes(messages, from_message)


def _collect_changes(
    messages: Sequence[Record], read: Callable[[object], Iterable[Reference]]
) -> Changes:
    changes = Changes()
    for number, message in enumerate(messages):
        try:
            changes.references.update(read(_json(message)))
        except (_MalformedError, MalformedReferenceError) as error:
            name = _name(message, "messageId", number)
            changes.poison.append(Poison(name, message, str(error)))
    return changes


def _json(message: Record) -> object:
    try:
        return json.loads(message["body"])
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise MalformedReferenceError(f"the message's body is not JSON: {quoted(error)}") from error


def _object_of(event: object) -> ObjectRef:
    match event:
        case {"detail": {"bucket": {"name": str(bucket)}, "object": {"key": str(key)}}} if key:
            return ObjectRef(bucket, key)
        case _:
            raise _MalformedError("the event has no detail.bucket.name and detail.object.key")


def _add_table_change(changes: Changes, record: Record) -> None:
    change = _require_mapping(_require_mapping(record, "fields").get("dynamodb"), "dynamodb")
    key = cast("Image", _require_mapping(change.get("Keys"), "dynamodb.Keys"))
    table = _table(key)
    if table is ASSETS:
        asset = AssetRef(keys.active(_text(key, "databaseId")), _text(key, "assetId"))
        changes.references.add(asset)
        if (image := change.get("NewImage")) is not None:
            row = _require_mapping(image, "dynamodb.NewImage")
            value = row.get("inheritedRevision", {"N": "0"})
            revision = int(str(_require_mapping(value, "inheritedRevision").get("N")))
            # The first revision is the asset's creation, when it has no files yet.
            if revision > 1:
                created = _require_mapping(row.get("createdAt", {}), "createdAt")
                created_at = str(created.get("S", ""))
                changes.fan_outs.add(
                    FanOut(asset.database_id, asset.asset_id, revision, created_at)
                )
    elif table in (ASSET_FILE_METADATA, FILE_ATTRIBUTES):
        database_id, asset_id, path = keys.FILE.parse(_text(key, keys.FILE.name))
        changed = at_path(keys.active(database_id), asset_id, path)
        changes.references.add(changed)
        changes.records.add(changed)
    elif table is ASSET_LINKS and change.get("NewImage") is not None:
        # The record of a removed link contains no assets; its transaction also writes both assets'
        # rows.
        image = cast("Image", _require_mapping(change["NewImage"], "dynamodb.NewImage"))
        for composite in (keys.LINK_FROM, keys.LINK_TO):
            database_id, asset_id = composite.parse(_text(image, composite.name))
            changes.references.add(AssetRef(keys.active(database_id), asset_id))
    # Changes of the other tables affect no document (`spec.queues.UNCONSUMED_STREAMS` gives the
    # reasons).


def _table(key: Image) -> Table:
    try:
        return _TABLES_BY_KEY[frozenset(key)]
    except KeyError:
        raise _MalformedError(f"no table with a stream has the key {sorted(key)}") from None


def _latest(fan_outs: set[FanOut]) -> set[FanOut]:
    """Return only the last fan-out of each asset."""
    # The last one reads the results of all of them.
    in_order = sorted(fan_outs, key=lambda f: (f.created_at, f.inherited_revision))
    return set({(f.database_id, f.asset_id): f for f in in_order}.values())


def _require_mapping(value: object, name: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise _MalformedError(f"the record has no {name}")
    return cast("Mapping[str, Any]", value)


def _text(image: Image, name: str) -> str:
    value = _require_mapping(image.get(name), name).get("S")
    if not isinstance(value, str) or not value:
        raise _MalformedError(f"{name} is not a text")
    return value


def _name(record: object, field_name: str, number: int) -> str:
    entries = cast("Record", record if isinstance(record, Mapping) else {})
    return str(entries.get(field_name) or f"number-{number}")
