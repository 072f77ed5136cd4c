"""One DynamoDB table: reads, queries and transactions, with failures as MLflow reports them."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from vitrine_mlflow import keys
from vitrine_mlflow.encoding import PARTITION_KEY_BYTES, SORT_KEY_BYTES
from vitrine_mlflow.errors import ConflictError, invalid, missing_error, translate_errors
from vitrine_mlflow.expressions import (
    Delete,
    Item,
    Placeholders,
    Put,
    Write,
    deserialize_item,
    key_attributes,
    key_of,
    serialize_item,
    write_parameters,
)
from vitrine_mlflow.keys import Key
from vitrine_mlflow.table import INFO, PARTITION_KEY, SORT_KEY, Index

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


Result = TypeVar("Result")

# DynamoDB's limits for one request.
TRANSACTION_WRITES = 100
_BATCH_READS = 100
_BATCH_WRITES = 25
_PAGE_ITEMS = 10_000  # a page of 1 MB has fewer; DynamoDB refuses limits over 31 bits
# Of a write that conflicts with others of the same items: each attempt reads them again.
_ATTEMPTS = 8
_METHODS = {"Put": "put_item", "Update": "update_item", "Delete": "delete_item"}


@dataclass(frozen=True)
class Range:
    """Sort keys from `low` to `high`, both included. DynamoDB orders them by their bytes."""

    low: str
    high: str

    @classmethod
    def of_prefix(cls, prefix: str) -> "Range":
        # The highest code point, also in UTF-8.
        return cls(prefix, prefix + "\U0010ffff")


class Database:
    """Requests to the table. Reads of the table itself are consistent, those of GSIs cannot be."""

    def __init__(
        self,
        client: "DynamoDBClient",
        table: str,
        region: str = "",
        sleep: Callable[[float], None] = lambda _: None,
    ) -> None:
        self._client: Any = client
        self._table = table
        self._region = region
        self._sleep = sleep

    def owns(self, experiment_id: str) -> bool:  # noqa: ARG002
        """Whether an experiment belongs to the workspace of the request.

        Without workspaces there is only one, so nothing is read.
        """
        return True

    def get(self, key: Key) -> Item | None:
        _require_fitting(key)
        with self._translate_errors("GetItem", key.pk):
            reply = self._client.get_item(
                TableName=self._table, Key=key_attributes(key), ConsistentRead=True
            )
        item: dict[str, Any] | None = reply.get("Item")
        return None if item is None else deserialize_item(item)

    def get_many(self, keys: Iterable[Key]) -> dict[Key, Item]:
        """The items that exist, by key; 100 a request."""
        items: dict[Key, Item] = {}
        # A batch with a key twice is refused.
        wanted = dict.fromkeys(keys)
        for key in wanted:
            _require_fitting(key)
        pending = [key_attributes(key) for key in wanted]
        while pending:
            batch, pending = pending[:_BATCH_READS], pending[_BATCH_READS:]
            with self._translate_errors("BatchGetItem"):
                reply = self._client.batch_get_item(
                    RequestItems={self._table: {"Keys": batch, "ConsistentRead": True}}
                )
            for raw in reply["Responses"].get(self._table, []):
                item = deserialize_item(raw)
                items[key_of(item)] = item
            left: dict[str, Any] = reply.get("UnprocessedKeys") or {}
            # What DynamoDB left out, because of its size or of throttling.
            pending += left.get(self._table, {}).get("Keys", [])
        return items

    def query(
        self,
        pk: str,
        keys: Range | None = None,
        *,
        index: Index | None = None,
        backward: bool = False,
        limit: int | None = None,
    ) -> Iterator[Item]:
        """Items of a partition in the order of their sort keys; a page is read when needed.

        The first page has at most `limit` items, each further one twice as many, up to 10,000.
        """
        parameters = self._query_parameters(pk, keys, index)
        parameters["ScanIndexForward"] = not backward
        if limit is not None:
            parameters["Limit"] = limit
        while True:
            with self._translate_errors("Query", pk):
                reply = self._client.query(**parameters)
            for raw in reply["Items"]:
                yield deserialize_item(raw)
            if "LastEvaluatedKey" not in reply:
                return
            parameters["ExclusiveStartKey"] = reply["LastEvaluatedKey"]
            if "Limit" in parameters:
                # A reader that continues needs many: requests grow with the logarithm of the items.
                parameters["Limit"] = min(2 * parameters["Limit"], _PAGE_ITEMS)

    def query_prefix(self, pk: str, prefix: str, **options: Any) -> Iterator[Item]:
        return self.query(pk, Range.of_prefix(prefix), **options)

    def _query_parameters(self, pk: str, keys: Range | None, index: Index | None) -> dict[str, Any]:
        pk_name, sk_name = index.attribute_names if index else (PARTITION_KEY, SORT_KEY)
        placeholders = Placeholders()
        condition = f"{placeholders.name(pk_name)} = {placeholders.value(pk)}"
        if keys is not None:
            low, high = placeholders.value(keys.low), placeholders.value(keys.high)
            condition += f" AND {placeholders.name(sk_name)} BETWEEN {low} AND {high}"
        parameters = {
            "TableName": self._table,
            "KeyConditionExpression": condition,
            **placeholders.parameters(),
        }
        if index is not None:
            parameters["IndexName"] = index.name
        if index is None or index.pk == PARTITION_KEY:
            parameters["ConsistentRead"] = True  # a local index allows it
        return parameters

    def write(self, writes: Sequence[Write]) -> None:
        """Apply all writes or none.

        Raises:
            ConflictError: a condition did not hold.
        """
        for write in writes:
            _require_fitting(written_key(write))
        if len(writes) > TRANSACTION_WRITES:
            raise ValueError(f"{len(writes)} writes do not fit into one transaction")
        if not writes:
            return
        kind, parameters = write_parameters(writes[0])
        partition = written_key(writes[0]).pk
        # Half the price of a transaction of one item.
        if len(writes) == 1 and kind in _METHODS:
            with self._translate_errors(f"{kind}Item", partition):
                getattr(self._client, _METHODS[kind])(TableName=self._table, **parameters)
            return
        self._transact(writes, partition)

    def _transact(self, writes: Sequence[Write], partition: str) -> None:
        requests: list[dict[str, Any]] = []
        for write in writes:
            kind, parameters = write_parameters(write)
            requests.append({kind: {"TableName": self._table, **parameters}})
        with self._translate_errors("TransactWriteItems", partition):
            self._client.transact_write_items(TransactItems=requests)

    def retry(self, attempt: Callable[[], Result]) -> Result:
        """Repeat a read and conditional write until no other writer comes between them.

        Raises:
            ConflictError: others came between in every attempt.
        """
        # The last attempt is outside, so that its error is raised.
        for number in range(_ATTEMPTS - 1):
            try:
                return attempt()
            except ConflictError:
                self._sleep(number)
        return attempt()

    def write_in_batches(self, writes: Iterable[Put | Delete]) -> None:
        """Apply unconditional writes, 25 a request, each for itself."""
        pending = [_batch_request(write) for write in writes]
        while pending:
            batch, pending = pending[:_BATCH_WRITES], pending[_BATCH_WRITES:]
            with self._translate_errors("BatchWriteItem"):
                reply = self._client.batch_write_item(RequestItems={self._table: batch})
            left: dict[str, Any] = reply.get("UnprocessedItems") or {}
            pending += left.get(self._table, [])

    def _translate_errors(self, operation: str, partition: str = "") -> Any:
        return translate_errors(self._table, self._region, operation, partition)


def _batch_request(write: Put | Delete) -> dict[str, Any]:
    _require_fitting(written_key(write))
    if isinstance(write, Put):
        return {"PutRequest": {"Item": serialize_item(write.item)}}
    return {"DeleteRequest": {"Key": key_attributes(write.key)}}


def written_key(write: Write) -> Key:
    """The key of the item that a write changes or checks."""
    return key_of(write.item) if isinstance(write, Put) else write.key


def _require_fitting(key: Key) -> None:
    for text, limit in ((key.pk, PARTITION_KEY_BYTES), (key.sk, SORT_KEY_BYTES)):
        if len(text.encode()) > limit:
            raise invalid(
                f"The name '{text[:100]}…' is too long: its key in DynamoDB has "
                f"{len(text.encode())} bytes, more than {limit}."
            )


# An experiment moves to another workspace only when its own is deleted; others may use it in the
# former one for this time (decision 65).
_RECENT_SECONDS = 5
# Bounds the memory of a server.
_MOST_RECENT = 10_000
_METADATA = keys.EXPERIMENT.sk.text


class OwnedDatabase(Database):
    """Reads and writes that leave out partitions of other workspaces.

    A partition belongs to the workspace of its experiment, or of its evaluation dataset. Other
    partitions have the workspace in their key. One whose experiment does not exist is being
    created or removed: it belongs to no one yet, or no longer.
    """

    def __init__(self, whole: Database, active: Callable[[], str]) -> None:
        self._whole = whole
        self._active = active
        # An experiment changes its workspace only when the former workspace is deleted.
        self._recent: dict[str, tuple[float, str]] = {}

    def owns(self, experiment_id: str) -> bool:
        return self._workspace_of(experiment_id) == self._active()

    def get(self, key: Key) -> Item | None:
        if key.sk != _METADATA and not self._is_open(key.pk):
            return None
        item = self._whole.get(key)
        return item if item is not None and self._is_visible(key, item) else None

    def get_many(self, keys: Iterable[Key]) -> dict[Key, Item]:
        wanted = list(dict.fromkeys(keys))
        partitions = dict.fromkeys(key.pk for key in wanted if key.sk != _METADATA)
        closed = {pk for pk in partitions if not self._is_open(pk)}
        readable = [key for key in wanted if key.sk == _METADATA or key.pk not in closed]
        items = self._whole.get_many(readable) if readable else {}
        return {key: item for key, item in items.items() if self._is_visible(key, item)}

    def query(
        self,
        pk: str,
        keys: Range | None = None,
        *,
        index: Index | None = None,
        backward: bool = False,
        limit: int | None = None,
    ) -> Iterator[Item]:
        if not self._is_open(pk):
            return iter(())
        return self._whole.query(pk, keys, index=index, backward=backward, limit=limit)

    def write(self, writes: Sequence[Write]) -> None:
        self._require_open(writes)
        self._whole.write(writes)

    def write_in_batches(self, writes: Iterable[Put | Delete]) -> None:
        whole = list(writes)
        self._require_open(whole)
        self._whole.write_in_batches(whole)

    def retry(self, attempt: Callable[[], Result]) -> Result:
        return self._whole.retry(attempt)

    def _require_open(self, writes: Sequence[Write]) -> None:
        written = [written_key(write) for write in writes]
        for pk in dict.fromkeys(key.pk for key in written):
            if not self._is_open(pk):
                raise missing_error(f"'{pk.partition('#')[2]}' does not exist in this workspace.")
        for key in written:
            if key.sk == _METADATA:
                self._recent.pop(key.pk, None)

    def _is_open(self, pk: str) -> bool:
        if (fields := keys.EXPERIMENT.pk.parse(pk)) is not None:
            owner = self._workspace_of(fields["experiment_id"])
            return owner is None or owner == self._active()
        if (fields := keys.EVALUATION_RECORD.pk.parse(pk)) is not None:
            active = self._active()
            if self._known(pk) == active:
                return True
            key = keys.EVALUATION_DATASET.key(workspace=active, **fields)
            if self._whole.get(key) is None:
                return False
            self._cache_owner(pk, active)
        return True

    def _workspace_of(self, experiment_id: str) -> str | None:
        key = keys.EXPERIMENT.key(experiment_id=experiment_id)
        owner = self._known(key.pk)
        if owner is None and (item := self._whole.get(key)) is not None:
            owner = self._cache_item(key.pk, item)
        return owner

    def _known(self, pk: str) -> str | None:
        at, owner = self._recent.get(pk, (0.0, None))
        return owner if owner and time.monotonic() - at <= _RECENT_SECONDS else None

    def _cache_item(self, pk: str, item: Item) -> str:
        return self._cache_owner(pk, item[INFO]["workspace"])

    def _cache_owner(self, pk: str, owner: str) -> str:
        if len(self._recent) >= _MOST_RECENT:
            self._recent.clear()
        self._recent[pk] = (time.monotonic(), owner)
        return owner

    def _is_visible(self, key: Key, item: Item) -> bool:
        """Return whether an item, which names its owner, belongs to the current workspace."""
        if keys.EXPERIMENT.parse(key) is not None:
            return self._cache_item(key.pk, item) == self._active()
        if keys.ONLINE_SCORING.parse(key) is not None:
            return self.owns(item["experiment_id"])
        return True
