"""The online reindex: new indexes beside the old ones, filled, compared, then read instead of them.

Phases of one job, each step repeatable:

    reserve → create → fill → verify → read → keep → drop

From `create` on, every live rebuild writes to both pairs, because its ticket names both. The walk
of `fill` starts after that, and reads after taking its own tickets, so the rebuild with the highest
ticket of each document has read every change, before or after the walk. Searches do not use the new
indexes until `verify` has found no difference. Until the end of `keep`, a cancellation undoes
everything, because the old indexes were written all the time. After `keep`, the old indexes are no
longer written.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from pydantic import Field

from backend.core.clock import Clock, iso
from backend.core.errors import StateForbidsError, UnavailableError
from backend.core.models import WireModel
from backend.core.search_engine import SearchEngine
from backend.domains.jobs.models import Job, Progress
from backend.search.indexing.indexes import create_index
from backend.search.indexing.rebuild import Rebuilder, StoredVersionAheadError
from backend.search.indexing.state import Pointer, PointerHeldError, SearchState, pointer_to
from backend.search.maintenance.checks import Check, Checker, CheckState, Counts, moment
from backend.search.maintenance.comparison import Comparer
from backend.search.maintenance.walk import EVERYTHING, START, Position, SourceWalk
from backend.spec.search_indexes import ASSET_INDEX, FILE_INDEX, SEARCH_INDEXES

Phase = Literal["reserve", "create", "fill", "verify", "read", "keep", "drop", "removeNew"]
# Rounds of `verify` that may find differences and rebuild them, before the job fails (decision 29).
# Changes during a round are written to both pairs, so further rounds find what keeps failing.
MOST_ROUNDS = 5
# Time until written documents can be found: OpenSearch refreshes an index each second by default.
_REFRESH_SECONDS = 2
# Maximum time that `keep` waits before it checks for a cancellation again: `SEARCH_KEEP_SECONDS` is
# a day by default.
_LOOK_SECONDS = 60


class ReindexDiffersError(StateForbidsError):
    """The new indexes still differ from the stored data."""

    code = "ReindexDiffers"

    def __init__(self, counts: Counts) -> None:
        super().__init__(
            f"The new indexes still differ after {MOST_ROUNDS} rounds: {counts.missing} "
            f"documents missing, {counts.stale} outdated, {counts.extra} unexpected; find "
            "what keeps failing, then resume"
        )


class ReindexState(WireModel):
    """The progress of a reindex, as stored in the cursor of its job."""

    phase: Phase = "reserve"
    old_assets: str = ""
    old_files: str = ""
    number: int = 0
    at: list[str] = Field(default_factory=list[str])
    check: CheckState | None = None
    rounds: int = 0
    until: str | None = None

    @property
    def position(self) -> Position:
        return Position(*self.at) if self.at else START

    @property
    def old(self) -> Pointer:
        return Pointer(self.old_assets, (self.old_assets,), self.old_files, (self.old_files,))

    @property
    def new(self) -> Pointer:
        return pointer_to(self.number)

    @property
    def new_names(self) -> Mapping[str, str]:
        return {index.alias: self.new.current(index) for index in SEARCH_INDEXES}


@dataclass(frozen=True, slots=True)
class _Stepped:
    """The state after a step, the number of documents built, and the delay of the next step."""

    state: ReindexState
    items: int = 0
    wait_seconds: int = 0
    finished: bool = False
    problems: tuple[str, ...] = ()


@dataclass(eq=False, repr=False)
class ReindexStep:
    """The step of a job of the kind `reindexSearch`.

    `keep_seconds` is how long both pairs are written after searches have switched; `grace_seconds`
    is how long a writer may still write to an index that its ticket names.
    """

    engine: SearchEngine
    state: SearchState
    walk: SourceWalk
    checker: Checker
    comparer: Comparer
    rebuilder: Rebuilder
    keep_seconds: int
    grace_seconds: int
    clock: Clock

    def __call__(self, job: Job) -> Progress:
        """Do the next step.

        Raises:
            PointerHeldError: another reindex is running.
            ReindexDiffersError: the new indexes differ from the sources.
            UnavailableError: a service is unavailable; the step is repeated.
        """
        state = ReindexState.model_validate(job.cursor)
        try:
            done = self._undo(job, state) if job.undo else self._next(job, state)
        except StoredVersionAheadError as error:
            raise UnavailableError(error.message) from error
        return Progress(
            done.state.model_dump(by_alias=True, exclude_none=True),
            items=done.items,
            finished=done.finished,
            wait_seconds=done.wait_seconds,
            problems=done.problems,
            undone=done.state.phase == "removeNew",
        )

    def _next(self, job: Job, state: ReindexState) -> _Stepped:
        if state.phase == "drop":
            return self._drop(state, state.old)
        if state.phase == "removeNew":
            return self._drop(state, state.new)
        steps: Mapping[str, Callable[[Job, ReindexState], _Stepped]] = {
            "reserve": self._reserve,
            "create": self._create,
            "fill": self._fill,
            "verify": self._verify,
            "read": self._read,
            "keep": self._wait_for_end,
        }
        return steps[state.phase](job, state)

    def _reserve(self, job: Job, state: ReindexState) -> _Stepped:  # noqa: ARG002 - as all
        """Reserve names that were never used."""
        pointer = self.state.pointer()
        state.old_assets, state.old_files = pointer.assets_read, pointer.files_read
        # A new number: remains of an aborted reindex are not reused.
        state.number = self.state.new_number()
        state.phase = "create"
        return _Stepped(state)

    def _create(self, job: Job, state: ReindexState) -> _Stepped:
        old, new = state.old, state.new
        # Before documents are built: others may get the fields that were freed.
        self.comparer.free_geo_keys({index.alias: old.current(index) for index in SEARCH_INDEXES})
        refused: tuple[str, ...] = ()
        for index in SEARCH_INDEXES:
            refused += create_index(self.engine, new.current(index), index)
        # Named only now: the indexes must exist before writers receive their names.
        both = Pointer(
            old.assets_read,
            (*old.assets_write, *new.assets_write),
            old.files_read,
            (*old.files_write, *new.files_write),
        )
        self.state.change_pointer_once(job.job_id, old, both, number=state.number)
        state.phase = "fill"
        return _Stepped(state, problems=refused)

    def _fill(self, job: Job, state: ReindexState) -> _Stepped:  # noqa: ARG002 - likewise
        """Build a window into the new indexes."""
        names = {index.alias: state.old.current(index) for index in SEARCH_INDEXES}

        def find_next(database_id: str) -> str | None:
            return self.comparer.next_database(names, database_id)

        window = self.walk.window(state.position, EVERYTHING, named=find_next)
        if window is None:
            state.phase, state.at = "verify", []
            return _Stepped(state, wait_seconds=_REFRESH_SECONDS)
        only = frozenset(state.new_names.values())
        # Without settling: each change settles separately, after the lag, and either wrote to both
        # pairs, or was complete before this walk read.
        self.rebuilder.rebuild(window.references, settles=(), only=only)
        state.at = list(window.upto)
        return _Stepped(state, len(window.references))

    def _verify(self, job: Job, state: ReindexState) -> _Stepped:  # noqa: ARG002 - likewise
        """Compare the new indexes with the sources, until a walk finds no difference."""
        check = Check(names=state.new_names, repairs=True)
        stepped = self.checker.step(check, state.check or CheckState())
        state.check = stepped.state
        if not stepped.state.finished:
            return _Stepped(state, wait_seconds=stepped.wait_seconds)
        counts = stepped.state.counts
        state.check = None
        if not counts.drift:
            state.phase = "read"
            return _Stepped(state)
        state.rounds += 1
        if state.rounds >= MOST_ROUNDS:
            raise ReindexDiffersError(counts)
        summary = f"verify, round {state.rounds}: {counts.drift} documents were rebuilt"
        return _Stepped(state, wait_seconds=_REFRESH_SECONDS, problems=(summary,))

    def _read(self, job: Job, state: ReindexState) -> _Stepped:
        """Switch searches to the new indexes, by one write."""
        old, new = state.old, state.new
        switched = Pointer(
            new.assets_read,
            (*old.assets_write, *new.assets_write),
            new.files_read,
            (*old.files_write, *new.files_write),
        )
        # The pointer first: writers and searches use it. Aliases are for other programs.
        self.state.move_pointer(job.job_id, switched)
        self._point_aliases(new)
        state.phase = "keep"
        state.until = iso(self.clock() + timedelta(seconds=self.keep_seconds))
        return _Stepped(state, wait_seconds=min(self.keep_seconds, _LOOK_SECONDS))

    def _wait_for_end(self, job: Job, state: ReindexState) -> _Stepped:
        left = (moment(state.until or iso(self.clock())) - self.clock()).total_seconds()
        if left > 0:
            return _Stepped(state, wait_seconds=min(int(left) + 1, _LOOK_SECONDS))
        if not self.state.finish_pointer_changes(job.job_id, state.new):
            raise PointerHeldError
        state.phase = "drop"
        return _Stepped(state, wait_seconds=self.grace_seconds)

    def _undo(self, job: Job, state: ReindexState) -> _Stepped:
        """Undo the reindex: the old indexes remain, the new ones are removed."""
        if state.phase in {"drop", "removeNew"}:
            return self._next(job, state)
        if state.phase == "reserve":
            return _Stepped(state.model_copy(update={"phase": "removeNew"}), finished=True)
        # First: a worker whose lease has expired cannot switch to an index that is removed below.
        self.state.discard_number(state.number)
        held = self.state.moved_by() == job.job_id
        if not self.state.finish_pointer_changes(job.job_id, state.old):
            if self.state.pointer() == state.new:  # the old ones are outdated
                late = "the reindex could no longer be cancelled"
                state.phase = "drop"
                return _Stepped(state, wait_seconds=self.grace_seconds, problems=(late,))
            held = False  # the job never changed the pointer
        if held:
            self._point_aliases(state.old)
        state.phase = "removeNew"
        return _Stepped(state, wait_seconds=self.grace_seconds)

    def _drop(self, state: ReindexState, left: Pointer) -> _Stepped:
        """Remove a pair of indexes that is neither written nor read."""
        pointer = self.state.pointer()
        for index in (ASSET_INDEX, FILE_INDEX):
            name = left.current(index)
            if name and name not in {pointer.current(index), *pointer.targets(index)}:
                self.engine.drop_index(name)
        return _Stepped(state, finished=True)

    def _point_aliases(self, pointer: Pointer) -> None:
        for index in SEARCH_INDEXES:
            self.engine.point_alias(index.alias, pointer.current(index))
