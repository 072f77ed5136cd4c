"""Counts the cost of requests by AWS's rules: requests by kind, read and write units of DynamoDB.

DynamoDB Local and moto report no units, or not AWS's. This meter listens to boto3 clients, reads
the items of a request before and after it by a client of its own, and computes units from their
sizes. Several threads may read at the same time; a write of one thread between the two reads of
another would be charged to both. A cancelled transaction and a refused write are charged like
successful ones.

Sources: DynamoDB Developer Guide, "DynamoDB item sizes and formats", "DynamoDB read and write
operations", "Using global secondary indexes" (write capacity considerations). Where these are
silent (indexes in transactions, the larger image of an entry) the figures are those that the
project paritysuite/dynamodb-conformance (issues 124 and 149) measured against AWS.
"""

from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cache
from math import ceil
from threading import Lock
from typing import TYPE_CHECKING, Any

import boto3

from backend.aws.items import item_size

if TYPE_CHECKING:
    from botocore.client import BaseClient
    from mypy_boto3_dynamodb import DynamoDBClient

Wire = dict[str, Any]
_READ_BYTES, _WRITE_BYTES = 4096, 1024
_TRANSACTIONAL = 2
# Functions send requests in several threads.
_COUNTING = Lock()
"""Protects the counters."""
_WRITES = {"PutItem": "Put", "UpdateItem": "Update", "DeleteItem": "Delete"}


@dataclass(frozen=True)
class Change:
    """The change of an item by a write; an image is absent if there is no item."""

    table: str
    key: Wire
    old: Wire | None
    new: Wire | None


@dataclass
class Usage:
    """The requests while the meter ran."""

    requests: Counter[str] = field(default_factory=Counter[str])
    """Requests by service and operation: `dynamodb.GetItem`."""
    read_units: float = 0.0
    write_units: int = 0
    writes: Counter[str] = field(default_factory=Counter[str])
    """Write units by table, and by `table/index`."""
    changes: list[Change] = field(default_factory=list[Change])
    sent: list[tuple[str, Wire]] = field(default_factory=list[tuple[str, Wire]])
    """Operations of the other services with their parameters, in order."""

    def of(self, service: str) -> dict[str, int]:
        """The requests to one service, by operation, sorted."""
        requests = {
            name.partition(".")[2]: count
            for name, count in self.requests.items()
            if name.startswith(f"{service}.")
        }
        return dict(sorted(requests.items()))


@dataclass(frozen=True)
class _Index:
    name: str
    keys: tuple[str, ...]
    projected: frozenset[str] | None
    """The attributes of an entry; None for all."""

    def entry(self, item: Wire | None) -> Wire | None:
        """The part of an item that the index stores."""
        if item is None or any(name not in item for name in self.keys):
            return None
        if self.projected is None:
            return item
        return {name: value for name, value in item.items() if name in self.projected}


@dataclass(frozen=True)
class _Layout:
    keys: tuple[str, ...]
    indexes: tuple[_Index, ...]


@contextmanager
def metered(*clients: "BaseClient") -> Generator[Usage]:
    """Charge all requests of the clients while the block runs."""
    usage = Usage()
    listeners = [_Listener(usage, client) for client in clients]
    for listener in listeners:
        listener.listen()
    try:
        yield usage
    finally:
        for listener in listeners:
            listener.stop()


def read_units(size: int, *, consistent: bool) -> float:
    """The units of a read of so many bytes."""
    units = max(1, ceil(size / _READ_BYTES))
    return float(units) if consistent else units / 2


def write_units(old: Wire | None, new: Wire | None) -> int:
    """The units of a write to a table, outside of transactions: the larger image counts."""
    size = max(0 if image is None else item_size(image) for image in (old, new))
    return max(1, ceil(size / _WRITE_BYTES))


@dataclass
class _Listener:
    usage: Usage
    client: Any

    def __post_init__(self) -> None:
        self._service: str = self.client.meta.service_model.service_name
        meta = self.client.meta
        self._meter = (
            _Dynamo(self.usage, _other(meta.endpoint_url, meta.region_name))
            if self._is_dynamodb
            else None
        )

    @property
    def _is_dynamodb(self) -> bool:
        return self._service == "dynamodb"

    def listen(self) -> None:
        events = self.client.meta.events
        events.register(f"before-parameter-build.{self._service}", self._before)
        events.register(f"after-call.{self._service}", self._after)

    def stop(self) -> None:
        events = self.client.meta.events
        events.unregister(f"before-parameter-build.{self._service}", self._before)
        events.unregister(f"after-call.{self._service}", self._after)

    def _before(
        self, params: Wire, model: Any, context: dict[str, Any] | None = None, **_: object
    ) -> None:
        if context is None or context.get("is_presign_request"):
            return  # a presigned URL needs no request
        request = deepcopy(params) if self._is_dynamodb else dict(params)
        before = self._meter.images(model.name, request) if self._meter is not None else []
        context["metered"] = (request, before)

    def _after(self, model: Any, context: dict[str, Any], **_: object) -> None:
        request, before = context.pop("metered")
        with _COUNTING:
            self.usage.requests[f"{self._service}.{model.name}"] += 1
            if self._meter is not None:
                self._meter.charge(model.name, request, before)
            else:
                self.usage.sent.append((f"{self._service}.{model.name}", request))


@cache
def _other(endpoint: str, region: str) -> "DynamoDBClient":
    """Return a client to the same engine that is not metered; creating one takes long."""
    return boto3.client("dynamodb", endpoint_url=endpoint, region_name=region)


Target = tuple[str, Wire]
"""A table's name and a key in it."""


