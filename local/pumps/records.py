"""Records of a table's stream in the form that Lambda passes to functions."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, cast

from local import arns

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mypy_boto3_dynamodbstreams.type_defs import RecordTypeDef
    from pydantic import JsonValue

    from local.plan import Object

_MAXIMUM_EVENT = 5_900_000  # of Lambda's 6 MB, with space for the envelope
_SURELY_SMALL = 500_000  # by the table's size of items; their JSON is less than ten times as large


def event_record(record: RecordTypeDef, stream_arn: str) -> Object:
    """Return one record: binary values as base64, the time as seconds."""
    changed = cast("Mapping[str, object]", record.get("dynamodb", {}))
    event: Object = {
        "eventID": record.get("eventID", ""),
        "eventName": record.get("eventName", ""),
        "eventVersion": record.get("eventVersion", "1.1"),
        "eventSource": "aws:dynamodb",
        "awsRegion": arns.REGION,
        "dynamodb": {name: _plain(value) for name, value in changed.items()},
        "eventSourceARN": stream_arn,
    }
    if "userIdentity" in record:
        identity = record["userIdentity"]
        event["userIdentity"] = {
            "type": identity.get("Type", ""),
            "principalId": identity.get("PrincipalId", ""),
        }
    return event


def sequence_of(record: Object) -> str:
    """Return the sequence number of an event record."""
    changed = record["dynamodb"]
    return str(changed["SequenceNumber"]) if isinstance(changed, dict) else ""


def created_at(record: Object) -> float:
    """Return when the change was made, in seconds since 1970."""
    changed = record["dynamodb"]
    when = changed.get("ApproximateCreationDateTime") if isinstance(changed, dict) else None
    return float(when) if isinstance(when, int | float) else datetime.now(UTC).timestamp()


def cut(records: list[Object]) -> Iterator[list[Object]]:
    """Yield the records in order, in parts that fit one event."""
    changes = (cast("Object", record["dynamodb"]) for record in records)
    if sum(cast("int", change.get("SizeBytes", 0)) for change in changes) < _SURELY_SMALL:
        yield records
        return
    part: list[Object] = []
    size = 0
    for record in records:
        length = len(json.dumps(record, ensure_ascii=False).encode("utf-8", "surrogatepass")) + 2
        if part and size + length > _MAXIMUM_EVENT:
            yield part
            part, size = [], 0
        part.append(record)
        size += length
    if part:
        yield part


def _plain(value: object) -> JsonValue:
    match value:
        case bytes():
            return base64.b64encode(value).decode()
        case datetime():
            return value.timestamp()
        case dict():
            entries = cast("dict[str, object]", value)
            return {name: _plain(entry) for name, entry in entries.items()}
        case list():
            return [_plain(entry) for entry in cast("list[object]", value)]
        case _:
            return cast("JsonValue", value)
