"""Metrics of runs: the latest value, the history, and the order of runs by a metric."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mlflow.entities import Metric

from vitrine_mlflow import keys
from vitrine_mlflow.context import Context
from vitrine_mlflow.database import TRANSACTION_WRITES, Range
from vitrine_mlflow.encoding import ordered_double, ordered_integer
from vitrine_mlflow.expressions import (
    ABSENT,
    PRESENT,
    Delete,
    Item,
    Put,
    Update,
    Write,
    key_of,
    with_key,
)
from vitrine_mlflow.keys import Key
from vitrine_mlflow.mlflow_api import validate_metric
from vitrine_mlflow.ownership import metric_rank_key
from vitrine_mlflow.runs import Runs
from vitrine_mlflow.summaries import METRIC, METRICS, SummaryChain, metric_entry, summary_key
from vitrine_mlflow.table import INFO, PARTITION_KEY

# Writes of the run's summary of its metrics (`SummaryChain`), which each transaction includes.
_ROOM_FOR_SUMMARIES = 6


def validate_metrics(metrics: Sequence[Metric]) -> None:
    """Refuse what MLflow refuses.

    Raises:
        MlflowException: a key, a value, a time or a step is invalid.
    """
    for index, metric in enumerate(metrics):
        path = "" if len(metrics) == 1 else f"metrics[{index}]"
        validate_metric(metric.key, metric.value, metric.timestamp, metric.step, path=path)


@dataclass(frozen=True)
class Value:
    """One logged value of a metric."""

    key: str
    value: float
    timestamp: int
    step: int

    @property
    def recency(self) -> tuple[int, int, float]:
        """The latest value has the greatest one; NaN counts as 0, as in MLflow's own store."""
        return self.step, self.timestamp, 0.0 if math.isnan(self.value) else self.value

    def attributes(self) -> Item:
        # text, because DynamoDB's numbers end at 1e125 and know no NaN and no infinity
        return {"value": repr(self.value), "timestamp": self.timestamp, "step": self.step}

    def entity(self, run_id: str | None = None) -> Metric:
        return Metric(self.key, self.value, self.timestamp, self.step, run_id=run_id)


def value_of(key: str, item: Item) -> Value:
    return Value(key, float(item["value"]), item["timestamp"], item["step"])


