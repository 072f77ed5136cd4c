"""Generated operations on evaluation datasets, scorers and issues, each a function of a store."""

import json
import random
from typing import Any

from mlflow.entities import IssueSeverity, IssueStatus

Step = tuple[str, tuple[Any, ...], dict[str, Any]]

NAMES = ["one", "One", "two#2", "50%", "näme", "a b"]
ODD_NAMES = ["", " ", "日本😀", "x" * 300, "/", "a:b"]
TEXTS = ["", "a", "A", "a#b", "ünï", "x" * 3_000]
INPUTS: list[dict[str, Any]] = [
    {"q": "a"}, {"q": "b", "n": 1}, {"n": 1, "q": "b"}, {},
    {"x": None, "y": [1, 2], "z": {"k": 1.5}},
]  # fmt: skip
ODD_INPUTS: list[Any] = [None, [], [1], "a", 5, {"q": "\ud800"}, {"q": float("nan")}]
CONDITIONS = [
    "name = 'one'", "name != 'one'", "name LIKE '%n%'", "name ILIKE 'O%'", "name like '%'",
    "name IN ('one', 'a b')", "name IN ('one')", "name = 'two#2'", "name LIKE '5_%'",
    "tags.team = 'a'", "tags.team != 'b'", "tags.n = '5'", "tags.`a#b` LIKE '%'",
    "tags.Team ILIKE 'a'", "created_by = 'ann'", "created_by != 'ann'", "created_by LIKE 'a%'",
    "last_updated_by = 'ann'", "created_time > 0", "last_update_time < 1700000000020",
    "created_time != 1700000000003", "last_update_time >= 1700000000030",
]  # fmt: skip
ODD_CONDITIONS = [
    "created_time = 'x'", "nothing = 1", "name > 'a'", "created_time > 1.5", "name = 5",
    "name NOT IN ('one')", "created_by IN ('ann')", "tags.team IN ('a')", "tags.team > 'a'",
    "created_time LIKE '1%'", "name = 'a' OR name = 'b'", "name", "digest = 'x'", "name IN ()",
    "experiment_ids = '0'", "created_time IN (1)", "tags. = 'a'", "name = \"one\"",
]  # fmt: skip
KEYS = ["name", "created_time", "last_update_time"]
ODD_ORDERS = [["x"], ["created_by"], ["dataset_id"], ["name x"], [""], ["tags.team"], ["NAME"]]
TAGS: list[Any] = [
    {}, {"team": "a"}, {"team": "b"}, {"Team": "A", "n": "5"}, {"mlflow.user": "ann"},
    {"a#b": "", "mlflow.user": "bob"},
]  # fmt: skip
ODD_TAGS: list[Any] = [  # without an empty key: Difference.LARGE_ITEMS
    {"n": 5}, {"n": 0.5}, {"n": True}, {"n": None}, {"n": {"k": 1}}, {"n": [1]},
    {"mlflow.user": 5}, {"k": "x" * 6_000}, {"k" * 300: "x"},
]  # fmt: skip
SOURCES: list[Any] = [
    {"source_type": "HUMAN", "source_data": {"user": "ann"}}, {"source_type": "human"},
    {"source_type": "TRACE", "source_data": {"trace_id": "tr-1"}},
    {"source_type": "DOCUMENT", "source_data": {"source_id": "doc"}}, None, {},
]  # fmt: skip
ODD_SOURCES: list[Any] = [
    {"source_type": "nonsense"}, {"source_data": {}}, {"source_type": "CODE", "source_data": None},
    {"source_type": "CODE", "source_data": [1]}, "text", {"source_type": 5},
]  # fmt: skip
SCORER = json.dumps({"name": "s", "instructions_judge_pydantic_data": {"model": "openai:/gpt"}})
ISSUE_FILTERS = [
    None, "status = 'pending'", "status != 'pending'", "source_run_id = 'x'", "bad = 1",
    "status > 'a'",
]  # fmt: skip


