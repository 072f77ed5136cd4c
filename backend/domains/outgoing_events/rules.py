"""The event of an audit entry. Pure."""

import hashlib
from collections.abc import Mapping
from typing import Any, cast

from backend.core.identity import user_of
from backend.domains.outgoing_events.models import OutgoingEvent
from backend.spec.events import (
    ASSET_CHANGED,
    EVENT_TYPES,
    EXECUTION_COMPLETED,
    FILE_CHANGED,
    FILE_UPLOADED,
    EventType,
)

_BY_OPERATION = {operation: event for event in EVENT_TYPES for operation in event.operations}


def event_of(entry: Mapping[str, Any]) -> OutgoingEvent | None:
    """Return the event of an audit entry as stored; None if the entry causes none.

    Raises:
        ValueError: the entry lacks a value that its event requires.
    """
    kind, *ids = str(entry.get("entity")).split(":", 3)
    changes: Mapping[str, Any] = entry.get("changes") or {}
    operation = str(entry.get("operation"))
    named, values = _BY_OPERATION.get(operation), dict[str, Any]()
    event_type = named or (FILE_CHANGED if kind == "file" else ASSET_CHANGED)
    if kind == "execution":
        # The start of one, or an end that an earlier release recorded without its asset.
        if named is not EXECUTION_COMPLETED or "assetId" not in changes:
            return None
        values["executionId"] = ids[0]
        ids = [_after(changes, "databaseId"), _after(changes, "assetId")]
    elif kind == "file":
        values["filePath"] = ids[2]
    if event_type is FILE_UPLOADED:
        files = cast("Mapping[str, str] | None", _after(changes, "files"))
        if files is not None:  # else there are too many to be in the entry
            values["filePaths"] = [path for path, result in files.items() if result == "uploaded"]
            if not values["filePaths"]:
                return None
    at, _, suffix = str(entry["at"]).partition("#")
    return OutgoingEvent(
        type=event_type.name,
        id=hashlib.sha256("\n".join((entry["entity"], at, suffix)).encode()).hexdigest()[:32],
        at=at,
        actor=user_of(str(entry["userId"])),
        operation=operation,
        database_id=ids[0],
        asset_id=ids[1],
        fields=_fields_of(event_type, changes, values),
    )


def _fields_of(
    event_type: EventType, changes: Mapping[str, Any], values: Mapping[str, Any]
) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for field in event_type.fields:
        value = values.get(field.name, _after(changes, field.change))
        if value is not None:
            fields[field.name] = value
        elif field.required:
            raise ValueError(f"{field.name} of {event_type.name} is not in the entry")
    return fields


def _after(changes: Mapping[str, Any], name: str) -> Any:
    """Return a value of a change that is in the entry itself."""
    return changes.get(name, {}).get("after")
