"""Generated operations on evaluation datasets, scorers and issues, each a function of a store."""

import json
import random
from typing import Any

from mlflow.entities import IssueSeverity, IssueStatus

Step = tuple[str, tuple[Any, ...], dict[str, Any]]

NAMES = ["one", "One", "two#2", "50%", "näme", "a b"]
TEXTS = ["", "a", "A", "a#b", "ünï", "x" * 3_000]
INPUTS: list[dict[str, Any]] = [
    {"q": "a"}, {"q": "b", "n": 1}, {"n": 1, "q": "b"}, {},
    {"x": None, "y": [1, 2], "z": {"k": 1.5}},
]  # fmt: skip
FILTERS = [
    None, "name = 'one'", "name != 'one'", "name LIKE '%n%'", "name ILIKE 'O%'",
    "name IN ('one', 'a b')",
    "tags.team = 'a'", "created_by = 'ann'", "created_time > 0", "last_update_time < 1700000000020",
    "created_time = 'x'", "nothing = 1", "name > 'a'",
]  # fmt: skip
ORDERS = [None, ["name"], ["name DESC"], ["created_time", "name"], ["last_update_time DESC"], ["x"]]
SCORER = json.dumps({"name": "s", "instructions_judge_pydantic_data": {"model": "openai:/gpt"}})
ISSUE_FILTERS = [
    None, "status = 'pending'", "status != 'pending'", "source_run_id = 'x'", "bad = 1",
    "status > 'a'",
]  # fmt: skip


class EvaluationHistory:
    """Draws operations; ids of what was created are remembered by the caller."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.datasets = ["d-none"]
        self.issues = ["iss-none"]

    def pick(self, choices: Any) -> Any:
        return self.random.choice(list(choices))

    def step(self) -> Step:
        kinds = (self._dataset, self._dataset, self._scorer, self._issue)
        return self.pick(kinds)()

    def _experiment(self) -> str:
        return self.pick(["0", "0", "1", "1", "2", "77", "x"])

    def _tags(self) -> dict[str, Any]:
        return self.pick([{}, {"team": "a"}, {"Team": "A", "n": 5}, {"mlflow.user": "ann"}])

    def _dataset(self) -> Step:
        one = self.pick(self.datasets)
        experiments = [self.pick(["0", "1"])]
        choices: list[Step] = [
            ("create_dataset", (self.pick(NAMES),),
             {"tags": self.pick([None, {"team": "a"}, {"mlflow.user": "ann"}]),
              "experiment_ids": self.pick([None, ["0"], ["0", "1"]])}),
            ("get_dataset", (one,), {}),
            ("set_dataset_tags", (one, self._tags()), {}),
            ("delete_dataset_tag", (one, self.pick(["team", "none"])), {}),
            ("get_dataset_experiment_ids", (one,), {}),
            ("add_dataset_to_experiments", (one, sorted({*experiments, self._experiment()})), {}),
            ("remove_dataset_from_experiments", (one, experiments), {}),
            ("_load_dataset_records", (one,), {"max_results": self.pick([None, 1, 2])}),
            ("search_datasets", (), {
                "experiment_ids": self.pick([None, None, ["0"], ["1", "9"]]),
                "filter_string": self.pick(FILTERS), "order_by": self.pick(ORDERS),
                "max_results": self.pick([1, 2, 1000]),
            }),
        ]  # fmt: skip
        choices += [("upsert_dataset_records", (one, self._records()), {})] * 3
        if self.random.random() < 0.05:
            return "delete_dataset", (one,), {}
        return self.pick(choices)

    def _records(self) -> list[dict[str, Any]]:
        records: list[dict[str, Any]] = []
        for _ in range(self.random.randrange(4)):
            record: dict[str, Any] = {"inputs": self.pick(INPUTS)}
            if self.random.random() < 0.6:
                record["outputs"] = self.pick([{"a": 1}, {"b": "x"}, {"a": [1]}, None])
            if self.random.random() < 0.6:
                record["expectations"] = self.pick([{"e": True}, {"f": 1.5}, {}, None])
            if self.random.random() < 0.4:
                record["tags"] = self._tags()
            if self.random.random() < 0.3:
                record["source"] = {"source_type": "HUMAN", "source_data": {"user": "ann"}}
            records.append(record)
        return records

    def _scorer(self) -> Step:
        experiment, name = self._experiment(), self.pick([*NAMES, "", "  "])
        version = self.pick([None, None, 1, 2, 3])
        rate, text = self.pick([0.0, 0, 0.5, 2, "x"]), self.pick([None, "", "status = 'OK'", "x y"])
        return self.pick(
            [
                ("register_scorer", (experiment, name, self.pick([SCORER, "{}"])), {}),
                ("register_scorer", (experiment, name, SCORER), {}),
                ("list_scorers", (experiment,), {}),
                ("list_scorers_across_experiments", (["0", "1", "9"],), {}),
                ("get_scorer", (experiment, name, version), {}),
                ("list_scorer_versions", (experiment, name), {}),
                ("delete_scorer", (experiment, name, version), {}),
                ("upsert_online_scoring_config", (experiment, name, rate, text), {}),
                ("filter_active_experiment_ids", (["0", "1", "2", "77"],), {}),
                ("get_active_online_scorers", (), {}),
            ]
        )

    def _issue(self) -> Step:
        one, experiment = self.pick(self.issues), self._experiment()
        status, severity = self.pick([None, *IssueStatus]), self.pick([None, *IssueSeverity])
        search = {
            "filter_string": self.pick(ISSUE_FILTERS),
            "max_results": self.pick([None, 1, 3, 0]),
            "include_trace_count": self.pick([True, False]),
        }
        return self.pick(
            [
                ("create_issue", (experiment, self.pick(NAMES), self.pick(TEXTS)), {
                    "status": self.pick(IssueStatus), "severity": severity,
                    "root_causes": self.pick([None, [], ["a", "b"]]),
                    "categories": self.pick([None, ["c"]]), "created_by": self.pick([None, "ann"]),
                    "source_run_id": self.pick([None, None, "absent"]),
                }),
                ("get_issue", (one,), {}),
                ("update_issue", (one,), {
                    "status": status, "severity": severity, "name": self.pick([None, "new"]),
                    "description": self.pick([None, ""]),
                }),
                ("search_issues", (), {"experiment_id": self.pick([None, experiment]), **search}),
            ]
        )  # fmt: skip