class Metrics:
    """Logs and reads metrics."""

    def __init__(self, context: Context, runs: Runs) -> None:
        self._database = context.owned_database
        self._runs = runs
        self._primary: dict[str, str] = {}  # of an experiment, fixed once it is known

    def log(self, run_id: str, metrics: Sequence[Metric]) -> None:
        """Log values; each key is written in one transaction."""
        values: dict[str, list[Value]] = {}
        validate_metrics(metrics)
        for metric in metrics:
            value = Value(metric.key, float(metric.value), int(metric.timestamp), int(metric.step))
            values.setdefault(metric.key, []).append(value)
        self._database.retry(lambda: self._log(run_id, values))

    def _log(self, run_id: str, values: dict[str, list[Value]]) -> None:
        experiment_id = self._runs.experiment_of(run_id)
        run_key = self._runs.key(run_id)
        first_key = summary_key(experiment_id, run_id, METRICS)
        # Read by their keys, consistently: an index would lag.
        latest_keys = {key: _latest_key(experiment_id, run_id, key) for key in values}
        wanted = [run_key, first_key, *latest_keys.values()]
        # Read with the run, in one request, until it is known.
        if experiment_id not in self._primary:
            wanted.append(keys.EXPERIMENT.key(experiment_id=experiment_id))
        items = self._database.get_many(wanted)
        self._runs.stored_run(run_id, items.get(run_key)).require_active()
        if not values:
            return
        primary, pending = self._primary_of(experiment_id, items, next(iter(values)))
        batch = _Batch(
            SummaryChain.read(experiment_id, run_id, METRICS, items.get(first_key)),
            run_key,
            primary,
        )
        for key, logged in values.items():
            old = items.get(latest_keys[key])
            more = len(logged) + (2 if old is None else 3)
            if len(pending) + more + _ROOM_FOR_SUMMARIES > TRANSACTION_WRITES:
                self._flush(batch, pending)
                pending = []
            pending += batch.writes(key, logged, old)
        self._flush(batch, pending)
        # Only after the write: before it, another metric may have become the primary.
        self._primary[experiment_id] = primary

    def _primary_of(
        self, experiment_id: str, items: Mapping[Key, Item], first: str
    ) -> tuple[str, list[Write]]:
        """The metric that the index orders by, and what fixes it with the first one logged."""
        if experiment_id in self._primary:
            return self._primary[experiment_id], []
        key = keys.EXPERIMENT.key(experiment_id=experiment_id)
        item = items.get(key, {"primary": first})
        if "primary" in item:
            return item["primary"], []
        # Of concurrent first metrics, one becomes the primary; the others are repeated as usual
        # ones.
        condition = {"primary": ABSENT, INFO: PRESENT}
        return first, [Update(key, {"primary": first}, condition=condition)]

    def _flush(self, batch: "_Batch", pending: list[Write]) -> None:
        writes = [*pending, *batch.chain.writes()]
        # a key with more values than a transaction holds: its history comes before its latest value
        while len(writes) > TRANSACTION_WRITES:
            self._database.write(writes[: TRANSACTION_WRITES // 2])
            writes = writes[TRANSACTION_WRITES // 2 :]
        self._database.write(writes)
        batch.chain.commit()

    def latest(self, run_id: str, key: str) -> Value | None:
        item = self._database.get(_latest_key(self._runs.experiment_of(run_id), run_id, key))
        return None if item is None else value_of(key, item)

    def history(self, run_id: str, key: str, steps: tuple[int, int] | None = None) -> list[Value]:
        """Logged values by step, time and value, also between two steps."""
        experiment_id = self._runs.experiment_of(run_id)
        pk = keys.EXPERIMENT.key(experiment_id=experiment_id).pk
        prefix = keys.METRIC_HISTORY.prefix(run_id=run_id, key=key)
        wanted = Range.of_prefix(prefix)
        if steps is not None:
            low, high = (ordered_integer(step) for step in steps)
            wanted = Range(prefix + low, Range.of_prefix(f"{prefix}{high}#").high)
        return [value_of(key, item) for item in self._database.query(pk, wanted)]


class _Batch:
    """Writes of metrics to one run."""

    def __init__(self, chain: SummaryChain, run_key: Key, primary: str) -> None:
        self.chain = chain
        self._run_key = run_key
        self._primary = primary

    def writes(self, key: str, logged: Iterable[Value], old: Item | None) -> list[Write]:
        """The history of new values, and the latest one where it changes."""
        before = None if old is None else value_of(key, old)
        latest = before
        # By key: a transaction may not name an item twice, but a value may be logged twice.
        writes: dict[Key, Write] = {}
        for value in logged:
            put = self._history(value)
            writes[key_of(put.item)] = put
            if latest is None or value.recency > latest.recency:
                latest = value
        if latest is None or latest is before:
            return list(writes.values())
        entry = metric_entry(latest.value, latest.timestamp, latest.step)
        if old is None:
            number = self.chain.add(METRIC + key, entry)
        else:
            number = old["summary"]
            self.chain.replace(number, METRIC + key, entry)
        return [
            *writes.values(),
            self._latest(latest, number, before),
            *self._order(latest, before),
        ]

    @property
    def _run(self) -> tuple[str, str]:
        return self.chain.experiment_id, self.chain.run_id

    def _history(self, value: Value) -> Put:
        experiment_id, run_id = self._run
        key = keys.METRIC_HISTORY.key(
            experiment_id=experiment_id,
            run_id=run_id,
            key=value.key,
            step=ordered_integer(value.step),
            timestamp=ordered_integer(value.timestamp),
            value=ordered_double(value.value),
        )
        return Put(with_key(key, value.attributes()))

    def _latest(self, latest: Value, number: int, before: Value | None) -> Put:
        key = _latest_key(*self._run, latest.key)
        condition: dict[str, Any] = {PARTITION_KEY: ABSENT}
        if before is not None:
            # The value that was read is still the latest: a batch out of order changes nothing
            # older.
            condition = before.attributes()
        item = with_key(key, {"key": latest.key, **latest.attributes(), "summary": number})
        return Put(item, condition)

    def _order(self, latest: Value, before: Value | None) -> list[Write]:
        experiment_id, run_id = self._run
        if latest.key == self._primary:
            sort_key = f"{ordered_double(latest.value)}#{run_id}"
            # a run that was permanently removed must not reappear as half an item
            present = {PARTITION_KEY: PRESENT}
            return [Update(self._run_key, {"lsi5sk": sort_key}, condition=present)]
        ranks = {
            value: metric_rank_key(experiment_id, run_id, value.key, value.value)
            for value in (before, latest)
            if value is not None
        }
        new = Put(with_key(ranks[latest], {}))
        if before is None:
            return [new]
        # An item may not be both deleted and put in one transaction.
        return [] if ranks[before] == ranks[latest] else [Delete(ranks[before]), new]


def _latest_key(experiment_id: str, run_id: str, key: str) -> Key:
    return keys.METRIC.key(experiment_id=experiment_id, run_id=run_id, key=key)
