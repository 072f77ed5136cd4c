"""The order of runs in a result, and the tokens of its pages."""

import base64
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cmp_to_key
from typing import Any

from mlflow.exceptions import MlflowException

from vitrine_mlflow.errors import invalid, page_token_checked
from vitrine_mlflow.mlflow_api import SearchUtils, start_offset
from vitrine_mlflow.search.predicates import Candidate

# A token of another release continues by its offset.
_TOKEN_VERSION = 1
_PRESENT, _NAN, _MISSING = 0, 1, 2


@dataclass(frozen=True)
class Clause:
    """One key of the order."""

    kind: str
    key: str
    ascending: bool

    def needs_summary(self, known_metric: str | None = None) -> bool:
        if self.kind == "metric":
            return self.key != known_metric
        return self.kind != "attribute"

    def value(self, candidate: Candidate) -> tuple[int, Any]:
        """Return the value to compare; missing ones are last in both directions, after NaN."""
        match self.kind:
            case "metric":
                value: Any = candidate.metric(self.key)
            case "parameter":
                value = candidate.read_summary.params.get(self.key)
            case "tag":
                value = candidate.read_summary.tags.get(self.key)
            case _:
                value = candidate.attribute(self.key)
        if value is None:
            return _MISSING, None
        if self.kind == "metric" and math.isnan(value):
            return _NAN, None
        return _PRESENT, value

    def may_have(self, flag: Any, value: Any) -> bool:
        """Return whether `value` returns such a pair for a run."""
        if flag != _PRESENT:
            return flag in (_NAN, _MISSING) and value is None
        if self.kind == "metric":
            return type(value) in {int, float} and not math.isnan(value)
        if SearchUtils.is_numeric_attribute(self.kind, self.key, "="):
            return type(value) is int
        # Surrogates cannot be sent to DynamoDB.
        return isinstance(value, str) and value == value.encode(errors="replace").decode()


class Order:
    """Clauses, then start time descending, then the run's id."""

    def __init__(self, clauses: Sequence[Clause]) -> None:
        self.clauses = list(clauses)
        start = Clause("attribute", "start_time", ascending=False)
        if not any((clause.kind, clause.key) == ("attribute", "start_time") for clause in clauses):
            self.clauses.append(start)

    @property
    def first(self) -> Clause:
        return self.clauses[0]

    def needs_summary(self, known_metric: str | None = None) -> bool:
        return any(clause.needs_summary(known_metric) for clause in self.clauses)

    def prepare(self, candidate: Candidate) -> Candidate:
        """Compute what the order compares, once for each run."""
        candidate.sort_values = [clause.value(candidate) for clause in self.clauses]
        return candidate

    def compare(self, first: Candidate, second: Candidate) -> int:
        return self._compare(
            first.sort_values, first.run.run_id, second.sort_values, second.run.run_id
        )

    def _compare(
        self,
        values: Sequence[Sequence[Any]],
        run_id: str,
        others: Sequence[Sequence[Any]],
        other_id: str,
    ) -> int:
        for clause, (flag, value), (other_flag, other) in zip(
            self.clauses, values, others, strict=True
        ):
            if flag != other_flag:
                return -1 if flag < other_flag else 1
            if flag == _PRESENT and value != other:
                return -1 if (value < other) == clause.ascending else 1
        return (run_id > other_id) - (run_id < other_id)

    def sort(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        return sorted(candidates, key=cmp_to_key(self.compare))

    def is_after(self, candidate: Candidate, position: "Position") -> bool:
        """Whether a run comes after the last one of the page before."""
        if position.values is None or position.run_id is None:
            return True
        compared = self._compare(
            candidate.sort_values, candidate.run.run_id, position.values, position.run_id
        )
        return compared > 0


@dataclass(frozen=True)
class Position:
    """The start of a page: after a run, or after a number of runs for a token of MLflow's store."""

    offset: int = 0
    values: list[list[Any]] | None = None
    run_id: str | None = None

    @property
    def skip(self) -> int:
        """Return the number of results to skip; 0 if the token names the run before the page."""
        return 0 if self.run_id is not None else max(self.offset, 0)


def parse_order(order_by: Sequence[str] | None) -> Order:
    """The order of a search.

    Raises:
        MlflowException: MLflow's parser refuses a clause, or one occurs twice.
    """
    clauses: list[Clause] = []
    for text in order_by or []:
        kind, name, ascending = SearchUtils.parse_order_by_for_search_runs(text)
        key = SearchUtils.translate_key_alias(name)
        known = any(
            accepts(kind, *names)
            for accepts, names in (
                (SearchUtils.is_string_attribute, (key, "=")),
                (SearchUtils.is_numeric_attribute, (key, "=")),
                (SearchUtils.is_metric, ("=",)),
                (SearchUtils.is_tag, ("=",)),
                (SearchUtils.is_param, ("=",)),
            )
        )
        if not known:
            raise invalid(f"Invalid identifier type '{kind}'")
        if any((clause.kind, clause.key) == (kind, key) for clause in clauses):
            raise MlflowException(f"`order_by` contains duplicate fields: {order_by}")
        clauses.append(Clause(kind, key, bool(ascending)))
    return Order(clauses)


def parse_token(token: str | None, order: Order) -> Position:
    """The position that a token holds.

    Raises:
        MlflowException: it is no token, or one of another order.
    """
    offset = start_offset(token)
    if not token:
        return Position()
    content: dict[str, Any] = json.loads(base64.b64decode(token))
    if content.get("version") != _TOKEN_VERSION:
        return Position(offset)
    with page_token_checked():
        values, run_id = content["values"], content["run_id"]
        pairs = zip(order.clauses, values, strict=True)
        if not isinstance(run_id, str) or not all(clause.may_have(*pair) for clause, pair in pairs):
            raise ValueError(values)
    return Position(offset, values, run_id)


def make_token(last: Candidate, offset: int) -> bytes:
    content = {
        "offset": offset,
        "version": _TOKEN_VERSION,
        "values": last.sort_values,
        "run_id": last.run.run_id,
    }
    return base64.b64encode(json.dumps(content).encode())
