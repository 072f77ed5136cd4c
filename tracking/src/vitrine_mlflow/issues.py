"""Issues that were found in an experiment's traces."""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from mlflow.entities import Issue, IssueSeverity, IssueStatus, ViewType

from vitrine_mlflow import keys
from vitrine_mlflow.comparisons import COMPARISONS
from vitrine_mlflow.context import Context
from vitrine_mlflow.errors import missing_error, violated_error
from vitrine_mlflow.experiments import Experiments
from vitrine_mlflow.expressions import ABSENT, Item, Put, Update, with_key
from vitrine_mlflow.mlflow_api import parsed_experiment_id, start_offset, validated_max_results
from vitrine_mlflow.mlflow_genai import SearchIssuesUtils
from vitrine_mlflow.mlflow_traces import SearchTraceUtils
from vitrine_mlflow.runs import Runs
from vitrine_mlflow.search.traces import TraceSearch
from vitrine_mlflow.table import PARTITION_KEY

_PAGE = 100  # as MLflow's own store
_SEVERITIES = {severity.value: rank for rank, severity in enumerate(IssueSeverity)}


class Issues:
    """Creates, reads, changes and finds issues."""

    def __init__(
        self, context: Context, experiments: Experiments, runs: Runs, traces: TraceSearch
    ) -> None:
        self._context = context
        self._database = context.owned_database
        self._experiments = experiments
        self._runs = runs
        self._traces = traces

    def create(self, experiment_id: str, fields: dict[str, Any]) -> Issue:
        """Create an issue of the attributes that MLflow names."""
        own_id = self._experiments.find(experiment_id, ViewType.ACTIVE_ONLY).experiment_id
        run_id = fields["source_run_id"]
        if run_id is not None and not self._runs.exists(run_id):
            raise violated_error(f"Run with id={run_id} not found")
        issue_id, now = f"iss-{self._context.sources.new_hex()}", self._context.sources.now_ms()
        info = {**fields, "created": now, "updated": now, "revision": 1}
        absent = {PARTITION_KEY: ABSENT}
        key = keys.ISSUE.key(experiment_id=own_id, issue_id=issue_id)
        lookup = keys.ISSUE_LOOKUP.key(issue_id=issue_id)
        self._database.write(
            [
                Put(with_key(key, {"issue_id": issue_id, **info}), absent),
                Put(with_key(lookup, {"experiment_id": own_id}), absent),
            ]
        )
        return _entity(own_id, {"issue_id": issue_id, **info})

    def get(self, issue_id: str) -> Issue:
        return _entity(*self._find(issue_id))

    def _find(self, issue_id: str) -> tuple[str, Item]:
        lookup = self._database.get(keys.ISSUE_LOOKUP.key(issue_id=issue_id))
        if lookup is not None:
            own_id: str = lookup["experiment_id"]
            item = self._database.get(keys.ISSUE.key(experiment_id=own_id, issue_id=issue_id))
            if item is not None:
                return own_id, item
        raise missing_error(f"Issue with ID '{issue_id}' not found")

    def update(self, issue_id: str, changes: dict[str, Any]) -> Issue:
        """Change what is not None."""

        def attempt() -> Issue:
            own_id, item = self._find(issue_id)
            sets = {name: value for name, value in changes.items() if value is not None}
            sets |= {"updated": self._context.sources.now_ms(), "revision": item["revision"] + 1}
            key = keys.ISSUE.key(experiment_id=own_id, issue_id=issue_id)
            self._database.write([Update(key, sets, condition={"revision": item["revision"]})])
            return _entity(own_id, {**item, **sets})

        return self._database.retry(attempt)

    def search(
        self,
        experiment_id: str | None,
        filter_string: str | None,
        max_results: int | None,
        page_token: str | None,
        *,
        with_counts: bool,
    ) -> tuple[list[Issue], Any]:
        """One page: the most severe first, then those of the most traces, then the newest."""
        validated_max_results(max_results, allow_none=True)
        size = _PAGE if max_results is None else max_results
        offset = start_offset(page_token)
        scope = (
            self._experiments.ids_in_workspace()
            if experiment_id is None
            else [str(parsed_experiment_id(experiment_id))]
        )
        conditions = _conditions(filter_string)
        issues: list[Issue] = []
        for own_id in scope:
            issues += self._of_experiment(own_id, conditions, with_counts=with_counts)
        issues.sort(key=_order, reverse=True)
        more = len(issues) > offset + size
        token = SearchTraceUtils.create_page_token(offset + size) if more else None
        return issues[offset : offset + size], token

    def _of_experiment(
        self,
        experiment_id: str,
        conditions: Sequence[Callable[[Item], bool]],
        *,
        with_counts: bool,
    ) -> list[Issue]:
        pk = keys.EXPERIMENT.key(experiment_id=experiment_id).pk
        items = [
            item
            for item in self._database.query_prefix(pk, keys.ISSUE.prefix())
            if all(condition(item) for condition in conditions)
        ]
        counts: Counter[str] = Counter()
        if with_counts and items:
            for trace in self._traces.matching_traces(experiment_id, None):
                records = trace.document.assessments.values()
                counts.update({record["name"] for record in records if record["type"] == "issue"})
        return [
            _entity(experiment_id, item, counts[item["issue_id"]] if with_counts else None)
            for item in items
        ]


def _conditions(filter_string: str | None) -> list[Callable[[Item], bool]]:
    parsed: list[dict[str, Any]] = (
        SearchIssuesUtils.parse_search_filter(filter_string) if filter_string else []
    )

    def matches(item: Item, condition: dict[str, Any]) -> bool:
        value = item[condition["key"]]
        return value is not None and COMPARISONS[condition["comparator"]](value, condition["value"])

    return [lambda item, condition=condition: matches(item, condition) for condition in parsed]


def _order(issue: Issue) -> tuple[int, int, int, str]:
    severity = -1 if issue.severity is None else _SEVERITIES[issue.severity.value]
    return severity, issue.trace_count or 0, issue.created_timestamp, issue.issue_id


def _entity(experiment_id: str, item: Item, trace_count: int | None = None) -> Issue:
    severity, causes, categories = item["severity"], item["root_causes"], item["categories"]
    return Issue(
        issue_id=item["issue_id"],
        experiment_id=experiment_id,
        name=item["name"],
        description=item["description"],
        status=IssueStatus(item["status"]),
        severity=IssueSeverity(severity) if severity else None,
        root_causes=json.loads(causes) if causes else None,
        source_run_id=item["source_run_id"],
        categories=json.loads(categories) if categories else None,
        created_timestamp=item["created"],
        last_updated_timestamp=item["updated"],
        created_by=item["created_by"],
        trace_count=trace_count,
    )
