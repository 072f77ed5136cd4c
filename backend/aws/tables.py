"""DynamoDB behind the port `core.tables.Tables`."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, cast

from botocore.exceptions import ClientError

from backend.aws.errors import code_of, invalid_item, translated, translated_write
from backend.aws.expressions import Expression
from backend.aws.items import Wire, check_item, check_key, from_wire, to_wire
from backend.aws.settings import Settings
from backend.aws.write_ids import has_id, with_id
from backend.core.errors import ConflictError, UnavailableError
from backend.core.ids import new_write_id
from backend.core.paging import Page, PageRequest
from backend.core.parallel import in_parallel
from backend.core.tables import Query
from backend.core.transactions import (
    MAX_TRANSACTION_ITEMS,
    Check,
    Delete,
    Item,
    Key,
    Put,
    Update,
    Write,
)
from backend.spec.tables.model import Table

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

T = TypeVar("T")
_GET_BATCH, _WRITE_BATCH = 100, 25  # DynamoDB's limits
_MAX_PAGE = 1000  # items of a request at most; DynamoDB ends a page after 1 MB
# Cancellation reasons of a DynamoDB transaction that may succeed when it is retried.
_BUSY_CODES = frozenset({"TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"})


class _BusyError(Exception):
    """Another transaction holds an item, or a batch is incomplete: try again."""


@dataclass(eq=False, repr=False)
class DynamoTables:
    """The tables of a deployment (see the port for what each method promises)."""

    client: "DynamoDBClient"
    settings: Settings

    def get(self, table: Table, key: Key, *, consistent: bool = True) -> Item | None:
        wire = self._key(table, key)
        with translated("DynamoDB"):
            reply = self.client.get_item(
                TableName=self.settings.table(table), Key=wire, ConsistentRead=consistent
            )
        item = reply.get("Item")
        return None if item is None else from_wire(item)

    def get_many(
        self, wanted: Sequence[tuple[Table, Key]], *, consistent: bool = True
    ) -> list[tuple[Table, Item]]:
        tables = {self.settings.table(table): table for table, _ in wanted}
        # DynamoDB refuses a batch that names an item twice.
        unique = {
            (table.name, *key.values()): (self.settings.table(table), self._key(table, key))
            for table, key in wanted
        }
        out: list[tuple[Table, Item]] = []
        for batch in _chunks(list(unique.values()), _GET_BATCH):
            request: dict[str, Any] = {}
            for name, wire in batch:
                entry = request.setdefault(name, {"Keys": [], "ConsistentRead": consistent})
                entry["Keys"].append(wire)
            for name, item in self._batch_get(request):
                out.append((tables[name], from_wire(item)))
        return out

    def query(self, query: Query, page: PageRequest) -> Page[Item]:
        parameters = self._query_parameters(query)
        parameters["Limit"] = min(page.limit, _MAX_PAGE)
        if page.after is not None:
            parameters["ExclusiveStartKey"] = to_wire(page.after)
        with translated("DynamoDB"):
            reply = self.client.query(**parameters)
        return _page(cast("Mapping[str, Any]", reply))

    def query_all(self, query: Query) -> list[Item]:
        items: list[Item] = []
        page = self.query(query, PageRequest(_MAX_PAGE))
        items.extend(page.items)
        while page.after is not None:
            page = self.query(query, PageRequest(_MAX_PAGE, page.after))
            items.extend(page.items)
        return items

    def scan(self, table: Table, page: PageRequest, *, consistent: bool = True) -> Page[Item]:
        parameters: dict[str, Any] = {
            "TableName": self.settings.table(table),
            "Limit": min(page.limit, _MAX_PAGE),
            "ConsistentRead": consistent,
        }
        if page.after is not None:
            parameters["ExclusiveStartKey"] = to_wire(page.after)
        with translated("DynamoDB"):
            reply = self.client.scan(**parameters)
        return _page(cast("Mapping[str, Any]", reply))

    def write(self, write: Write) -> Item | None:
        if isinstance(write, Check):
            raise TypeError("a check can only be part of a transaction")
        if isinstance(write, Delete) and write.conditions:
            # Sent again it would find no item with its id. A transaction costs twice as much, and
            # DynamoDB recognises it by the token that botocore sends with it.
            self.transact([write])
            return None
        write_id = new_write_id()
        kind, request = self._request(with_id(write, write_id))
        if "ConditionExpression" in request:
            # The refused item shows whether this write was carried out by an earlier attempt
            # (decision 39).
            request["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
        try:
            return _retry_while_busy(lambda: self._write(kind, request))
        except ClientError as error:
            if code_of(error) != "ConditionalCheckFailedException":
                raise
            stored = cast("Wire", error.response.get("Item", {}))
            if not has_id(stored, write_id):
                raise _refusal(write) from error
            return from_wire(stored) if kind == "Update" else None

    def increment(self, table: Table, key: Key, attribute: str, *, initial: int) -> Item:
        expression = Expression()
        name = expression.name(attribute)
        start = expression.value(attribute, initial)
        increment = expression.value(attribute, 1)
        request = {
            "TableName": self.settings.table(table),
            "Key": self._key(table, key),
            "UpdateExpression": f"SET {name} = if_not_exists({name}, {start}) + {increment}",
            **expression.parameters(),
        }
        return _retry_while_busy(lambda: self._write("Update", request)) or {}

    def transact(self, writes: Sequence[Write]) -> None:
        if len(writes) > MAX_TRANSACTION_ITEMS:
            raise ValueError(
                f"{len(writes)} writes; a transaction can have {MAX_TRANSACTION_ITEMS}"
            )
        requests = [{kind: request} for kind, request in map(self._request, writes)]
        _retry_while_busy(lambda: self._transact(requests, writes))

    def put_many(self, table: Table, items: Sequence[Item]) -> None:
        wires = [to_wire(item) for item in items]
        for wire in wires:
            check_item(table, wire)
        self._batch_write(table, [{"PutRequest": {"Item": wire}} for wire in wires])

    def delete_many(self, table: Table, keys: Sequence[Key]) -> None:
        wires = [self._key(table, key) for key in keys]
        self._batch_write(table, [{"DeleteRequest": {"Key": wire}} for wire in wires])

    def _key(self, table: Table, key: Key) -> Wire:
        if set(key) != set(table.key_names):
            raise ValueError(f"the key of {table.name} is {table.key_names}, not {tuple(key)}")
        wire = to_wire(key)
        check_key(table, wire)
        return wire

    def _query_parameters(self, query: Query) -> dict[str, Any]:
        expression = Expression()
        keys = query.index or query.table
        partition_key = keys.partition_key or query.table.partition_key
        name = expression.name(partition_key.name)
        clauses = [f"{name} = {expression.value(partition_key.name, query.partition)}"]
        if keys.sort_key is not None:
            clauses += _sort_clauses(expression, keys.sort_key.name, query)
        parameters: dict[str, Any] = {
            "TableName": self.settings.table(query.table),
            "KeyConditionExpression": " AND ".join(clauses),
            "ScanIndexForward": not query.newest_first,
            "ConsistentRead": query.consistent,
        }
        if query.attributes:
            parameters["ProjectionExpression"] = ", ".join(
                expression.name(attribute) for attribute in query.attributes
            )
        if query.index is not None:
            parameters["IndexName"] = query.index.name
        return parameters | expression.parameters()

    def _request(self, write: Write) -> tuple[str, dict[str, Any]]:
        """Return the kind of a write and its request, as the API of transactions names them."""
        expression = Expression()
        request: dict[str, Any] = {"TableName": self.settings.table(write.table)}
        if isinstance(write, Put):
            wire = to_wire(write.item)
            check_item(write.table, wire)
            request["Item"] = wire
        else:
            request["Key"] = self._key(write.table, write.key)
        if isinstance(write, Update):
            request["UpdateExpression"] = expression.update(write)
            # A part of the item only, but what is too large by itself is refused with its reason.
            check_item(write.table, to_wire(write.set) | request["Key"])
        if write.conditions:
            request["ConditionExpression"] = expression.condition(write.conditions)
        kind = {Put: "Put", Update: "Update", Delete: "Delete", Check: "ConditionCheck"}
        return kind[type(write)], request | expression.parameters()

    def _write(self, kind: str, request: dict[str, Any]) -> Item | None:
        """Carry out one write; an update returns the item."""
        try:
            with translated_write():
                if kind == "Update":
                    reply = self.client.update_item(**request, ReturnValues="ALL_NEW")
                    return from_wire(reply.get("Attributes", {}))
                if kind == "Put":
                    self.client.put_item(**request)
                else:
                    self.client.delete_item(**request)
        except ClientError as error:
            # A single write, too, is refused while a transaction holds its item; the SDK does not
            # retry it.
            if code_of(error) == "TransactionConflictException":
                raise _BusyError from error
            raise
        return None

    def _transact(self, requests: list[dict[str, Any]], writes: Sequence[Write]) -> None:
        try:
            with translated_write():
                self.client.transact_write_items(TransactItems=cast("Any", requests))
        except ClientError as error:
            if code_of(error) != "TransactionCanceledException":
                raise
            reasons = cast("list[dict[str, Any]]", error.response.get("CancellationReasons", []))
            codes = [reason.get("Code") for reason in reasons]
            # The reasons are in the order of the writes; a refusal comes before a conflict, which
            # may be its consequence.
            for reason, write in zip(reasons, writes, strict=False):
                if reason.get("Code") == "ConditionalCheckFailed":
                    raise _refusal(write) from error
                is_invalid = reason.get("Code") == "ValidationError"
                if is_invalid and (invalid := invalid_item(reason.get("Message", ""))) is not None:
                    raise invalid from error
            if not _BUSY_CODES.isdisjoint(codes):
                raise _BusyError from error
            raise

    def _batch_get(self, request: dict[str, Any]) -> list[tuple[str, Wire]]:
        rows: list[tuple[str, Wire]] = []
        pending = request

        def get_pending() -> None:
            nonlocal pending
            with translated("DynamoDB"):
                reply = self.client.batch_get_item(RequestItems=pending)
            for name, items in reply["Responses"].items():
                rows.extend((name, cast("Wire", item)) for item in items)
            pending = cast("dict[str, Any]", reply.get("UnprocessedKeys") or {})
            _stop_if_done(pending)

        _retry_while_busy(get_pending)
        return rows

    def _batch_write(self, table: Table, requests: list[dict[str, Any]]) -> None:
        def write(batch: list[dict[str, Any]]) -> None:
            pending: Any = {self.settings.table(table): batch}

            def write_pending() -> None:
                nonlocal pending
                with translated_write():
                    reply = self.client.batch_write_item(RequestItems=pending)
                pending = reply.get("UnprocessedItems")
                _stop_if_done(pending)

            _retry_while_busy(write_pending)

        # Batches are independent; an outage ends all of them, and the caller repeats the whole.
        in_parallel(write, list(_chunks(requests, _WRITE_BATCH)))


def _sort_clauses(expression: Expression, name: str, query: Query) -> Iterator[str]:
    """Return the condition on the sort key, if the query has one."""
    if query.sort_prefix:
        prefix = expression.value(name, query.sort_prefix)
        yield f"begins_with({expression.name(name)}, {prefix})"
    if query.sort_equals is not None:
        yield f"{expression.name(name)} = {expression.value(name, query.sort_equals)}"
    if query.sort_between is not None:
        low, high = (expression.value(name, value) for value in query.sort_between)
        yield f"{expression.name(name)} BETWEEN {low} AND {high}"


def _stop_if_done(pending: object) -> None:
    if pending:
        raise _BusyError


def _retry_while_busy(step: Callable[[], T]) -> T:
    """Repeat a step while DynamoDB is busy, with jitter, for at most some seconds."""
    try:
        return step()
    except _BusyError:
        return _retry_with_pauses(step)


def _retry_with_pauses(step: Callable[[], T]) -> T:
    # Imported here because few functions ever wait, and it would delay the start of all.
    from tenacity import (  # noqa: PLC0415
        Retrying,
        retry_if_exception_type,
        stop_after_attempt,
        wait_random_exponential,
    )

    waiting = Retrying(
        retry=retry_if_exception_type(_BusyError),
        wait=wait_random_exponential(multiplier=0.02, max=1),
        # At most some five seconds, with pauses of up to one.
        stop=stop_after_attempt(11),
        reraise=True,
    )
    try:
        return waiting(step)
    except _BusyError as error:
        raise UnavailableError("DynamoDB is busy with the same items") from error


def _refusal(write: Write) -> Exception:
    return write.refused or ConflictError(f"a condition on {write.table.name} does not hold")


def _page(reply: Mapping[str, Any]) -> Page[Item]:
    last = reply.get("LastEvaluatedKey")
    items = tuple(from_wire(item) for item in reply["Items"])
    return Page(items, None if last is None else from_wire(last))


def _chunks(values: list[T], size: int) -> Iterator[list[T]]:
    for start in range(0, len(values), size):
        yield values[start : start + size]