@dataclass
class _Dynamo:
    usage: Usage
    client: "DynamoDBClient"
    _layouts: dict[str, _Layout] = field(default_factory=dict[str, _Layout])

    def images(self, operation: str, request: Wire) -> list[Wire | None]:
        """The items that a write is about to change."""
        return [self._item(*target) for target in self._written(operation, request)]

    def charge(self, operation: str, request: Wire, before: Sequence[Wire | None]) -> None:
        if operation in ("Query", "Scan"):
            self._charge_list(operation, request)
        for table, keys, consistent, factor in _read_keys(operation, request):
            self._charge_items(table, keys, consistent=consistent, factor=factor)
        factor = _TRANSACTIONAL if operation == "TransactWriteItems" else 1
        for (table, key), old in zip(self._written(operation, request), before, strict=True):
            self._charge_write(table, key, old, factor)

    def _charge_items(
        self, table: str, keys: Sequence[Wire], *, consistent: bool, factor: int
    ) -> None:
        """Each item is rounded up by itself; an absent one costs the minimum."""
        wanted: Any = {table: {"Keys": keys, "ConsistentRead": True}}
        items = self.client.batch_get_item(RequestItems=wanted)["Responses"][table]
        sizes = [item_size(dict(item)) for item in items]
        sizes += [0] * (len(keys) - len(sizes))
        units = sum(read_units(size, consistent=consistent) for size in sizes)
        self.usage.read_units += units * factor

    def _charge_list(self, operation: str, request: Wire) -> None:
        """Queries and scans are charged for everything they read, including filtered items."""
        left_out = {"ProjectionExpression", "FilterExpression", "Select"}
        whole: Any = {name: value for name, value in request.items() if name not in left_out}
        names = whole.get("ExpressionAttributeNames")
        if names is not None:
            used = " ".join(v for k, v in whole.items() if k.endswith("Expression"))
            whole["ExpressionAttributeNames"] = {k: v for k, v in names.items() if k in used}
        reply = self.client.query(**whole) if operation == "Query" else self.client.scan(**whole)
        size = sum(item_size(dict(item)) for item in reply["Items"])
        self.usage.read_units += read_units(size, consistent=bool(request.get("ConsistentRead")))

    def _charge_write(self, table: str, key: Wire, old: Wire | None, factor: int) -> None:
        new = self._item(table, key)
        self._add(table, write_units(old, new) * factor)
        for index in self._layout(table).indexes:
            units = _entry_units(index, index.entry(old), index.entry(new))
            if units:
                self._add(f"{table}/{index.name}", units)
        if old != new:
            self.usage.changes.append(Change(table, key, old, new))

    def _add(self, place: str, units: int) -> None:
        self.usage.write_units += units
        self.usage.writes[place] += units

    def _written(self, operation: str, request: Wire) -> Iterator[Target]:
        if operation in _WRITES:
            yield self._target(_WRITES[operation], request)
        elif operation == "TransactWriteItems":
            for write in request["TransactItems"]:
                for kind, body in write.items():
                    yield self._target(kind, body)
        elif operation == "BatchWriteItem":
            for table, requests in request["RequestItems"].items():
                for write in requests:
                    for kind, body in write.items():
                        yield self._target(
                            kind.removesuffix("Request"), {"TableName": table, **body}
                        )

    def _target(self, kind: str, request: Wire) -> Target:
        table: str = request["TableName"]
        if kind != "Put":
            return table, request["Key"]
        return table, {name: request["Item"][name] for name in self._layout(table).keys}

    def _item(self, table: str, key: Wire) -> Wire | None:
        reply = self.client.get_item(TableName=table, Key=key, ConsistentRead=True)
        item = reply.get("Item")
        return None if item is None else dict(item)

    def _layout(self, table: str) -> _Layout:
        if table not in self._layouts:
            self._layouts[table] = _layout_of(self.client.describe_table(TableName=table)["Table"])
        return self._layouts[table]


def _entry_units(index: _Index, old: Wire | None, new: Wire | None) -> int:
    """The units of the update of an index, in transactions the same as elsewhere."""
    if old == new:
        return 0
    if old is None or new is None or all(old[name] == new[name] for name in index.keys):
        return write_units(old, new)
    return write_units(old, None) + write_units(None, new)  # the entry moves to another key


def _read_keys(operation: str, request: Wire) -> Iterator[tuple[str, list[Wire], bool, int]]:
    """The items that a request reads by key: table, keys, whether consistently, and the factor."""
    if operation == "GetItem":
        yield request["TableName"], [request["Key"]], bool(request.get("ConsistentRead")), 1
    elif operation == "BatchGetItem":
        for table, read in request["RequestItems"].items():
            yield table, read["Keys"], bool(read.get("ConsistentRead")), 1
    elif operation == "TransactGetItems":
        for read in request["TransactItems"]:
            yield read["Get"]["TableName"], [read["Get"]["Key"]], True, _TRANSACTIONAL


def _layout_of(description: Mapping[str, Any]) -> _Layout:
    keys = _names(description["KeySchema"])
    indexes: list[_Index] = []
    for kind in ("GlobalSecondaryIndexes", "LocalSecondaryIndexes"):
        for index in description.get(kind) or ():
            own = _names(index["KeySchema"])
            projection = index["Projection"]
            projected = {*keys, *own, *projection.get("NonKeyAttributes", ())}
            is_whole = projection["ProjectionType"] == "ALL"
            indexes.append(
                _Index(index["IndexName"], own, None if is_whole else frozenset(projected))
            )
    return _Layout(keys, tuple(indexes))


def _names(schema: Sequence[Mapping[str, str]]) -> tuple[str, ...]:
    return tuple(part["AttributeName"] for part in schema)
