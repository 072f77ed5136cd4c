"""Chooses how the runs of one experiment are found, and yields them in the order of the result."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice, repeat
from typing import Any, TypeVar

from vitrine_mlflow import keys
from vitrine_mlflow.database import Range
from vitrine_mlflow.encoding import invert, iso_time, ordered_double
from vitrine_mlflow.mlflow_api import MLFLOW_RUN_NAME
from vitrine_mlflow.ownership import ranked_value
from vitrine_mlflow.runs import indexed_name, name_start
from vitrine_mlflow.search.orders import Order, Position
from vitrine_mlflow.search.predicates import Candidate, Predicate
from vitrine_mlflow.search.reading import RunReader
from vitrine_mlflow.table import LSI1, LSI3, LSI4, Index

_T = TypeVar("_T")
_Keyed = tuple[str, _T]
_MAX_SELECTED = 1_000  # more rows of a filter's index than this cost more than a whole read
_STATUSES = ("FAILED", "FINISHED", "KILLED", "RUNNING", "SCHEDULED")
_LAST = "\U0010ffff"


@dataclass(frozen=True)
class Query:
    """A search in one experiment."""

    predicates: Sequence[Predicate]
    order: Order
    stages: frozenset[str]
    page: int  # how many results are wanted; None of them may come from before `position`
    position: Position
    primary: str | None  # the metric of LSI5
    names_indexed: bool  # whether the names of all runs have full-text rows

    def find(self, kind: str, key: str, *comparators: str) -> Predicate | None:
        """The first condition of a kind on a key with one of these comparators."""
        for predicate in self.predicates:
            is_on_key = (predicate.kind, predicate.key) == (kind, key)
            if is_on_key and predicate.comparator in comparators:
                return predicate
        return None


class Plan:
    """Executes a search in one experiment."""

    def __init__(self, reader: RunReader, query: Query) -> None:
        self._reader = reader
        self._query = query

    def results(self) -> Iterator[Candidate]:
        """Matching runs after the position, in order."""
        selected = self._select_rows()
        if selected is not None:
            yield from self._settle(selected)
            return
        first = self._query.order.first
        match first.kind, first.key:
            case "attribute", "start_time":
                yield from self._by_start(ascending=first.ascending)
            case "attribute", "run_name":
                yield from self._by_name(ascending=first.ascending)
            case "attribute", "status":
                yield from self._by_status(ascending=first.ascending)
            case "metric", _:
                yield from self._by_metric(first.key, ascending=first.ascending)
            case _:
                yield from self._settle(list(self._all()))

    # Runs that an equality selects: few, so they are read whole and sorted.

    def _select_rows(self) -> list[Candidate] | None:
        query = self._query
        by_id = query.find("attribute", "run_id", "=", "IN")
        if by_id is not None:
            wanted = [by_id.value] if by_id.comparator == "=" else list(by_id.value)
            return list(self._reader.runs(wanted).values())
        by_name = query.find("tag", MLFLOW_RUN_NAME, "=")
        if by_name is not None:
            # With the separator: names that only begin with this one are excluded.
            wanted_names = Range.of_prefix(f"{indexed_name(by_name.value)}#")
            rows = self._reader.indexed_rows(LSI4, wanted_names, backward=False, page=self._rows)
            # Too many rows: another order or filter may be served by an index without reading all.
            found_rows = _at_most(candidate for _, candidate in rows)
            if found_rows is not None:
                return found_rows
        by_text = query.find("tag", MLFLOW_RUN_NAME, "LIKE", "ILIKE")
        # Only if all runs of the experiment have rows; otherwise some would be missing (decision
        # 70).
        if by_text is not None and query.names_indexed:
            named = self._reader.named_like(by_text.comparator, by_text.value)
            if named is not None:
                return list(self._reader.runs(named).values())
        for predicate in query.predicates:
            if predicate.kind == "parameter" and predicate.comparator == "=":
                start = keys.PARAM_RANK.prefix(key=predicate.key)
                rank = f"{start}{ranked_value(predicate.key, predicate.value)}#"
                run_ids = _at_most(self._reader.by_param(rank))
                if run_ids is not None:
                    return list(self._reader.runs(run_ids).values())
        return None

    def _all(self) -> Iterator[Candidate]:
        for stage in sorted(self._query.stages):
            wanted = Range.of_prefix(f"{stage.upper()}#")
            rows = self._reader.indexed_rows(LSI1, wanted, backward=True, page=self._rows * 4)
            yield from (candidate for _, candidate in rows)

    @property
    def _rows(self) -> int:
        # One more answers whether another page follows, one more has equal values at the end.
        return self._query.page + 2

    # Orders that an index serves.

    def _by_start(self, *, ascending: bool) -> Iterator[Candidate]:
        status = self._query.find("attribute", "status", "=")
        if status is not None:
            ranges = self._start_ranges(f"{status.value}#", ascending=ascending)
            yield from self._settled_rows(self._in_ranges(LSI3, ranges, ascending=ascending))
            return
        rows = [
            self._in_ranges(
                LSI1, self._start_ranges(f"{stage.upper()}#", ascending=ascending),
                ascending=ascending,
            )
            for stage in sorted(self._query.stages)
        ]  # fmt: skip
        yield from self._settled_rows(_merge_rows(rows, ascending=ascending))

    def _start_ranges(self, prefix: str, *, ascending: bool) -> list[Range]:
        """The times to read, those of runs without one last."""
        low, high = "0", _LAST
        for predicate in self._query.predicates:
            if (predicate.kind, predicate.key) == ("attribute", "start_time"):
                bound = iso_time(int(predicate.value))
                if predicate.comparator in {">", ">=", "="}:
                    low = max(low, bound)
                if predicate.comparator in {"<", "<=", "="}:
                    high = min(high, iso_time(int(predicate.value) + 1) + _LAST)
        after = self._after()
        if after is not None and after[0] == 0:
            bound = iso_time(after[1])
            low, high = (max(low, bound), high) if ascending else (low, min(high, bound + _LAST))
        timed = [] if low > high else [Range(prefix + low, prefix + high)]
        # `-` sorts before every digit, but runs without a time are last in both directions.
        return [*timed, Range(prefix + "-", prefix + "-" + _LAST)]

    def _after(self) -> list[Any] | None:
        """The value of the order's first key at the end of the page before."""
        values = self._query.position.values
        return None if values is None else values[0]

    def _in_ranges(
        self, index: Index, ranges: Iterable[Range], *, ascending: bool
    ) -> Iterator[_Keyed[Candidate]]:
        for wanted in ranges:
            rows = self._reader.indexed_rows(index, wanted, backward=not ascending, page=self._rows)
            for sort_key, candidate in rows:
                yield sort_key.split("#")[1], candidate

    def _by_name(self, *, ascending: bool) -> Iterator[Candidate]:
        wanted, after = Range("\0", _LAST), self._after()
        if after is not None:
            start = name_start(indexed_name(str(after[1] or "")))
            wanted = Range(start, _LAST) if ascending else Range("\0", start + _LAST)
        rows = self._reader.indexed_rows(LSI4, wanted, backward=not ascending, page=self._rows)
        yield from self._settled_rows(
            (name_start(sort_key.rpartition("#")[0]), candidate) for sort_key, candidate in rows
        )

    def _by_status(self, *, ascending: bool) -> Iterator[Candidate]:
        statuses = _STATUSES if ascending else _STATUSES[::-1]
        after = self._after()
        second = self._query.order.clauses[1]
        # the rows of a status are in this order only; for any other, all of them are sorted
        newest_first = (second.key, second.ascending) == ("start_time", False)
        for status in statuses:
            if after is not None and status != after[1] and (status < str(after[1])) == ascending:
                continue  # the pages before had all of these
            rows = self._reader.indexed_rows(
                LSI3, Range.of_prefix(f"{status}#"), backward=True, page=self._rows
            )
            yield from self._settled_rows(
                (sort_key.split("#")[1] if newest_first else status, candidate)
                for sort_key, candidate in rows
            )

    def _by_metric(self, key: str, *, ascending: bool) -> Iterator[Candidate]:
        ranked: set[str] = set()
        rows = (
            self._primary_rows(key, ascending=ascending)
            if key == self._query.primary
            else self._rank_rows(key, ascending=ascending)
        )
        yield from self._settled_rows(rows)
        if any(
            (predicate.kind, predicate.key) == ("metric", key)
            for predicate in self._query.predicates
        ):
            return  # a run without the metric matches no condition on it
        ranked = self._with_metric(key)
        # Runs without the metric are last, as MLflow's own store sorts them.
        unranked = [result for result in self._all() if result.run.run_id not in ranked]
        yield from self._settle(unranked)

    def _with_metric(self, key: str) -> set[str]:
        if key == self._query.primary:
            everything = Range("0", _LAST)
            rows = self._reader.by_primary_metric(key, everything, backward=False, page=10_000)
            return {candidate.run.run_id for _, candidate in rows}
        everything = Range.of_prefix(keys.METRIC_RANK.prefix(key=key))
        ranks = self._reader.by_rank(everything, backward=False, page=10_000)
        return {run_id for _, (run_id, _) in ranks}

    def _bounds(self, key: str, *, ascending: bool) -> tuple[str, str]:
        """The lowest and highest encoded value that conditions and position allow."""
        low, high = "0" * 16, "f" * 16
        for predicate in self._query.predicates:
            if (predicate.kind, predicate.key) == ("metric", key):
                bound = ordered_double(predicate.value)
                if predicate.comparator in {">", ">=", "="}:
                    low = max(low, bound)
                if predicate.comparator in {"<", "<=", "="}:
                    high = min(high, bound)
        after = self._after()
        if after is not None:
            if after[0] != 0:
                return "1", "0"  # the page before ended behind all numbers
            bound = ordered_double(float(str(after[1])))
            low, high = (max(low, bound), high) if ascending else (low, min(high, bound))
        return low, high

    def _may_be_nan(self, key: str) -> bool:
        return not any(
            (predicate.kind, predicate.key) == ("metric", key) and predicate.comparator != "!="
            for predicate in self._query.predicates
        )

    def _primary_rows(self, key: str, *, ascending: bool) -> Iterator[_Keyed[Candidate]]:
        low, high = self._bounds(key, ascending=ascending)
        # `~` sorts after every digit: NaN is last in both directions.
        ranges = [Range("~", _LAST)] if self._may_be_nan(key) else []
        if low <= high:
            ranges.insert(0, Range(low, high + _LAST))
        for wanted in ranges:
            yield from self._reader.by_primary_metric(
                key, wanted, backward=not ascending, page=self._rows
            )

    def _rank_rows(self, key: str, *, ascending: bool) -> Iterator[_Keyed[Candidate]]:
        low, high = self._bounds(key, ascending=ascending)
        prefix = keys.METRIC_RANK.prefix(key=key)
        # NaN is last here, too; the other ranks are inverted, so that the highest value is first.
        ranges = [Range(prefix + "~", prefix + _LAST)] if self._may_be_nan(key) else []
        if low <= high:
            first, last = invert(high), invert(low)
            ranges.insert(0, Range(prefix + first, prefix + last + _LAST))
        for wanted in ranges:
            rows = self._reader.by_rank(wanted, backward=ascending, page=self._rows)
            # after a full page one more run answers whether another page follows, if the row after
            # it has another value
            sizes = chain((self._query.page, 2), repeat(self._query.page))
            while chunk := list(islice(rows, next(sizes))):
                runs = self._reader.runs(run_id for _, (run_id, _) in chunk)
                for encoded, (run_id, value) in chunk:
                    if run_id in runs:
                        runs[run_id].known_metric = (key, value)
                        yield encoded, runs[run_id]

    # From candidates to results.

    def _settled_rows(self, rows: Iterable[_Keyed[Candidate]]) -> Iterator[Candidate]:
        """Results of rows in the order of the first key; rows with an equal one are sorted."""
        pending: list[Candidate] = []
        last: str | None = None
        size, later = self._query.page, 1  # one more answers whether another page follows
        for sort_key, candidate in rows:
            if len(pending) >= size and sort_key != last:
                yield from self._settle(pending)
                pending, size, later = [], later, max(later, self._query.page) * 2
            pending.append(candidate)
            last = sort_key
        yield from self._settle(pending)

    def _settle(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """Apply every condition, then sort; summaries are read only if something needs them."""
        query = self._query
        known = candidates[0].known_metric[0] if candidates and candidates[0].known_metric else None
        left = [result for result in candidates if result.run.info["stage"] in query.stages]
        later: list[Predicate] = []
        for predicate in query.predicates:
            # Conditions on the run's own item first: they may leave few runs whose summaries are
            # read.
            if predicate.needs_summary(known):
                later.append(predicate)
            else:
                left = [result for result in left if predicate.matches(result)]
        if later or query.order.needs_summary(known):
            self._reader.load_all(left)
        left = [result for result in left if all(predicate.matches(result) for predicate in later)]
        prepared = [query.order.prepare(result) for result in left]
        position = query.position
        return query.order.sort(
            [result for result in prepared if query.order.is_after(result, position)]
        )


def _at_most(rows: Iterator[_T]) -> list[_T] | None:
    selected = list(islice(rows, _MAX_SELECTED + 1))
    return None if len(selected) > _MAX_SELECTED else selected


def _merge_rows(
    sources: Sequence[Iterator[_Keyed[Candidate]]], *, ascending: bool
) -> Iterator[_Keyed[Candidate]]:
    """Sorted sources as one. No time, written `-`, comes last in both directions."""
    waiting = [(row, source) for source in sources if (row := next(source, None)) is not None]
    while waiting:
        timed = [pair for pair in waiting if pair[0][0] != "-"] or waiting
        chosen = (min if ascending else max)(timed, key=lambda pair: pair[0][0])
        waiting.remove(chosen)
        yield chosen[0]
        row = next(chosen[1], None)
        if row is not None:
            waiting.append((row, chosen[1]))
