"""The steps that move a folder: its files by the rules of the move of one file, then its markers.

A file is recorded in the job's cursor with its version before anything is written, and again once
its copy is complete, before the source is hidden. So wherever a step ends, the next one completes
or removes the same copies.
"""

from collections.abc import Set
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from backend.core.errors import RevisionConflictError, UnavailableError, VitrineError
from backend.core.file_kinds import preview_base
from backend.core.objects import ObjectHead, Objects
from backend.core.parallel import in_parallel
from backend.domains.files import rules
from backend.domains.files.errors import ChangeEndedError
from backend.domains.files.models import ChangeCursor, FileChange
from backend.domains.files.service.lookup import FileLookup
from backend.domains.files.service.rows import FileTarget
from backend.domains.files.service.transfers import Transfers
from backend.domains.files.service.work import Endings, Work, continue_at
from backend.domains.jobs.models import MAX_PROBLEMS, Progress

FOLDER_TYPE = "application/x-directory"
# Objects that one step begins to move. A step takes about a second, as in a request it must.
OBJECTS = 25
# Files that the problems of the job name; the last problem summarizes the rest.
_NAMED = MAX_PROBLEMS - 1


class _FileStep(NamedTuple):
    """The result of a step for one file: it is moved, has a next cursor, or cannot be moved.

    With none of these, its move was cancelled.
    """

    path: str
    cursor: ChangeCursor | None = None
    problem: str | None = None
    is_moved: bool = False


@dataclass(eq=False, repr=False)
class FolderMoves:
    lookup: FileLookup
    objects: Objects
    transfers: Transfers
    endings: Endings
    batch: int = OBJECTS

    def move(self, work: Work) -> Progress:
        """Continue to move a folder within its asset."""
        cursor, is_cancelled = work.cursor, work.job.undo
        steps = in_parallel(partial(self._advance, work), list((cursor.files or {}).items()))
        if not any(step.cursor for step in steps) and not cursor.listed and not is_cancelled:
            begun, after = self._begin(work)
            steps += begun
            cursor = cursor.model_copy(update={"after": after, "listed": after is None})
        problems = [step.problem for step in steps if step.problem is not None]
        files = {step.path: step.cursor for step in steps if step.cursor is not None}
        changes = {"files": files or None, "left": cursor.left + len(problems)}
        cursor = cursor.model_copy(update=changes)
        moved = [step.path for step in steps if step.is_moved]
        paths = [*moved, *(_target_path(work, path) for path in moved)]
        named = tuple(problems[: max(0, _NAMED - len(work.job.problems))])
        if files or not (cursor.listed or is_cancelled) or self._move_markers(work):
            self.endings.request_documents(work, paths)
            return continue_at(cursor, items=len(moved), problems=named)
        left = cursor.left - _NAMED
        if is_cancelled:
            named += (f"The move was cancelled: the other files remain in {work.target.path}",)
        elif left > 0:
            named += (f"Number of other files that remain in {work.target.path}: {left}",)
        return self.endings.finish(
            work._replace(cursor=cursor), paths, items=len(moved), problems=named
        )

    def _begin(self, work: Work) -> tuple[list[_FileStep], str | None]:
        """Examine the next files; return them and their last key, or None if there are no more."""
        page = self.objects.list_objects(
            work.target.bucket, work.target.key, limit=self.batch, after=work.cursor.after
        )
        keys = [item.key for item in page.objects if not item.key.endswith("/")]
        steps = in_parallel(partial(self._begin_file, work, frozenset(keys)), keys)
        return [step for step in steps if step is not None], page.next_key

    def _begin_file(self, work: Work, keys: Set[str], key: str) -> _FileStep | None:
        """Return None for a preview, which is moved with its file."""
        place = FileTarget(work.asset, work.target.bucket, work.target.prefix, key)
        base = preview_base(key)
        if base in keys:
            return None
        if base is not None:
            has_file = isinstance(self.objects.head(place.bucket, base), ObjectHead)
            problem = f"{place.path}: is a preview without its file"
            return None if has_file else _FileStep(place.path, problem=problem)
        try:
            target = self.lookup.destination(work.asset, _target_path(work, place.path))
            head = self.lookup.readable(place)
            self.lookup.require_unused_name(target)
        except UnavailableError:
            raise
        except VitrineError as error:
            return _FileStep(place.path, problem=f"{place.path}: {error.message}")
        return _FileStep(place.path, ChangeCursor(version_id=head.version.version_id))

    def _advance(self, work: Work, begun: tuple[str, ChangeCursor]) -> _FileStep:
        """Carry out the next part of the move of a file.

        Raises:
            ChangeEndedError: another worker has the job.
            UnavailableError: the step can be repeated later.
        """
        path, cursor = begun
        target_path = _target_path(work, path)
        change = FileChange(operation="moveFile", path=path, target_path=target_path)
        key = work.target.prefix + path.removeprefix("/")
        place = FileTarget(work.asset, work.target.bucket, work.target.prefix, key)
        file = Work(work.job, change, cursor, place)
        try:
            if work.job.undo and not cursor.withdrawing:
                self._remove_copy(file)
                return _FileStep(path)
            following = self.transfers.advance_move(file)
        except (ChangeEndedError, UnavailableError):
            raise
        except RevisionConflictError as error:  # the files of a step may all record their types
            raise UnavailableError(error.message) from error
        except VitrineError as error:
            if cursor.withdrawing:
                problem = f"{path}: was copied to {target_path}, but not removed: {error.message}"
            else:
                self._remove_copy(file)
                problem = f"{path}: {error.message}"
            return _FileStep(path, problem=problem)
        return _FileStep(path, following, is_moved=following is None)

    def _remove_copy(self, file: Work) -> None:
        self.endings.require_unfinished(file)  # another worker may have completed it
        self.transfers.remove_incomplete(file)

    def _move_markers(self, work: Work) -> bool:
        """Move markers of folders in which no file is left; return whether there may be more.

        Of a cancelled move, all remain.
        """
        if work.job.undo:
            return False
        keys: list[str] = []
        after: str | None = None
        while True:
            page = self.objects.list_objects(work.target.bucket, work.target.key, after=after)
            keys += [item.key for item in page.objects]
            after = page.next_key
            if after is None:
                break
        used: set[str] = set()
        previous: str | None = None
        for key in keys:
            if not key.endswith("/"):
                used.update(rules.rows_of(work.target.prefix, previous, key))
                previous = key
        markers = [key for key in keys if key.endswith("/") and key not in used][-self.batch :]
        if markers:
            self.endings.require_unfinished(work)
        for key in reversed(markers):  # some stores refuse to delete a folder with others in it
            path = rules.relative_path(work.target.prefix, key)
            moved = work.target.prefix + _target_path(work, path).removeprefix("/")
            if not isinstance(self.objects.head(work.target.bucket, moved), ObjectHead):
                metadata = rules.metadata_of_copy({}, work.mark)
                self.objects.put(
                    work.target.bucket, moved, b"", content_type=FOLDER_TYPE, metadata=metadata
                )
            self.objects.delete(work.target.bucket, key)
        return len(markers) == self.batch


def _target_path(work: Work, path: str) -> str:
    """Return the path to which a file or folder of the moved folder is moved."""
    return (work.change.target_path or "") + path.removeprefix(work.change.path)
