"""Search over traces, and over the sessions that they form."""

import base64
import heapq
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cmp_to_key
from itertools import groupby, islice
from typing import Any

from mlflow.entities import TraceInfo
from mlflow.exceptions import MlflowException

from vitrine_mlflow.encoding import iso_time
from vitrine_mlflow.errors import invalid, page_token_checked
from vitrine_mlflow.experiments import Experiments
from vitrine_mlflow.mlflow_api import parsed_experiment_id, start_offset, validated_max_results
from vitrine_mlflow.mlflow_genai import correlation, correlation_result
from vitrine_mlflow.mlflow_traces import (
    COST,
    TOKEN_USAGE,
    SearchTraceUtils,
    completed_session,
    resolved_locations,
)
from vitrine_mlflow.search.trace_filters import (
    Condition,
    TraceFilter,
    covers_session,
    sort_value,
)
from vitrine_mlflow.traces.store import StoredTrace, TraceStore

# Traces that one BatchGetItem reads (decision 59).
_READ = 100
_MORE_KEYS = 20  # so that traces of one time at the end of a page are read with it
_TIME = ("attribute", "timestamp_ms")
_ID = ("attribute", "request_id")
_ISO_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", re.ASCII)


@dataclass(frozen=True)
class TraceOrder:
    """The order of a search: clauses of type, key and direction, ended by time and id."""

    clauses: Sequence[tuple[str, str, bool]]

    @classmethod
    def parse(cls, order_by: Sequence[str] | None) -> "TraceOrder":
        clauses: list[tuple[str, str, bool]] = []
        for text in order_by or []:
            kind, key, ascending = SearchTraceUtils.parse_order_by_for_search_traces(text)
            if kind not in {"attribute", "tag", "request_metadata"}:
                raise invalid(f"Invalid identifier type '{kind}'")
            if kind == "request_metadata" and key in (TOKEN_USAGE, COST):
                raise invalid(
                    f"Ordering by reserved metadata '{key}' is not supported because it is "
                    "represented by multiple columns."
                )
            if any((known, name) == (kind, key) for known, name, _ in clauses):
                raise MlflowException(f"`order_by` contains duplicate fields: {order_by}")
            clauses.append((kind, key, ascending))
        sorted_keys = {(kind, key) for kind, key, _ in clauses}
        ends = [(*_TIME, False), (*_ID, True)]
        return cls([*clauses, *(end for end in ends if end[:2] not in sorted_keys)])

    @property
    def by_time(self) -> bool:
        """Whether the order is that of an index."""
        first, second = self.clauses[:2]
        return first[:2] == _TIME and second == (*_ID, True)

    @property
    def backward(self) -> bool:
        return not self.clauses[0][2]

    def compare(self, trace: StoredTrace, other: StoredTrace) -> int:
        for kind, key, ascending in self.clauses:
            first, second = sort_value(trace, kind, key), sort_value(other, kind, key)
            if first == second:
                continue
            if first is None or second is None:
                return 1 if first is None else -1
            return -1 if (first < second) == ascending else 1
        return 0


@dataclass(frozen=True)
class _Position:
    """The start of a page: after a number of traces, or after the trace with this time and id."""

    offset: int = 0
    time: str | None = None
    trace_id: str = ""

    @classmethod
    def parse(cls, token: str | None) -> "_Position":
        offset = start_offset(token)
        if not token:
            return cls()
        content: dict[str, Any] = json.loads(base64.b64decode(token))
        time, trace_id = content.get("time"), content.get("id", "")
        with page_token_checked():
            if time is not None and not (_ISO_TIME.fullmatch(time) and isinstance(trace_id, str)):
                raise ValueError(time)
        return cls(offset, time, trace_id)

    def token(self) -> str:
        content = {"offset": self.offset, "time": self.time, "id": self.trace_id}
        return base64.b64encode(json.dumps(content).encode()).decode()


@dataclass(frozen=True)
class _Query:
    experiment_ids: Sequence[str]
    filter: TraceFilter
    order: TraceOrder
    position: _Position
    size: int
    sessions: dict[Condition, frozenset[str]] = field(
        default_factory=dict[Condition, frozenset[str]]
    )


