"""Decides what a push or a pull does with each file. Pure.

A file that changed on one side since the last synchronization is transferred or left; one that
changed on both, or that neither side knows from an earlier synchronization, is a conflict.
"""

from dataclasses import dataclass
from enum import StrEnum

from vitrine.models import Wire
from vitrine.transfer.scan import LocalFile
from vitrine.transfer.sync_state import Entry


class Direction(StrEnum):
    PUSH = "push"
    PULL = "pull"


class Action(StrEnum):
    SAME = "same"
    """Nothing to do."""
    UPLOAD = "upload"
    DOWNLOAD = "download"
    ARCHIVE = "archive"
    REMOVE = "remove"
    LEAVE = "leave"
    """The sides differ, in a way that the other direction settles."""
    CONFLICT = "conflict"
    REFUSE = "refuse"
    """A name or a kind of file that the other side cannot have."""


class Step(Wire):
    """The action for one file, and its reason."""

    path: str
    """The path below the folder, with a leading slash."""
    action: Action
    size: int = 0
    reason: str | None = None


@dataclass(frozen=True, kw_only=True)
class Remote:
    """A file of the asset."""

    size: int | None
    version: str | None
    is_archived: bool = False


@dataclass(frozen=True, kw_only=True)
class Pair:
    """A path, and what the folder, the asset and the last synchronization have there."""

    path: str
    local: LocalFile | None
    remote: Remote | None
    """None also for an archived file that the folder does not have either."""
    entry: Entry | None
    blocked: str | None = None
    """Why the folder's file cannot be read or written, though something is there."""

    @property
    def local_changed(self) -> bool:
        local, entry = self.local, self.entry
        if local is None or entry is None:
            return True
        return (local.size, local.modified) != (entry.size, entry.modified)

    @property
    def remote_changed(self) -> bool:
        remote, entry = self.remote, self.entry
        if remote is None or entry is None or remote.version is None:
            return True
        return remote.is_archived or remote.version != entry.version

    @property
    def is_known(self) -> bool:
        """Whether both sides are as at the last synchronization, by size, time and version."""
        return not self.local_changed and not self.remote_changed

    def may_have_same_content(self) -> bool:
        local, remote = self.local, self.remote
        if local is None or remote is None or remote.is_archived:
            return False
        return remote.size is None or remote.size == local.size


@dataclass(frozen=True, kw_only=True)
class Options:
    """`delete` archives or removes files that the source lacks; `force` overwrites conflicts."""

    delete: bool = False
    force: bool = False
    checksum: bool = False
    """Compare the contents of all files, not only of those whose size or time changed."""


def decide(direction: Direction, pair: Pair, options: Options, *, same: bool) -> Step | None:
    """Return what is done with a file, or None if neither side has it.

    `same` means that the contents were compared and are equal.
    """
    if pair.blocked is not None:
        return _step(pair, Action.REFUSE, pair.blocked)
    if same:
        return _step(pair, Action.SAME)
    absent = pair.remote is None or pair.remote.is_archived
    if pair.local is None and absent:
        return None
    if direction is Direction.PUSH:
        return pushed_step(pair, options, absent=absent)
    return pulled_step(pair, options, absent=absent)


def pushed_step(pair: Pair, options: Options, *, absent: bool) -> Step:
    """Return what a push does with a file that one side has; `absent` on the server."""
    if pair.local is None:
        if not options.delete:
            return _step(pair, Action.LEAVE, "only on the server")
        fact = "only on the server, and never synchronized with this folder"
        if pair.entry is not None:
            changed = "deleted in the folder, but changed on the server"
            fact = changed if pair.remote_changed else None
        return _unless_conflict(pair, Action.ARCHIVE, options, fact)
    if absent:
        fact = "is archived on the server" if pair.remote else "was deleted on the server"
        is_new = pair.remote is None and pair.entry is None
        return _unless_conflict(pair, Action.UPLOAD, options, None if is_new else fact)
    if pair.entry is not None and not pair.local_changed:
        return _step(pair, Action.LEAVE, "changed on the server: pull it")
    return _unless_conflict(pair, Action.UPLOAD, options, _both_fact(pair, pair.remote_changed))


def pulled_step(pair: Pair, options: Options, *, absent: bool) -> Step:
    """Return what a pull does with a file that one side has; `absent` on the server."""
    if absent:
        return gone_step(pair, options)
    if pair.local is None:
        return _step(pair, Action.DOWNLOAD)
    if pair.entry is not None and not pair.remote_changed:
        return _step(pair, Action.LEAVE, "changed in the folder: push it")
    return _unless_conflict(pair, Action.DOWNLOAD, options, _both_fact(pair, pair.local_changed))


def gone_step(pair: Pair, options: Options) -> Step:
    """Return what a pull does with a file that only the folder has."""
    if pair.entry is None:
        return _step(pair, Action.LEAVE, "only in the folder")
    if pair.local_changed or not pair.entry.pulled:
        fact = "changed in the folder" if pair.local_changed else "written by no pull"
        return _step(pair, Action.LEAVE, f"no longer on the server, but {fact}")
    action = Action.REMOVE if options.delete else Action.LEAVE
    return _step(pair, action, "no longer on the server")


def _both_fact(pair: Pair, other_changed: bool) -> str | None:
    if pair.entry is None:
        return "differs, and was never synchronized with this folder"
    return "changed in the folder and on the server" if other_changed else None


def _unless_conflict(pair: Pair, action: Action, options: Options, fact: str | None) -> Step:
    if fact is None or options.force:
        return _step(pair, action, fact)
    return _step(pair, Action.CONFLICT, fact)


def _step(pair: Pair, action: Action, reason: str | None = None) -> Step:
    size = pair.local.size if pair.local else (pair.remote.size if pair.remote else None)
    if action is Action.DOWNLOAD and pair.remote:
        size = pair.remote.size
    return Step(path=pair.path, action=action, size=size or 0, reason=reason)