class EvaluationHistory:
    """Draws operations; the caller stores ids of what was created."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.datasets = ["d-none"]
        self.records = ["dr-none"]
        self.issues = ["iss-none"]

    def pick(self, choices: Any) -> Any:
        return self.random.choice(list(choices))

    def step(self) -> Step:
        kinds = (self._dataset, self._dataset, self._dataset, self._scorer, self._issue)
        return self.pick(kinds)()

    def remember(self, step: Step, outcome: Any) -> None:
        """Store the ids that an operation created, returned or deleted."""
        name, arguments, _ = step
        if name == "delete_dataset" and arguments[0] != "d-none":
            self.datasets.remove(arguments[0])
        if outcome[0] == "error":
            return
        if name == "create_dataset":
            self.datasets.append(outcome[1]["dataset_id"])
        if name == "create_issue":
            self.issues.append(outcome[1]["issue_id"])
        if name == "_load_dataset_records":
            self.records = ["dr-none", *(record["dataset_record_id"] for record in outcome[1][0])]

    def _experiment(self) -> str:
        return self.pick(["0", "0", "1", "1", "2", "77", "x"])

    def _draw(self, usual: list[Any], odd: list[Any]) -> Any:
        return self.pick(odd if self.random.random() < 0.06 else usual)

    def _tags(self) -> Any:
        return self._draw(TAGS, ODD_TAGS)

    def _dataset(self) -> Step:
        known = self.pick(self.datasets[-4:])
        experiments = [self.pick(["0", "1"])]
        choices: list[Step] = [
            ("create_dataset", (self._draw(NAMES, ODD_NAMES),), {
                "tags": self.pick([None, self._tags()]),
                "experiment_ids": self._draw(
                    [None, [], ["0"], ["0", "1"]], [["0", "0"], ["77"], ["x"], [1]]
                ),
            }),
            ("get_dataset", (known,), {}),
            ("set_dataset_tags", (known, self._tags()), {}),
            ("delete_dataset_tag", (known, self.pick(["team", "none", "n"])), {}),
            ("get_dataset_experiment_ids", (known,), {}),
            ("add_dataset_to_experiments", (known, sorted({*experiments, self._experiment()})), {}),
            ("add_dataset_to_experiments", (known, self.pick([[], ["1"], ["0", "0"], [1]])), {}),
            ("remove_dataset_from_experiments", (known, self.pick([experiments, ["77", "0"]])), {}),
            ("_load_dataset_records", (known,), {
                "max_results": self._draw([None, 1, 2], [0, -1]),
                "page_token": self._draw([None], ["x", "", "1", "MTox", "-1", "eDp5"]),
            }),
            ("delete_dataset_records", (known, self.random.sample(
                self.records, min(2, len(self.records)))), {}),
        ]  # fmt: skip
        choices += [("upsert_dataset_records", (known, self._records()), {})] * 4
        choices += [("search_datasets", (), self._search())] * 4
        if self.random.random() < 0.05:
            return "delete_dataset", (known,), {}
        return self.pick(choices)

    def _search(self) -> dict[str, Any]:
        conditions = [
            self._draw(CONDITIONS, ODD_CONDITIONS) for _ in range(self.pick([0, 1, 1, 2]))
        ]
        order = self.random.sample(KEYS, self.pick([0, 1, 2]))
        order = [f"{key} {self.pick(['ASC', 'DESC', ''])}".strip() for key in order]
        return {
            "experiment_ids": self.pick([None, None, [], ["0"], ["1", "9"], ["0", "1"]]),
            "filter_string": " AND ".join(conditions) if conditions else self.pick([None, ""]),
            "order_by": self._draw([order, order or None], ODD_ORDERS),
            "max_results": self._draw([1, 2, 1000], [0, -1, 100_000, None]),
            "page_token": self._draw([None], ["x", ""]),
        }

    def _records(self) -> list[dict[str, Any]]:
        records: list[dict[str, Any]] = []
        for _ in range(self.random.randrange(4)):
            record: dict[str, Any] = {"inputs": self._draw([*INPUTS, *INPUTS], ODD_INPUTS)}
            if self.random.random() < 0.03:
                record = {}
            if self.random.random() < 0.6:
                record["outputs"] = self.pick(
                    [{"a": 1}, {"b": "x"}, {"a": [1]}, None, "text", [1], 0, {}, False]
                )
            if self.random.random() < 0.6:
                record["expectations"] = self._draw(
                    [{"e": True}, {"f": 1.5}, {}, None, {"e": None}], [[1], "x", 5]
                )
            if self.random.random() < 0.4:
                record["tags"] = self._draw([*TAGS, None], [*ODD_TAGS, [1], "x"])
            if self.random.random() < 0.3:
                record["source"] = self._draw(SOURCES, ODD_SOURCES)
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
        issue, experiment = self.pick(self.issues), self._experiment()
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
                ("get_issue", (issue,), {}),
                ("update_issue", (issue,), {
                    "status": status, "severity": severity, "name": self.pick([None, "new"]),
                    "description": self.pick([None, ""]),
                }),
                ("search_issues", (), {"experiment_id": self.pick([None, experiment]), **search}),
            ]
        )  # fmt: skip