class TraceSearch:
    """Finds traces by filter and order."""

    def __init__(self, experiments: Experiments, traces: TraceStore) -> None:
        self._experiments = experiments
        self._traces = traces

    def search(
        self,
        experiment_ids: Sequence[str] | None,
        locations: Sequence[str] | None,
        filter_string: str | None,
        max_results: int,
        order_by: Sequence[str] | None,
        page_token: str | None,
    ) -> tuple[list[TraceInfo], str | None]:
        """One page of traces, and the token of the next."""
        scope = resolved_locations(experiment_ids, locations)
        validated_max_results(max_results)
        order = TraceOrder.parse(order_by)
        parsed = TraceFilter.parse(filter_string)
        position = _Position.parse(page_token)
        query = _Query(self._scope(scope), parsed, order, position, max_results)
        query.sessions.update(self._covered_sessions(query))
        results = self._by_time(query) if order.by_time else self._sort(query)
        # A token has both: pages in the order of time begin after a trace, others after a number of
        # them.
        skip = 0 if order.by_time and position.time else max(position.offset, 0)
        page = list(islice(results, skip, skip + max_results))
        infos = [trace.document.entity(trace.experiment_id, trace.trace_id) for trace in page]
        if len(page) < max_results:
            return infos, None
        last = page[-1]
        offset = position.offset + max_results
        return infos, _Position(offset, iso_time(last.document.time), last.trace_id).token()

    def _scope(self, scope: Iterable[str] | None) -> list[str]:
        if scope is None:
            return self._experiments.ids_in_workspace()
        wanted = dict.fromkeys(str(parsed_experiment_id(experiment_id)) for experiment_id in scope)
        return [experiment_id for experiment_id in wanted if self._experiments.owns(experiment_id)]

    def matching_traces(
        self, experiment_id: str, filter_string: str | None
    ) -> Iterator[StoredTrace]:
        """All traces of an experiment that a filter finds, oldest first."""
        order = TraceOrder.parse(["timestamp_ms ASC"])
        parsed = TraceFilter.parse(filter_string)
        query = _Query([experiment_id], parsed, order, _Position(), _READ)
        query.sessions.update(self._covered_sessions(query))
        return self._by_time(query)

    def _covered_sessions(self, query: _Query) -> dict[Condition, frozenset[str]]:
        """The sessions whose assessments fulfil a condition; all their traces do then."""
        if not query.filter.of_assessments:
            return {}
        sessions_of: dict[Condition, set[str]] = {
            condition: set() for condition in query.filter.of_assessments
        }
        everything = _Query(
            query.experiment_ids, TraceFilter(), query.order, _Position(), query.size
        )
        for stored in self._all(everything):
            for condition, sessions in sessions_of.items():
                if stored.document.session is not None and any(
                    covers_session(record) and condition.matches_assessment(record)
                    for record in stored.document.assessments.values()
                ):
                    sessions.add(stored.document.session)
        return {condition: frozenset(sessions) for condition, sessions in sessions_of.items()}

    def _sort(self, query: _Query) -> Iterator[StoredTrace]:
        return iter(sorted(self._all(query), key=cmp_to_key(query.order.compare)))

    def _all(self, query: _Query) -> Iterator[StoredTrace]:
        whole = _Query(
            query.experiment_ids,
            query.filter,
            TraceOrder.parse(None),
            _Position(),
            _READ,
            query.sessions,
        )
        return self._by_time(whole)

    def _by_time(self, query: _Query) -> Iterator[StoredTrace]:
        keys = self._keys(query)
        # One page at first. If the filter leaves traces out, more are read at a time.
        size = min(query.size, _READ)
        while chunk := list(islice(keys, size)):
            size = _READ
            matching = [
                trace
                for trace in self._traces.read(chunk)
                if query.filter.matches(trace, query.sessions)
            ]
            if not query.filter.of_spans:
                yield from matching
                continue
            for trace, spans in zip(matching, self._traces.spans_of(matching), strict=True):
                if query.filter.matches_spans(spans):
                    yield trace

    def _keys(self, query: _Query) -> Iterator[tuple[str, str]]:
        """Experiments and ids of traces that may match, in the order of time, then id."""
        trace_id = query.filter.value_of(*_ID)
        if trace_id is not None:
            own = self._traces.experiment_of(trace_id)
            # there is one page: a position is after its only trace
            exists = own in query.experiment_ids and query.position.time is None
            return iter([(own, trace_id)] if own and exists else [])
        sources = [
            self._ordered_ids(query, experiment_id) for experiment_id in query.experiment_ids
        ]
        compare = _comparison(query.order.backward)
        merged = heapq.merge(*sources, key=cmp_to_key(compare))
        start = query.position.time
        return (
            (experiment_id, trace_id)
            for time, trace_id, experiment_id in merged
            if start is None or compare((time, trace_id), (start, query.position.trace_id)) > 0
        )

    def _ordered_ids(self, query: _Query, experiment_id: str) -> Iterator[tuple[str, str, str]]:
        earliest, latest = query.filter.times()
        low = "" if earliest is None else iso_time(earliest)
        high = "" if latest is None else f"{iso_time(latest)}~"
        start = query.position.time
        if start is not None:
            low, high = (low, f"{start}~") if query.order.backward else (start, high)
        options = {"backward": query.order.backward, "limit": query.size + _MORE_KEYS}
        name = query.filter.value_of("tag", "mlflow.traceName")
        status = query.filter.value_of("attribute", "status")
        if name is not None:
            ids = self._traces.ids_by_name(experiment_id, name, backward=query.order.backward)
        elif status is not None:
            ids = self._traces.ids_by_status(experiment_id, status, low, high, **options)
        else:
            ids = self._traces.ids_by_time(experiment_id, low, high, **options)
        # Within one time ids ascend in both directions; an index read backward has them descending.
        for time, group in groupby(ids, key=lambda entry: entry[0]):
            for trace_id in sorted(trace_id for _, trace_id in group):
                yield time, trace_id, experiment_id


