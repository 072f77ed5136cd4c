"""Generated histories of operations and searches, for both stores of the differential test."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from mlflow.entities import (
    Dataset,
    DatasetInput,
    ExperimentTag,
    InputTag,
    LoggedModelInput,
    LoggedModelOutput,
    Metric,
    Param,
    RunTag,
    ViewType,
)
from mlflow.utils.mlflow_tags import MLFLOW_DATASET_CONTEXT, MLFLOW_RUN_NAME

Call = Callable[[Any], Any]

METRIC_KEYS = ["loss", "Loss", "a/b", "acc x", "größe", "x.y", "p-q", ""]
PARAM_KEYS = ["lr", "LR", "a/b", "opt x", "größe"]
TAG_KEYS = ["team", "Team", "a/b", "x.y", MLFLOW_RUN_NAME]
VALUES = [
    0.0, -0.0, 1.0, 1.5, -2.25, 1e-300, 1e308, -1e308, float("nan"), float("inf"), float("-inf"),
    3.0, 0.1, 7,
]  # fmt: skip
TEXTS = ["", "a", "A", "ab", "a b", "a#b", "100%", "ünïcode", "A_b", "a" * 600, "0.10", "日本"]
MANY_LETTERS = "one name with more letters than fifty, as projects with long paths have them"
NAMES = ["one", "One", "two#2", "50%", "näme", "a b", "one two", MANY_LETTERS]
STATUSES = ["FINISHED", "FAILED", "RUNNING", "KILLED", "SCHEDULED"]
USERS = ["ann", "Bob", ""]
VIEWS = [ViewType.ACTIVE_ONLY, ViewType.DELETED_ONLY, ViewType.ALL]
TEXT_COMPARATORS = ["=", "!=", "LIKE", "ILIKE"]
NUMBER_COMPARATORS = ["=", "!=", "<", "<=", ">", ">="]
PATTERNS = [
    "a%", "%b", "%A%", "a_b", "%", "_", "one%", "%o%", "ü%", "100%",
    "%one%", "%ONE t%", "two#%", "%wo#2", "%äme", "n_me%", "%e% t%", "on%", "%more let%",
    "EXP-1%", "%xp-%",
]  # fmt: skip


@dataclass
class History:
    """A state with the existing ids, and a generator of the next operations."""

    seed: int
    experiments: list[str] = field(default_factory=lambda: ["0"])
    runs: list[str] = field(default_factory=list[str])
    start: int = 1_700_000_000_000

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)

    def pick(self, choices: Any) -> Any:
        return self.random.choice(choices)

    def operation(self) -> tuple[str, Call]:
        """The next operation: its description, and the call."""
        if len(self.runs) < 2:
            return self._create_run()
        kinds = [
            (self._create_run, 6), (self._create_experiment, 2), (self._log_metric, 10),
            (self._log_param, 5), (self._set_tag, 5), (self._log_batch, 8),
            (self._update_info, 5), (self._delete_tag, 2), (self._stage_of_run, 4),
            (self._stage_of_experiment, 1), (self._rename, 1), (self._experiment_tag, 3),
            (self._log_inputs, 4), (self._log_models, 2), (self._read, 4),
        ]  # fmt: skip
        chosen = self.random.choices([kind for kind, _ in kinds], [weight for _, weight in kinds])
        return chosen[0]()

    def _run(self) -> str:
        return "missing" if self.random.random() < 0.03 else self.pick(self.runs)

    def _experiment(self) -> str:
        if self.random.random() < 0.04:
            return self.pick(["999", "nonsense"])
        return self.pick(self.experiments)

    def _create_experiment(self) -> tuple[str, Call]:
        name = self.pick([*NAMES, f"exp-{self.random.randrange(50)}", ""])
        tags = [ExperimentTag(key, self.pick(TEXTS)) for key in self.random.sample(TAG_KEYS, 2)]
        return "create_experiment", lambda store: store.create_experiment(name, None, tags)

    def _create_run(self) -> tuple[str, Call]:
        experiment_id, user = self._experiment(), self.pick(USERS)
        start = self.start + self.random.randrange(6)
        name = self.pick([*NAMES, None, None, ""])
        picked = self.random.sample(TAG_KEYS[:4], self.random.randrange(3))
        tags = [RunTag(key, self.pick(TEXTS)) for key in picked]
        return "create_run", lambda store: store.create_run(experiment_id, user, start, tags, name)

    def _metric(self) -> Metric:
        key, value = self.pick(METRIC_KEYS[:-1]), self.pick(VALUES)
        return Metric(key, value, self.random.randrange(4), self.random.randrange(-1, 3))

    def _log_metric(self) -> tuple[str, Call]:
        run_id, metric = self._run(), self._metric()
        if self.random.random() < 0.05:
            metric = Metric(
                self.pick(["", "a//b", "x#y", "k" * 251]), self.pick([1.0, "text", None]), 1, 1
            )
        return "log_metric", lambda store: store.log_metric(run_id, metric)

    def _log_param(self) -> tuple[str, Call]:
        run_id = self._run()
        key = (
            self.pick([*PARAM_KEYS, "x#y"]) if self.random.random() < 0.1 else self.pick(PARAM_KEYS)
        )
        param = Param(key, self.pick(TEXTS))
        return "log_param", lambda store: store.log_param(run_id, param)

    def _set_tag(self) -> tuple[str, Call]:
        run_id = self._run()
        tag = RunTag(self.pick(TAG_KEYS), self.pick([*TEXTS, "t" * 5_000]))
        return "set_tag", lambda store: store.set_tag(run_id, tag)

    def _delete_tag(self) -> tuple[str, Call]:
        run_id, key = self._run(), self.pick(TAG_KEYS)
        return "delete_tag", lambda store: store.delete_tag(run_id, key)

    def _log_batch(self) -> tuple[str, Call]:
        run_id = self._run()
        metrics = [self._metric() for _ in range(self.random.randrange(8))]
        keys = self.random.sample(PARAM_KEYS, self.random.randrange(3))
        params = [Param(key, self.pick(TEXTS)) for key in keys]
        tags = [
            RunTag(self.pick(TAG_KEYS), self.pick(TEXTS)) for _ in range(self.random.randrange(3))
        ]
        return "log_batch", lambda store: store.log_batch(run_id, metrics, params, tags)

    def _update_info(self) -> tuple[str, Call]:
        run_id, status = self._run(), self.pick([1, 2, 3, 4, 5, None])
        end = self.pick([None, self.start + self.random.randrange(9)])
        name = self.pick([None, "", *NAMES])
        return "update_run_info", lambda store: store.update_run_info(run_id, status, end, name)

    def _stage_of_run(self) -> tuple[str, Call]:
        run_id = self._run()
        if self.random.random() < 0.6:
            return "delete_run", lambda store: store.delete_run(run_id)
        return "restore_run", lambda store: store.restore_run(run_id)

    def _stage_of_experiment(self) -> tuple[str, Call]:
        experiment_id = self._experiment()
        if self.random.random() < 0.5:
            return "delete_experiment", lambda store: store.delete_experiment(experiment_id)
        return "restore_experiment", lambda store: store.restore_experiment(experiment_id)

    def _rename(self) -> tuple[str, Call]:
        experiment_id, name = self._experiment(), self.pick(NAMES)
        return "rename_experiment", lambda store: store.rename_experiment(experiment_id, name)

    def _experiment_tag(self) -> tuple[str, Call]:
        experiment_id, key = self._experiment(), self.pick(TAG_KEYS)
        if self.random.random() < 0.3:
            return "delete_experiment_tag", lambda store: store.delete_experiment_tag(
                experiment_id, key
            )
        tag = ExperimentTag(key, self.pick([*TEXTS, "v" * 6_000]))
        return "set_experiment_tag", lambda store: store.set_experiment_tag(experiment_id, tag)

    def _log_inputs(self) -> tuple[str, Call]:
        run_id = self._run()
        inputs = [
            DatasetInput(
                Dataset(self.pick(["iris", "Iris"]), self.pick(["d1", "d2"]), "local", "src"),
                [InputTag(MLFLOW_DATASET_CONTEXT, self.pick(["train", "eval"]))]
                if self.random.random() < 0.7
                else [],
            )
            for _ in range(self.random.randrange(1, 3))
        ]
        return "log_inputs", lambda store: store.log_inputs(run_id, inputs, None)

    def _log_models(self) -> tuple[str, Call]:
        run_id, number = self._run(), self.random.randrange(4)
        if self.random.random() < 0.5:
            models = [LoggedModelOutput(f"m-{number:x}", self.random.randrange(5))]
            return "log_outputs", lambda store: store.log_outputs(run_id, models)
        inputs = [LoggedModelInput(f"m-{number:x}")]
        return "log_inputs of models", lambda store: store.log_inputs(run_id, None, inputs)

    def _read(self) -> tuple[str, Call]:
        run_id, key = self._run(), self.pick(METRIC_KEYS[:-1])
        size = self.random.randrange(1, 5)
        reads: list[tuple[str, Call]] = [
            ("get_run", lambda store: store.get_run(run_id)),
            ("get_metric_history", lambda store: store.get_metric_history(run_id, key)),
            ("page of history", lambda store: store.get_metric_history(run_id, key, size)),
            ("bulk interval", lambda store: store.get_metric_history_bulk_interval(
                self.runs[:3], key, size, None, None
            )),
            ("bulk interval of steps", lambda store: store.get_metric_history_bulk_interval(
                self.runs[:3], key, size, 0, 2
            )),
            ("get_experiment_by_name", lambda store: store.get_experiment_by_name(
                NAMES[size]
            )),
        ]  # fmt: skip
        return self.pick(reads)

    # Searches

    def filter_string(self) -> str | None:
        if self.random.random() < 0.25:
            return None
        if self.random.random() < 0.03:
            return self.pick([
                "nonsense", "metrics.a = 'x'", "params.x > '1'", "a = 1 OR b = 2", "tags.x = 3",
                "metrics.`loss` > 1 AND", "attributes.nothing = 'x'", "dataset.size = '1'",
                "attributes.status > 'x'", "params.lr = 5", "run_id IN (1, 2)", "foo.bar = 'x'",
            ])  # fmt: skip
        return " AND ".join(self._condition() for _ in range(self.random.randrange(1, 4)))

    def _condition(self) -> str:
        kinds = [
            self._metric_condition, self._entry_condition, self._entry_condition,
            self._attribute_condition, self._time_condition, self._dataset_condition,
        ]  # fmt: skip
        return self.pick(kinds)()

    def _metric_condition(self) -> str:
        value = self.pick([0, 1, 1.5, -2.25, 3, 0.1])
        return f"metrics.`{self.pick(METRIC_KEYS[:-1])}` {self.pick(NUMBER_COMPARATORS)} {value}"

    def _entry_condition(self) -> str:
        entity, keys = self.pick([("params", PARAM_KEYS), ("tags", TAG_KEYS)])
        if self.random.random() < 0.15:
            return f"{entity}.`{self.pick(keys)}` {self.pick(['IS NULL', 'IS NOT NULL'])}"
        return f"{entity}.`{self.pick(keys)}` {self._text_condition()}"

    def _time_condition(self) -> str:
        name = self.pick(["start_time", "created", "end_time"])
        moment = self.start + self.random.randrange(7)
        return f"attributes.{name} {self.pick(NUMBER_COMPARATORS)} {moment}"

    def _dataset_condition(self) -> str:
        name = self.pick(["name", "digest", "context"])
        value = self.pick(["iris", "Iris", "d1", "train", "eval"])
        return f"dataset.{name} {self.pick(TEXT_COMPARATORS)} '{value}'"

    def _attribute_condition(self) -> str:
        if self.random.random() < 0.4:
            return f"attributes.status {self.pick(['=', '!='])} '{self.pick(STATUSES)}'"
        if self.random.random() < 0.3:
            some = ", ".join(f"'{run_id}'" for run_id in self.random.sample(self.runs, 2))
            return f"attributes.run_id {self.pick(['IN', 'NOT IN'])} ({some})"
        name = self.pick(["run_name", "user_id", "artifact_uri"])
        return f"attributes.{name} {self._text_condition([*NAMES, *USERS])}"

    def _text_condition(self, values: list[str] = TEXTS) -> str:
        comparator = self.pick(TEXT_COMPARATORS)
        value = self.pick(PATTERNS if "LIKE" in comparator else values)
        return f"{comparator} '{value}'"

    def order_by(self) -> list[str] | None:
        if self.random.random() < 0.25:
            return None
        if self.random.random() < 0.03:
            return [
                self.pick(["nonsense.x", "metrics.", "attributes.zzz", "dataset.name", "x y z"])
            ]
        names = [
            *(f"metrics.`{key}`" for key in METRIC_KEYS[:-1]),
            *(f"params.`{key}`" for key in PARAM_KEYS), *(f"tags.`{key}`" for key in TAG_KEYS[:4]),
            "attributes.start_time", "attributes.run_name", "attributes.status",
            "attributes.end_time", "attributes.run_id", "attributes.user_id", "created",
        ]  # fmt: skip
        chosen = self.random.sample(names, self.random.choice([1, 1, 1, 2, 3]))
        return [f"{name} {self.pick(['ASC', 'DESC', ''])}".strip() for name in chosen]

    def query(self) -> dict[str, Any]:
        some = self.random.sample(self.experiments, min(len(self.experiments), 2))
        return {
            "experiment_ids": self.pick([self.experiments, some, ["0"], some[:1]]),
            "filter_string": self.filter_string(),
            "run_view_type": self.pick(VIEWS),
            "max_results": self.pick([1, 2, 3, 5, 100]),
            "order_by": self.order_by(),
        }

    def experiment_query(self) -> dict[str, Any]:
        conditions = [
            None, f"name {self._text_condition(NAMES)}", f"tags.`a/b` {self._text_condition()}",
            "tags.team IS NULL", f"creation_time > {self.start}", "experiment_id IN ('0', '1')",
            f"name {self._text_condition(NAMES)} AND tags.team IS NOT NULL", "name > 'a'",
        ]  # fmt: skip
        orders = [
            None, ["name"], ["name DESC"], ["creation_time", "name"], ["last_update_time DESC"],
            ["experiment_id"], ["bad"],
        ]  # fmt: skip
        return {
            "view_type": self.pick(VIEWS),
            "max_results": self.pick([1, 2, 100, 0]),
            "filter_string": self.pick(conditions),
            "order_by": self.pick(orders),
        }
