"""Follows a folder: a file that was saved, and has settled, is pushed as a new version.

Nothing is archived or removed. A file that also changed on the server is reported, not overwritten.
"""

import stat
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Final

from vitrine.errors import VitrineError
from vitrine.transfer.ignoring import IGNORE_FILE, ignores_path, read_ignores
from vitrine.transfer.names import compose_name
from vitrine.transfer.report import Status
from vitrine.transfer.sync_plan import Action, Direction, Options, Step
from vitrine.transfer.syncing import Plan, Sync

# A program that saves a large file writes it in pieces.
SETTLE_SECONDS: Final = 3.0
RETRY_SECONDS: Final = 30.0

Changes = Iterable[Collection[Path]]
"""Paths that changed, again and again; an empty collection when nothing did for a moment."""


@dataclass(frozen=True)
class _Seen:
    facts: tuple[int, int]
    """The size and the time of the last change."""
    due: float


@dataclass
class _Settling:
    """Files that changed, until their size and time have not changed for some seconds."""

    clock: Callable[[], float]
    files: dict[Path, _Seen] = field(default_factory=dict[Path, _Seen])

    def add(self, path: Path, *, after: float = SETTLE_SECONDS) -> None:
        try:
            facts = path.lstat()
            if stat.S_ISDIR(facts.st_mode):
                # A folder that was moved here: there are no events for its files.
                for child in path.iterdir():
                    self.add(child, after=after)
            elif stat.S_ISREG(facts.st_mode):
                seen = _Seen((facts.st_size, facts.st_mtime_ns), self.clock() + after)
                self.files[path] = seen
        except OSError:  # moved or deleted meanwhile
            self.files.pop(path, None)

    def take_settled(self) -> list[Path]:
        now = self.clock()
        for path, seen in [*self.files.items()]:
            try:
                facts = path.lstat()
            except OSError:
                del self.files[path]
                continue
            if (facts.st_size, facts.st_mtime_ns) != seen.facts:
                self.add(path)
        settled = [path for path, seen in self.files.items() if seen.due <= now]
        for path in settled:
            del self.files[path]
        return settled


def watch(
    sync: Sync, changes: Changes, *, clock: Callable[[], float] = time.monotonic
) -> Iterator[Step]:
    """Push the folder, then each file that settles; yield what happened to each file.

    An upload that fails is tried again after 30 seconds.

    Raises:
        OSError: the folder cannot be listed, or was removed or replaced.
        VitrineError: the asset cannot be listed at the start.
    """
    root = sync.folders.root.resolve()
    settling = _Settling(clock)
    identity = _identity(root)
    # Followed before it is listed: what is saved during the first push is among the changes.
    changes = iter(changes)
    first = next(changes, ())
    yield from _push(sync, sync.plan(Direction.PUSH, Options()), settling)
    for changed in chain([first], changes):
        # The system reports changes of the folder that was here at the start, and of no other.
        if _identity(root) != identity:
            raise FileNotFoundError(f"the folder {root} was removed or replaced")
        if root / IGNORE_FILE in changed:
            try:
                sync.ignores = read_ignores(root)
            except VitrineError as error:  # saved halfway: the earlier patterns hold
                path = f"/{IGNORE_FILE}"
                yield Step(path=path, action=Action.REFUSE, reason=str(error))
        for path in changed:
            if not ignores_path(sync.ignores, _below(root, path)):
                settling.add(path)
        settled = settling.take_settled()
        if not settled:
            continue
        try:
            yield from _push(sync, sync.plan_files(settled), settling)
        except VitrineError as error:
            for path in settled:
                settling.add(path, after=RETRY_SECONDS)
                yield Step(path=_below(root, path), action=Action.REFUSE, reason=str(error))


def _push(sync: Sync, plan: Plan, settling: _Settling) -> Iterator[Step]:
    """Run the plan; yield a step for each file that is stored, and for each that is not."""
    yield from plan.of(Action.CONFLICT, Action.REFUSE)
    outcomes = {outcome.key: outcome for outcome in sync.run(plan).files}
    for step in plan.of(Action.UPLOAD):
        outcome = outcomes.get(sync.folders.key(step.path))
        if outcome is None or outcome.status is Status.UPLOADED:
            yield step
            continue
        yield step.model_copy(update={"action": Action.REFUSE, "reason": outcome.reason})
        local = plan.pairs[step.path].local
        if local is not None and outcome.status is Status.FAILED:
            settling.add(local.path, after=RETRY_SECONDS)


def _identity(root: Path) -> tuple[int, int] | None:
    try:
        facts = root.stat()
    except OSError:
        return None
    return facts.st_dev, facts.st_ino


def _below(root: Path, path: Path) -> str:
    return compose_name(f"/{path.relative_to(root).as_posix()}")
