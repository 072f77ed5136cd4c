"""Runs histories against both stores and compares every reply, except for declared differences.

`differences.py` lists these, each with its reason.
"""

import itertools
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mlflow.entities import Experiment, Metric, Run, RunInfo
from mlflow.entities.metric import MetricWithRunId
from mlflow.exceptions import MlflowException
from vitrine_mlflow.config import RUN_NAMES, Config
from vitrine_mlflow.database import Database

from tests.integration.tracking.histories import Call, History
from tests.integration.tracking.stores import Series, SqlStore, dynamo_store

_LARGEST = 1.7976931348623157e308
_MAX_PAGES = 40


class Comparison:
    """Both stores after the same operations."""

    def __init__(self, seed: int, database: Database, folder: Path) -> None:
        self.history = History(seed)
        self._ours, self._theirs = Series(), Series()
        Config(database).set(RUN_NAMES, "on" if seed % 2 else "off")
        self.dynamo = dynamo_store(database, self._ours)
        self.sql = SqlStore(folder / f"{seed}.db", self._theirs)
        self._number = itertools.count(1)
        self.answered = 0  # searches that neither store refused

    def operate(self, times: int) -> None:
        """Apply generated operations to both; their replies must be equal."""
        for _ in range(times):
            name, call = self.history.operation()
            step = self.history.random.randrange(3)
            number = next(self._number)
            for series in (self._ours, self._theirs):
                series.milliseconds += step
                series.numbers = itertools.count(number * 1_000)
            ours, theirs = self._both(call)
            assert ours == theirs, f"seed {self.history.seed}: {name}: {ours} {theirs}"
            self._remember(name, ours)

    def _remember(self, name: str, reply: Any) -> None:
        kind, value = reply
        if kind == "error":
            return
        if name == "create_experiment":
            self.history.experiments.append(value)
            self._ours.experiments = self._theirs.experiments = int(value)
        if name == "create_run":
            self.history.runs.append(value["info"]["run_id"])

    def search(self, times: int) -> None:
        """Compare generated searches, each with all its pages."""
        for _ in range(times):
            self._pages("search_runs", self.history.query())

    def search_experiments(self, times: int) -> None:
        for _ in range(times):
            self._pages("search_experiments", self.history.experiment_query())

    def _pages(self, method: str, query: dict[str, Any]) -> None:
        tokens: tuple[Any, Any] = (None, None)
        for number in range(_MAX_PAGES):
            ours = self._page(self.dynamo, method, query, tokens[0])
            with self.sql.inject():
                theirs = self._page(self.sql.store, method, query, tokens[1])
            assert ours[0] == theirs[0], f"seed {self.history.seed}: {query}"
            # Difference.PAGE_TOKENS
            assert bool(ours[1]) == bool(theirs[1]), f"seed {self.history.seed}: token of {query}"
            self.answered += number == 0 and isinstance(ours[0], list)
            tokens = (ours[1], theirs[1])
            if not ours[1]:
                return

    def _page(self, store: Any, method: str, query: dict[str, Any], token: Any) -> tuple[Any, Any]:
        try:
            page = getattr(store, method)(**query, page_token=token)
        except MlflowException as error:
            return error_of(error), None
        return [plain(entry) for entry in page], page.token

    def _both(self, call: Call) -> tuple[Any, Any]:
        ours = _outcome(self.dynamo, call)
        with self.sql.inject():
            theirs = _outcome(self.sql.store, call)
        return ours, theirs


def _outcome(store: Any, call: Call) -> tuple[str, Any]:
    try:
        return "reply", plain(call(store))
    except MlflowException as error:
        return "error", error_of(error)


def error_of(error: MlflowException) -> tuple[str, str]:
    code, message = str(error.error_code), str(error.message)
    if code == "BAD_REQUEST":  # Difference.SQL_STATEMENTS
        return code, ""
    message = re.sub(" at 0x[0-9a-f]+", "", message)
    return code, message.partition(" Error:")[0]


def plain(value: Any) -> Any:
    if isinstance(value, list):
        members: list[Any] = value  # pyright: ignore[reportUnknownVariableType]
        return [plain(member) for member in members]
    for kind, convert in _CONVERSIONS.items():
        if isinstance(value, kind):
            return convert(value)
    return value


def _metric(metric: Any) -> tuple[str, Any, int, int]:
    value = metric.value
    if math.isinf(value):  # Difference.INFINITIES
        value = math.copysign(_LARGEST, value)
    return metric.key, "nan" if math.isnan(value) else value, metric.timestamp, metric.step


def _run(run: Any) -> dict[str, Any]:  # sorted: Difference.ORDER
    used = [
        {**dict(member.dataset), "tags": sorted((tag.key, tag.value) for tag in member.tags)}
        for member in _members(run.inputs, "dataset_inputs")
    ]
    return {
        "info": dict(run.info),
        "metrics": sorted(map(_metric, _members(run.data, "_metric_objs")), key=_name_of),
        "params": dict(run.data.params),
        "tags": dict(run.data.tags),
        "datasets": sorted(used, key=_dataset_of),
        "read": sorted(member.model_id for member in _members(run.inputs, "model_inputs")),
        "written": sorted(
            (member.model_id, member.step) for member in _members(run.outputs, "model_outputs")
        ),
    }


def _members(owner: Any, name: str) -> list[Any]:
    return getattr(owner, name) if owner else []


def _name_of(metric: tuple[str, Any, int, int]) -> str:
    return metric[0]


def _dataset_of(used: dict[str, Any]) -> tuple[str, str]:
    return used["name"], used["digest"]


_CONVERSIONS: dict[type, Callable[[Any], Any]] = {
    Run: _run,
    RunInfo: dict,
    Experiment: lambda experiment: {**dict(experiment), "tags": dict(experiment.tags)},
    MetricWithRunId: lambda metric: (metric.run_id, _metric(metric)),
    Metric: _metric,
}
