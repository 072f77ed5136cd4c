"""Reads runs and their summaries for a search, many a request."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from vitrine_mlflow import keys
from vitrine_mlflow.database import Database, Range
from vitrine_mlflow.encoding import double_of, invert
from vitrine_mlflow.expressions import Item
from vitrine_mlflow.full_text import RunNames
from vitrine_mlflow.keys import Key
from vitrine_mlflow.runs import run_of_item
from vitrine_mlflow.search.predicates import Candidate
from vitrine_mlflow.summaries import DETAILS, METRICS, later_keys, summary_key, summary_of
from vitrine_mlflow.table import LSI5, SORT_KEY, Index

_READ_ALL_FROM = 400  # so many summaries cost fewer requests as one range of the partition


class RunReader:
    """Reads the runs of one experiment for searches."""

    def __init__(self, database: Database, experiment_id: str) -> None:
        self._database = database
        self._experiment_id = experiment_id
        self._pk = keys.EXPERIMENT.key(experiment_id=experiment_id).pk

    def indexed_rows(
        self, index: Index, wanted: Range, *, backward: bool, page: int
    ) -> Iterator[tuple[str, Candidate]]:
        """Runs of a local index, each with its key there."""
        items = self._database.query(self._pk, wanted, index=index, backward=backward, limit=page)
        for item in items:
            if item[SORT_KEY].startswith("R#"):  # traces are in the same indexes
                yield item[index.sk], Candidate(run_of_item(item))

    def by_primary_metric(
        self, key: str, wanted: Range, *, backward: bool, page: int
    ) -> Iterator[tuple[str, Candidate]]:
        """Runs by the metric that the index holds."""
        for sort_key, candidate in self.indexed_rows(LSI5, wanted, backward=backward, page=page):
            encoded = sort_key.partition("#")[0]
            candidate.known_metric = (key, double_of(encoded))
            yield encoded, candidate

    def by_rank(
        self, wanted: Range, *, backward: bool, page: int
    ) -> Iterator[tuple[str, tuple[str, float]]]:
        """Run ids by a metric's rank rows, with the metric's value."""
        for item in self._database.query(self._pk, wanted, backward=backward, limit=page):
            fields = keys.METRIC_RANK.sk.parse(item[SORT_KEY]) or {}
            rank = fields["inverted_value"]
            yield rank, (fields["run_id"], double_of(invert(rank)))

    def by_param(self, start: str) -> Iterator[str]:
        """Run ids by the start of a param's rank key."""
        for item in self._database.query_prefix(self._pk, start):
            yield item[SORT_KEY].rpartition("#")[2]

    def named_like(self, comparator: str, pattern: str) -> set[str] | None:
        """Run ids by full-text rows of names, None if these select too little."""
        return RunNames(self._database, self._experiment_id).like(comparator, pattern)

    def runs(self, run_ids: Iterable[str]) -> dict[str, Candidate]:
        """Runs of this experiment by id; what does not exist is left out."""
        wanted = [
            keys.RUN.key(experiment_id=self._experiment_id, run_id=run_id)
            for run_id in run_ids
            if run_id
        ]
        items = self._database.get_many(wanted)
        return {
            candidate.run.run_id: candidate
            for candidate in (Candidate(run_of_item(item)) for item in items.values())
        }

    def load_all(self, candidates: Sequence[Candidate]) -> None:
        """Read summaries, all of the experiment's if many are wanted."""
        missing = [candidate for candidate in candidates if candidate.summary is None]
        if len(missing) < _READ_ALL_FROM:
            load_summaries(self._database, missing)
            return
        items: dict[str, list[Item]] = {}
        for item in self._database.query_prefix(self._pk, keys.SUMMARY.prefix()):
            fields = keys.SUMMARY.sk.parse(item[SORT_KEY]) or {}
            items.setdefault(fields["run_id"], []).append(item)
        for candidate in missing:
            candidate.summary = summary_of(items.get(candidate.run.run_id, []))


def load_summaries(database: Database, candidates: Iterable[Candidate]) -> None:
    """Read the summaries of runs, 50 runs a request, and the rest of long ones after that."""
    missing = [candidate for candidate in candidates if candidate.summary is None]
    firsts: dict[str, list[Key]] = {}
    for candidate in missing:
        run = candidate.run
        firsts[run.run_id] = [
            summary_key(run.experiment_id, run.run_id, kind) for kind in (METRICS, DETAILS)
        ]
    stored = database.get_many(key for pair in firsts.values() for key in pair)
    later: dict[str, list[Key]] = {}
    for candidate in missing:
        run = candidate.run
        later[run.run_id] = [
            key
            for kind, first in zip((METRICS, DETAILS), firsts[run.run_id], strict=True)
            for key in later_keys(run.experiment_id, run.run_id, kind, stored.get(first))
        ]
    wanted = [key for chain in later.values() for key in chain]
    stored |= database.get_many(wanted) if wanted else {}
    for candidate in missing:
        own = [*firsts[candidate.run.run_id], *later[candidate.run.run_id]]
        items: list[dict[str, Any]] = [stored[key] for key in own if key in stored]
        candidate.summary = summary_of(items)
