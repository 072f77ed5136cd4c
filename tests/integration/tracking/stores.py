"""Both stores of the differential test, with one clock and one series of ids."""

import itertools
from collections.abc import Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from unittest import mock

from mlflow.store.tracking import sqlalchemy_store
from mlflow.store.tracking.dbmodels import models
from vitrine_mlflow.context import Context, Sources
from vitrine_mlflow.database import Database
from vitrine_mlflow.store import DynamoTrackingStore
from vitrine_mlflow.table import create_request

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
