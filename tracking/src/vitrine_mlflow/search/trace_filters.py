"""The conditions of a search over traces, as MLflow's own store decides them."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from vitrine_mlflow.comparisons import COMPARISONS
from vitrine_mlflow.errors import invalid
from vitrine_mlflow.mlflow_traces import (
    COST,
    LINKED_PROMPTS,
    NAME_TAG,
    SESSION,
    SOURCE_RUN,
    TOKEN_USAGE,
    SearchTraceUtils,
)
from vitrine_mlflow.traces.document import TraceDocument, number_of
from vitrine_mlflow.traces.spans import StoredSpan
from vitrine_mlflow.traces.store import StoredTrace

# A span may begin before its trace by the clocks of two machines.
_CLOCK_SKEW_MS = 10_000


def _contains(text: str, expression: str) -> bool:
    try:
        return re.search(expression, text) is not None
    except re.error:
        return False


_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {**COMPARISONS, "RLIKE": _contains}


@dataclass(frozen=True)
class Condition:
    """One condition of a filter."""

    kind: str  # attribute, tag, request_metadata, span, feedback, expectation, issue
    key: str
    comparator: str
    value: Any

    @property
    def of_assessments(self) -> bool:
        return self.kind in {"feedback", "expectation"}

    def matches(self, stored: StoredTrace, sessions: frozenset[str]) -> bool:
        """Whether a trace fulfils it; `sessions` are those that an assessment covers."""
        document = stored.document
        if self.kind == "issue":
            issues = (
                assessment
                for assessment in document.assessments.values()
                if assessment["type"] == "issue"
            )
            return any(assessment["name"] == self.value for assessment in issues)
        if self.of_assessments:
            matching = any(map(self.matches_assessment, document.assessments.values()))
            covered = matching or document.session in sessions
            return not covered if self.comparator == "IS NULL" else covered
        if self.kind == "attribute":
            return _compare(_ATTRIBUTES[self.key](stored), self.comparator, self.value)
        if self.kind == "tag" and self.key == LINKED_PROMPTS:
            return self.value in document.prompts
        if self.kind == "request_metadata" and (self.key, self.comparator) == (SOURCE_RUN, "="):
            run_ids = (*document.runs, document.metadata.get(SOURCE_RUN))
            return self.value in run_ids
        return self._matches_entry(_entries(document, self.kind))

    def _matches_entry(self, entries: Mapping[str, Any]) -> bool:
        if self.comparator == "IS NULL":
            return self.key not in entries
        if self.comparator == "IS NOT NULL":
            return self.key in entries
        return _compare(entries.get(self.key), self.comparator, self.value)

    def matches_assessment(self, record: Mapping[str, Any]) -> bool:
        """Whether an assessment has the name and the value."""
        if (record["type"], record["name"], record["valid"]) != (self.kind, self.key, True):
            return False
        text: str = record["value"]
        match self.comparator:
            case "IS NULL" | "IS NOT NULL":
                return True
            case "<" | "<=" | ">" | ">=":
                number = json.loads(text)
                is_number = not isinstance(number, (bool, str)) and number_of(number) is not None
                return is_number and _COMPARISONS[self.comparator](number, float(self.value))
            case "=":
                return text in (self.value, json.dumps(self.value))
            case "!=":
                return text not in (self.value, json.dumps(self.value))
            case comparator:
                return _compare(text, comparator, self.value)

    def matches_span(self, span: StoredSpan) -> bool:
        if not self.key.startswith("attributes."):
            attribute = getattr(span, self.key)
            return _compare(attribute, self.comparator, self.value)
        name = self.key.removeprefix("attributes.").strip("`")
        pattern = f'%"{name}"{self.value}%'
        if self.comparator == "RLIKE":
            pattern = _attribute_expression(name, self.value)
        return _compare(span.content, self.comparator, pattern)


@dataclass(frozen=True)
class TraceFilter:
    """All conditions of a search; those on spans must hold for one span together."""

    conditions: Sequence[Condition] = ()
    of_spans: Sequence[Condition] = ()
    spans_from: float | None = field(default=None)  # nanoseconds

    @classmethod
    def parse(cls, text: str | None) -> "TraceFilter":
        """Parse a filter.

        Raises:
            MlflowException: MLflow's parser, or a type's comparators, refuse it.
        """
        parsed = [
            _condition(condition)
            for condition in SearchTraceUtils.parse_search_filter_for_search_traces(text)
        ]
        starts = [
            condition.value
            for condition in parsed
            if (condition.kind, condition.key) == ("attribute", "timestamp_ms")
            and condition.comparator in {">", ">="}
        ]
        return cls(
            [condition for condition in parsed if condition.kind != "span"],
            [condition for condition in parsed if condition.kind == "span"],
            (max(starts) - _CLOCK_SKEW_MS) * 1_000_000 if starts else None,
        )

    @property
    def of_assessments(self) -> list[Condition]:
        return [condition for condition in self.conditions if condition.of_assessments]

    def matches(self, stored: StoredTrace, sessions: Mapping[Condition, frozenset[str]]) -> bool:
        """Whether all conditions hold, apart from those on spans."""
        nothing: frozenset[str] = frozenset()
        return all(
            condition.matches(stored, sessions.get(condition, nothing))
            for condition in self.conditions
        )

    def matches_spans(self, spans: Sequence[StoredSpan]) -> bool:
        return any(
            all(condition.matches_span(span) for condition in self.of_spans)
            for span in spans
            if self.spans_from is None or span.start >= self.spans_from
        )

    def value_of(self, kind: str, key: str) -> Any:
        """The value that an equality requires, if there is one."""
        for condition in self.conditions:
            if (condition.kind, condition.key, condition.comparator) == (kind, key, "="):
                return condition.value
        return None

    def times(self) -> tuple[int | None, int | None]:
        """The range of times outside which no trace matches."""
        bounds = [
            (condition.comparator, int(condition.value))
            for condition in self.conditions
            if (condition.kind, condition.key) == ("attribute", "timestamp_ms")
        ]
        low = [value for comparator, value in bounds if comparator in {">", ">=", "="}]
        high = [value for comparator, value in bounds if comparator in {"<", "<=", "="}]
        return max(low, default=None), min(high, default=None)


def covers_session(record: Mapping[str, Any]) -> bool:
    """Whether an assessment is one of its trace's whole session."""
    return SESSION in (record["metadata"] or {})


