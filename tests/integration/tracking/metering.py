"""Counts the requests of a client and the units that they consume."""

from typing import Any, cast

_MEASURED = ("GetItem", "BatchGetItem", "Query", "PutItem", "UpdateItem", "DeleteItem",
             "BatchWriteItem", "TransactWriteItems")  # fmt: skip
_WRITES = frozenset(_MEASURED[3:])


class Meter:
    """Measures what happens inside its block."""

    def __init__(self, client: Any) -> None:
        self._events = client.meta.events
        self.requests = 0
        self.write_units = 0.0
        self.read_units = 0.0
        self.operations: list[str] = []

    def __enter__(self) -> "Meter":
        for name in _MEASURED:
            self._events.register(f"provide-client-params.dynamodb.{name}", self._ask)
            self._events.register(f"after-call.dynamodb.{name}", self._count)
        return self

    def __exit__(self, *_: object) -> None:
        for name in _MEASURED:
            self._events.unregister(f"provide-client-params.dynamodb.{name}", self._ask)
            self._events.unregister(f"after-call.dynamodb.{name}", self._count)

    def _ask(self, params: dict[str, Any], **_: Any) -> dict[str, Any]:
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