def _comparison(backward: bool) -> Any:
    def compare(first: tuple[str, ...], second: tuple[str, ...]) -> int:
        if first[0] != second[0]:
            return -1 if (first[0] > second[0]) == backward else 1
        return (first[1] > second[1]) - (first[1] < second[1])

    return compare


def completed_sessions(
    search: TraceSearch,
    experiment_id: str,
    last: tuple[int, int],
    max_results: int | None,
    filter_string: str | None,
) -> list[Any]:
    """Sessions whose last trace is of this range of times and whose first one a filter finds."""
    own_id = str(parsed_experiment_id(experiment_id))
    times: dict[str, list[int]] = {}
    for stored in search.matching_traces(own_id, None):
        if stored.document.session is not None:
            times.setdefault(stored.document.session, []).append(stored.document.time)
    if filter_string:
        firsts = {
            (stored.document.session, stored.document.time)
            for stored in search.matching_traces(own_id, filter_string)
        }
        times = {name: starts for name, starts in times.items() if (name, min(starts)) in firsts}
    ended = sorted(
        (max(starts), name, min(starts))
        for name, starts in times.items()
        if last[0] <= max(starts) <= last[1]
    )
    return [completed_session(name, first, latest) for latest, name, first in ended[:max_results]]


def filter_correlation(
    search: TraceSearch,
    experiments: Experiments,
    experiment_ids: Sequence[str],
    filters: tuple[str, str],
    base_filter: str | None,
) -> Any:
    """The correlation of two filters over the traces of experiments, or those of a third filter."""
    wanted = dict.fromkeys(
        str(parsed_experiment_id(experiment_id)) for experiment_id in experiment_ids
    )
    combined = [
        f"{base_filter} and {filter_string}" if base_filter else filter_string
        for filter_string in filters
    ]
    for text in combined:
        TraceFilter.parse(text)  # refused also where there is no experiment to read
    scope = experiments.existing_of(list(wanted))

    def found(filter_string: str | None) -> set[str]:
        return {
            trace.trace_id for own in scope for trace in search.matching_traces(own, filter_string)
        }

    first, second = map(found, combined)
    total = len(found(base_filter))
    joint = len(first & second)
    result = correlation((joint, len(first), len(second), total))
    return correlation_result(
        npmi=result.npmi,
        npmi_smoothed=result.npmi_smoothed,
        filter1_count=len(first),
        filter2_count=len(second),
        joint_count=joint,
        total_count=total,
    )
