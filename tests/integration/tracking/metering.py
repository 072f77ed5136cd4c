"""Counts the requests of a client and the units that they consume."""

from typing import Any, cast

_MEASURED = ("GetItem", "BatchGetItem", "Query", "PutItem", "UpdateItem", "DeleteItem",
             "BatchWriteItem", "TransactWriteItems")  # fmt: skip
_WRITES = frozenset(_MEASURED[3:])


class Meter:
    """Measures the requests in its block."""

    def __init__(self, client: Any) -> None:
        self._events = client.meta.events
        self.requests = 0
        self.write_units = 0.0
        self.read_units = 0.0
        self.operations: list[str] = []

    def __enter__(self) -> "Meter":
        for name in _MEASURED:
            self._events.register(f"provide-client-params.dynamodb.{name}", self._request_capacity)
            self._events.register(f"after-call.dynamodb.{name}", self._count)
        return self

    def __exit__(self, *_: object) -> None:
        for name in _MEASURED:
            self._events.unregister(
                f"provide-client-params.dynamodb.{name}", self._request_capacity
            )
            self._events.unregister(f"after-call.dynamodb.{name}", self._count)

    def _request_capacity(self, params: dict[str, Any], **_: Any) -> dict[str, Any]:
        return {**params, "ReturnConsumedCapacity": "TOTAL"}

    def _count(self, model: Any, parsed: dict[str, Any], **_: Any) -> None:
        self.requests += 1
        self.operations.append(model.name)
        consumed: Any = parsed.get("ConsumedCapacity") or []
        parts = cast("list[dict[str, Any]]", consumed if isinstance(consumed, list) else [consumed])
        units = sum(float(part["CapacityUnits"]) for part in parts)
        if model.name in _WRITES:
            self.write_units += units
        else:
            self.read_units += units


class Recorder:
    """Records the keys, ranges and indexes that the requests in its block use."""

    def __init__(self, client: Any) -> None:
        self._events = client.meta.events
        self.indexes: set[str] = set()
        self.keys: list[tuple[str, str]] = []
        self.ranges: list[tuple[str, str]] = []  # of the table: partition, start

    def __enter__(self) -> "Recorder":
        for name in _MEASURED:
            self._events.register(f"provide-client-params.dynamodb.{name}", self._note)
        return self

    def __exit__(self, *_: object) -> None:
        for name in _MEASURED:
            self._events.unregister(f"provide-client-params.dynamodb.{name}", self._note)

    def _note(self, params: dict[str, Any], **_: Any) -> None:
        if "KeyConditionExpression" in params:
            values = [next(iter(value.values())) for value in _values(params)]
            if "IndexName" in params:
                self.indexes.add(params["IndexName"])
            else:
                self.ranges.append((values[0], values[1] if len(values) > 1 else ""))
        self.keys += _keys_in(params)


def _values(params: dict[str, Any]) -> list[dict[str, Any]]:
    return list(params["ExpressionAttributeValues"].values())


def _keys_in(value: Any) -> list[tuple[str, str]]:
    """Every primary key inside the parameters of a request."""
    if isinstance(value, list):
        return [key for item in cast("list[Any]", value) for key in _keys_in(item)]
    if not isinstance(value, dict):
        return []
    members = cast("dict[str, Any]", value)
    if "PK" in members and "SK" in members:
        return [(members["PK"]["S"], members["SK"]["S"])]
    return [key for member in members.values() for key in _keys_in(member)]
