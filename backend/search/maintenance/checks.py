"""Compares all documents with their sources, a window per step, and repairs lasting differences.

Changes are made all the time, so a difference is only suspected at first. After a grace period of
twice the lag, the suspects are compared again, and those that still differ *in the same way* are
counted: if the source has changed meanwhile, another update is in progress. So writers need not
pause during a check.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import ceil

from pydantic import Field

from backend.core.clock import Clock, iso
from backend.core.models import WireModel
from backend.core.references import FileKeyRef
from backend.search.indexing.rebuild import Rebuilder
from backend.search.maintenance.comparison import (
    DIGEST_CHARS,
    Compared,
    Comparer,
    Difference,
    Drift,
    Names,
)
from backend.search.maintenance.typed_files import TypedFiles
from backend.search.maintenance.walk import EVERYTHING, START, Position, Scope, SourceWalk

# Suspects after which the walk pauses to check them again: their digests of eight characters take
# 80 kB of the job's row (decision 29), of DynamoDB's 400 kB an item.
MOST_SUSPECTS = 10_000
# Examples of each kind of difference that a check returns; they are in the job's row. All
# differences are counted.
MOST_EXAMPLES = 10


class Example(WireModel):
    """A search document that differs from the stored data."""

    drift: Drift
    document_id: str
    database_id: str
    asset_id: str
    key: str | None = None


class Counts(WireModel):
    """The numbers that a walk has found so far."""

    documents: int = 0
    missing: int = 0
    stale: int = 0
    extra: int = 0
    refused: int = 0
    unreadable: int = 0
    repaired: int = 0
    oldest_at: str | None = None
    """The time of the oldest change that is not in the index, if it is known."""
    examples: list[Example] = Field(default_factory=list[Example])

    @property
    def drift(self) -> int:
        return self.missing + self.stale + self.extra


class CheckState(WireModel):
    """The progress of a walk, as stored in the cursor of a job.

    `again` is the progress of the second comparison, while there is one; `suspects` are the digests
    of the documents to compare, from `suspects_after` on.
    """

    at: list[str] = Field(default_factory=list[str])
    counts: Counts = Field(default_factory=Counts)
    suspects: str = ""
    suspects_after: list[str] | None = None
    suspected_at: str | None = None
    again: list[str] | None = None
    walked: bool = False
    finished: bool = False

    @property
    def position(self) -> Position:
        return Position(*self.at) if self.at else START


@dataclass(frozen=True, slots=True)
class Stepped:
    """The state after a step, the number of documents covered, and the delay of the next step."""

    state: CheckState
    items: int = 0
    wait_seconds: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """The settings of a walk.

    `names` are the indexes that are compared. With `at_once`, all differing documents are rebuilt
    when they are found, without a second comparison, because a needless rebuild does no harm. With
    `repairs`, they are rebuilt after that comparison. With `types`, rows of assets that lack files
    with a primary type are corrected: of all files, or of those written after `types_since`.
    """

    names: Names
    scope: Scope = EVERYTHING
    at_once: bool = False
    repairs: bool = False
    types: bool = False
    types_since: datetime | None = None


@dataclass(eq=False, repr=False)
class Checker:
    walk: SourceWalk
    comparer: Comparer
    rebuilder: Rebuilder
    types: TypedFiles
    grace_seconds: int
    clock: Clock

    def step(self, check: Check, state: CheckState) -> Stepped:
        """Process the next window.

        Raises:
            UnavailableError: a service is unavailable; the same step can be repeated.
            StoredVersionAheadError: the ticket counter was reset and must be corrected first.
        """
        state = state.model_copy(deep=True)
        if state.again is not None:
            return self._compare_again(check, state, Position(*state.again))
        compared = self._compare_window(check, state.position)
        if compared is None:
            state.walked = True
            return self._start_second_comparison(state)
        if check.types:
            self.types.correct(compared.files, check.types_since)
        before = state.position
        state.at = list(compared.upto)
        state.counts.documents += compared.documents
        state.counts.refused += compared.refused
        state.counts.unreadable += compared.unreadable
        if check.at_once:
            self._count(state.counts, compared.differences, None)
            state.counts.repaired += self._repair(compared.differences)
            return Stepped(state, compared.documents)
        if compared.differences:
            state.suspects += "".join(item.digest for item in compared.differences)
            state.suspects_after = state.suspects_after or list(before)
            state.suspected_at = iso(self.clock())
            if len(state.suspects) >= MOST_SUSPECTS * DIGEST_CHARS:
                second = self._start_second_comparison(state)
                return Stepped(second.state, compared.documents, second.wait_seconds)
        return Stepped(state, compared.documents)

    def _compare_window(self, check: Check, after: Position) -> Compared | None:
        def find_next(database_id: str) -> str | None:
            return self.comparer.next_database(check.names, database_id)

        window = self.walk.window(after, check.scope, named=find_next)
        return None if window is None else self.comparer.compare(window, check.names)

    def _start_second_comparison(self, state: CheckState) -> Stepped:
        """Start to compare the suspects again, once the grace period is over.

        Continue if there are none.
        """
        if state.suspects_after is None or state.suspected_at is None:
            state.finished = state.walked
            return Stepped(state)
        state.again = state.suspects_after
        due = moment(state.suspected_at) + timedelta(seconds=self.grace_seconds)
        return Stepped(state, 0, max(0, ceil((due - self.clock()).total_seconds())))

    def _compare_again(self, check: Check, state: CheckState, after: Position) -> Stepped:
        """Compare one window again, up to the position of the walk."""
        compared = None if after >= state.position else self._compare_window(check, after)
        if compared is not None:
            starts = range(0, len(state.suspects), DIGEST_CHARS)
            known = {state.suspects[start : start + DIGEST_CHARS] for start in starts}
            confirmed = [item for item in compared.differences if item.digest in known]
            self._count(state.counts, confirmed, state.suspected_at)
            if check.repairs:
                state.counts.repaired += self._repair(confirmed)
            state.again = list(compared.upto)
            if compared.upto < state.position:
                return Stepped(state)
        state.again = state.suspects_after = state.suspected_at = None
        state.suspects = ""
        state.finished = state.walked
        return Stepped(state)

    def _repair(self, differences: Iterable[Difference]) -> int:
        references = {difference.reference for difference in differences}
        self.rebuilder.rebuild(references)
        return len(references)

    def _count(
        self, counts: Counts, differences: Iterable[Difference], suspected_at: str | None
    ) -> None:
        for difference in differences:
            setattr(counts, difference.drift, getattr(counts, difference.drift) + 1)
            since = self._since(difference, suspected_at or iso(self.clock()))
            counts.oldest_at = min(counts.oldest_at or since, since)
            listed = sum(example.drift == difference.drift for example in counts.examples)
            if listed < MOST_EXAMPLES:
                counts.examples.append(_example(difference))

    def _since(self, difference: Difference, suspected_at: str) -> str:
        """Return when the change was made that the index does not contain.

        This is known for missing documents only; for others it is the time when the walk found
        them.
        """
        if isinstance(difference.since, datetime):
            return iso(difference.since)
        try:
            return iso(moment(difference.since or suspected_at))
        except ValueError:
            return suspected_at


def _example(difference: Difference) -> Example:
    reference = difference.reference
    key = reference.key if isinstance(reference, FileKeyRef) else None
    return Example(
        drift=difference.drift,
        document_id=difference.id,
        database_id=reference.database_id,
        asset_id=reference.asset_id,
        key=key,
    )


def moment(text: str) -> datetime:
    parsed = datetime.fromisoformat(text)
    return parsed if parsed.tzinfo is not None else parsed.replace(tzinfo=UTC)
