"""Fills an experiment with many runs, by the package's own writes in batches."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from mlflow.entities import Metric, Param, RunTag
from vitrine_mlflow import keys
from vitrine_mlflow.context import Context
from vitrine_mlflow.database import Database
from vitrine_mlflow.expressions import (
    Check,
    Delete,
    Item,
    Put,
    Update,
    Write,
    key_attributes,
    key_of,
)
from vitrine_mlflow.keys import Key
from vitrine_mlflow.store import DynamoTrackingStore

RARE = 10
"""Number of runs with the rare parameter, in experiments of any size."""
_ITEMS_IN_MEMORY = 5_000
_START = 1_700_000_000_000


class Filling(Database):
    """A database that keeps writes until `flush`, and reads only experiments.

    Nothing else writes the runs, so conditions are not checked.
    """

    def __init__(self, client: Any, table: str) -> None:
        super().__init__(client, table)
        self._items: dict[Key, Item] = {}

    def get(self, key: Key) -> Item | None:
        if keys.EXPERIMENT.parse(key) is not None:
            return super().get(key)
        return self._items.get(key)

    def get_many(self, keys: Iterable[Key]) -> dict[Key, Item]:
        items = {key: self.get(key) for key in keys}
        return {key: item for key, item in items.items() if item is not None}

    def write(self, writes: Sequence[Write]) -> None:
        for write in writes:
            match write:
                case Put():
                    self._items[key_of(write.item)] = write.item
                case Update() if keys.EXPERIMENT.parse(write.key) is not None:
                    super().write([write])
                case Update():
                    self._update(write)
                case Delete():
                    self._items.pop(write.key, None)
                case Check():
                    pass

    def _update(self, write: Update) -> None:
        names = key_attributes(write.key)
        item = self._items.setdefault(write.key, dict(zip(names, write.key, strict=True)))
        item.update(write.sets)
        for name in write.removes:
            item.pop(name, None)
        for name, number in write.adds.items():
            item[name] = item.get(name, 0) + number

    def write_in_batches(self, writes: Iterable[Put | Delete]) -> None:
        self.write(list(writes))

    def flush(self, *, at: int = 0) -> None:
        """Send the kept writes if there are this many items."""
        if len(self._items) >= at:
            super().write_in_batches([Put(item) for item in self._items.values()])
            self._items.clear()


class Filler:
    """Adds runs to experiments of a table."""

    def __init__(self, client: Any, table: str) -> None:
        self._database = Filling(client, table)
        self._store = DynamoTrackingStore.of_context(Context(self._database, "s3://artifacts"))

    def fill(
        self, experiment_id: str, numbers: Iterable[int], log: Callable[[Any, str, int], None]
    ) -> None:
        """Create runs of these numbers; `log` adds to each."""
        for number in numbers:
            add_run(self._store, experiment_id, number, log)
            self._database.flush(at=_ITEMS_IN_MEMORY)
        self._database.flush()


def add_run(
    store: Any, experiment_id: str, number: int, log: Callable[[Any, str, int], None]
) -> None:
    run = store.create_run(experiment_id, "ann", _START + number, [], f"run {number}")
    log(store, run.info.run_id, number)


def log_little(store: Any, run_id: str, number: int) -> None:
    """Two metrics, two params, a tag: for experiments of very many runs."""
    metrics = [Metric("loss", _spread(number), 1, 1), Metric("accuracy", _spread(number + 3), 1, 1)]
    seed = "rare" if number < RARE else str(number)
    params = [Param("seed", seed), Param("depth", str(number % 7))]
    store.log_batch(run_id, metrics, params, [RunTag("team", "abc"[number % 3])])


def log_much(store: Any, run_id: str, number: int) -> None:
    """20 metrics, 20 params, 10 tags."""
    metrics = [Metric(f"metric {index}", _spread(number + index), 1, 1) for index in range(20)]
    params = [Param(f"param {index}", str(number % (index + 2))) for index in range(20)]
    tags = [RunTag(f"tag {index}", f"value {number % 9}") for index in range(10)]
    store.log_batch(run_id, metrics, params, tags)


def _spread(number: int) -> float:
    """Values from 0 to 1, which do not increase with the number."""
    return number * 0.6180339887498949 % 1
