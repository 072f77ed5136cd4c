"""Both stores with one clock, their tables, the requests they send, and seeds of histories."""

import itertools
import os
import random
from collections.abc import Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, cast
from unittest import mock

from mlflow.store.tracking import sqlalchemy_store
from mlflow.store.tracking.dbmodels import models
from vitrine_mlflow.context import Context, Sources
from vitrine_mlflow.database import Database
from vitrine_mlflow.store import DynamoTrackingStore
from vitrine_mlflow.table import create_request

from tests.amounts import amount

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


ARTIFACTS = "s3://artifacts/root"


class TrackingTables:
    """Tables of the engine, created when a test wants one."""

    def __init__(self, client: "DynamoDBClient") -> None:
        self.client = client

    def create(self, name: str) -> str:
        self.client.create_table(**create_request(name))
        return name

    def database(self, name: str) -> Database:
        return Database(self.client, name, "eu-central-1")


@dataclass
class Series:
    """The clock and the ids of both stores; each store has its own copy."""

    milliseconds: int = 1_700_000_000_000
    experiments: int = 0
    numbers: Iterator[int] = field(default_factory=itertools.count)

    def now_ms(self) -> int:
        return self.milliseconds

    def new_hex(self) -> str:
        # spread, so that ids do not sort by their creation
        return f"{(next(self.numbers) * 0x9E3779B97F4A7C15) % (1 << 128):032x}"

    def new_experiment_id(self) -> str:
        return str(self.experiments + 1)

    def random_name(self) -> str:
        return f"name-{self.milliseconds}"

    def sources(self) -> Sources:
        return Sources(self.now_ms, self.new_hex, self.new_experiment_id, self.random_name)


class _Uuid:
    """A new id in the form that MLflow's store requests from the module `uuid`."""

    def __init__(self, text: str) -> None:
        self.hex = text

    def __str__(self) -> str:
        return self.hex


def dynamo_store(database: Database, series: Series) -> DynamoTrackingStore:
    return DynamoTrackingStore.of_context(Context(database, ARTIFACTS, series.sources()))


@contextmanager
def _inject_series(series: Series) -> Generator[None]:
    """Replace the clock and ids of MLflow's store by a series."""
    store: Any = sqlalchemy_store
    classes: Any = models
    fakes: dict[str, Any] = {
        "get_current_time_millis": series.now_ms,
        "uuid": mock.Mock(uuid4=lambda: _Uuid(series.new_hex())),
    }
    name: dict[str, Any] = {"_generate_random_name": series.random_name}
    with mock.patch.multiple(store, **fakes, **name), mock.patch.multiple(classes, **fakes):
        yield


@cache
def empty_database() -> bytes:
    """An SQLite file with MLflow's schema, created once: its migrations take seconds."""
    store: Any = sqlalchemy_store
    with TemporaryDirectory() as folder, _inject_series(Series()):
        path = Path(folder) / "empty.db"
        store.SqlAlchemyStore(f"sqlite:///{path}", ARTIFACTS).engine.dispose()
        return path.read_bytes()


class SqlStore:
    """MLflow's own store on SQLite; its clock and ids come from a series."""

    def __init__(self, path: Path, series: Series) -> None:
        self._series = series
        path.write_bytes(empty_database())
        with self.inject():
            self.store: Any = sqlalchemy_store.SqlAlchemyStore(f"sqlite:///{path}", ARTIFACTS)

    def inject(self) -> AbstractContextManager[None]:
        return _inject_series(self._series)


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


_AMOUNT = os.environ.get("MLFLOW_REGISTRY_HISTORIES")
_FIRST = os.environ.get("MLFLOW_FIRST_SEED")
HISTORIES = amount("MLFLOW_REGISTRY_HISTORIES")


def seed_of(number: int) -> int:
    """Return the seed of one history, counted from MLFLOW_FIRST_SEED if it is set."""
    if _AMOUNT is not None and _FIRST is None:
        return random.SystemRandom().randrange(1_000_000_000)
    return int(_FIRST or "0") + number