def _condition(parsed: dict[str, Any]) -> Condition:
    kind, key, comparator = parsed["type"], parsed["key"], parsed["comparator"].upper()
    condition = Condition(kind, key, comparator, parsed["value"])
    accepted = (
        SearchTraceUtils.is_issue(kind, key, comparator)
        or SearchTraceUtils.is_attribute(kind, key, comparator)
        or SearchTraceUtils.is_tag(kind, comparator)
        or SearchTraceUtils.is_request_metadata(kind, comparator)
        or SearchTraceUtils.is_span(kind, key, comparator)
        or SearchTraceUtils.is_assessment(kind, key, comparator)
    )
    if not accepted:
        raise invalid(f"Invalid search expression type '{kind}'")
    if kind == "tag" and key == LINKED_PROMPTS:
        _require_prompt(condition)
    is_reserved = kind == "request_metadata" and key in (TOKEN_USAGE, COST)
    if is_reserved and condition.comparator not in {"=", "!=", "IS NULL", "IS NOT NULL"}:
        raise invalid(
            f"Comparator '{condition.comparator}' is not supported for reserved metadata "
            f"'{key}'. Only '=', '!=', 'IS NULL', and 'IS NOT NULL' are supported."
        )
    return condition


def _require_prompt(condition: Condition) -> None:
    if condition.comparator != "=":
        raise invalid(
            f"Invalid comparator '{condition.comparator}' for prompts filter. "
            "Only '=' is supported with format: prompt = \"name/version\""
        )
    if condition.value.count("/") != 1:
        raise invalid(
            f"Invalid prompts filter value '{condition.value}'. "
            'Expected format: prompt = "name/version"'
        )


def _entries(document: TraceDocument, kind: str) -> Mapping[str, Any]:
    if kind == "tag":
        return document.all_tags()
    return document.all_metadata()


_ATTRIBUTES: dict[str, Callable[[StoredTrace], Any]] = {
    "request_id": lambda trace: trace.trace_id,
    "timestamp_ms": lambda trace: trace.document.time,
    "execution_time_ms": lambda trace: trace.document.duration,
    "end_time_ms": lambda trace: trace.document.time + (trace.document.duration or 0),
    "status": lambda trace: trace.document.state,
    "experiment_id": lambda trace: int(trace.experiment_id),
    "client_request_id": lambda trace: trace.document.client_request_id,
}


def sort_value(stored: StoredTrace, kind: str, key: str) -> Any:
    """Return the value that a search orders a trace by; None is last in both directions."""
    if kind == "attribute":
        return _ATTRIBUTES[key](stored)
    if (kind, key) == ("tag", NAME_TAG):
        return stored.document.name
    return _entries(stored.document, kind).get(key)


def _compare(attribute: Any, comparator: str, wanted: Any) -> bool:
    # SQL: a comparison with nothing is not true
    return attribute is not None and _COMPARISONS[comparator](attribute, wanted)


def _attribute_expression(name: str, value: str) -> str:
    """An expression for the text of a value inside the JSON of its span."""
    before = '"\\\\"' if value.startswith("^") else '"\\\\".*'
    after = '\\\\"' if value.endswith("$") else ""
    return f'"{name}": {before}{value.removeprefix("^").removesuffix("$")}{after}'
