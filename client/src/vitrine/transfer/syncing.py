"""Makes a folder and an asset, or a folder of it, alike, in one direction.

The plan compares what the folder and the asset have now with what both had after the last
synchronization. Contents are compared only where size, time and version do not decide. Each file is
recorded when it is done, so a run after an interruption continues with the others.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from vitrine.client import Vitrine
from vitrine.errors import NotFoundError, UnsafePathError, VitrineError
from vitrine.models import AssetIds, FileInfo, FileItem
from vitrine.quoting import quote_text
from vitrine.transfer.content import is_whole_object, same_content, sha256_of
from vitrine.transfer.downloading import Downloads, target_of
from vitrine.transfer.ignoring import ignores_path, read_ignores
from vitrine.transfer.importing import LISTING_PAGE, upload_files
from vitrine.transfer.names import compose_name, shown
from vitrine.transfer.opening import Settings
from vitrine.transfer.report import FileOutcome, Observer, Report, Silent, Status
from vitrine.transfer.scan import LocalFile, Problem, scan_files, scan_one
from vitrine.transfer.sync_plan import (
    Action,
    Direction,
    Options,
    Pair,
    Remote,
    Step,
    decide,
)
from vitrine.transfer.sync_state import Entry, SyncState

# More deletions than this number, or than this part of the files, are confirmed first.
MANY_DELETIONS: Final = 50
LARGE_PART: Final = 0.1
DELETIONS: Final = frozenset({Action.ARCHIVE, Action.REMOVE})


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The steps of a run, one for each file."""

    direction: Direction
    steps: Sequence[Step]
    pairs: Mapping[str, Pair]
    total: int
    """The number of files of the side that deletions would change."""
    unreadable: bool = False
    """Whether something in the folder could not be read."""

    def of(self, *actions: Action) -> list[Step]:
        return [step for step in self.steps if step.action in actions]

    @property
    def needs_confirmation(self) -> bool:
        """Whether it deletes more than 50 files or 10 % of them."""
        count = len(self.of(*DELETIONS))
        return count > MANY_DELETIONS or count > LARGE_PART * self.total


@dataclass(frozen=True, kw_only=True)
class Folders:
    """A folder on the disk, and an asset or a folder of it: `path` is empty or `/parts`."""

    root: Path
    asset: AssetIds
    path: str = ""

    def key(self, path: str) -> str:
        """Return the path in the asset of a path below both."""
        return self.path + path

    def place(self, key: str) -> Path:
        """Return the path on the disk for a path in the asset.

        Raises:
            UnsafePathError: it would be outside the folder.
        """
        if not key.startswith(f"{self.path}/"):
            raise UnsafePathError(f"the path {quote_text(key)} is not below {self.path}")
        return target_of(self.root, key.removeprefix(self.path))


@dataclass(kw_only=True)
class Sync:
    """Plans and runs; `state_folder` is where the state of the last synchronization is."""

    client: Vitrine
    folders: Folders
    state_folder: Path
    jobs: int = 8
    observer: Observer = field(default_factory=Silent)
    settings: Settings | None = None
    state: SyncState = field(init=False)
    ignores: Callable[[str], bool] = field(init=False)

    def __post_init__(self) -> None:
        folders = self.folders
        names = (self.client.api_url, *folders.asset, folders.path, str(folders.root.resolve()))
        self.state = SyncState(self.state_folder, names)
        self.ignores = read_ignores(folders.root)

    def plan(self, direction: Direction, options: Options) -> Plan:
        """Compare the whole folder with the asset.

        Raises:
            OSError: the folder cannot be listed, or the state cannot be written.
            VitrineError: the asset cannot be listed.
        """
        local, problems = scan_one(self.folders.root, self.ignores)
        remote, refused = self.list_remote_files()
        known = (path for path in self.state.entries if path not in local and path not in remote)
        gone = [path for path in known if not ignores_path(self.ignores, path)]
        pairs = self._pairs([*{**local, **remote}, *gone], local, remote, problems)
        total = len(local)
        if direction is Direction.PUSH:
            total = sum(not file.is_archived for file in remote.values())
        refused += self._refuse(problems, pairs)
        plan = self._plan(direction, options, pairs, refused, total)
        return replace(plan, unreadable=any(problem.unreadable for problem in problems))

    def plan_files(self, paths: Iterable[Path]) -> Plan:
        """Compare some files of the folder, for a push that archives nothing."""
        local, problems = scan_files(self.folders.root, paths, self.ignores)
        remote = {path: file for path in local if (file := self._find(path))}
        pairs = self._pairs(local, local, remote, ())
        refused = self._refuse(problems, pairs)
        return self._plan(Direction.PUSH, Options(), pairs, refused, len(local))

    def _refuse(self, problems: Sequence[Problem], pairs: Sequence[Pair]) -> list[Step]:
        """Return a step for each problem whose pair is not refused by itself."""
        blocked = {pair.path for pair in pairs if pair.blocked}
        return [
            Step(path=path, action=Action.REFUSE, reason=problem.reason)
            for problem in problems
            if (path := _below(self.folders.root, problem.path)) not in blocked
        ]

    def _plan(
        self,
        direction: Direction,
        options: Options,
        pairs: Sequence[Pair],
        refused: Sequence[Step],
        total: int,
    ) -> Plan:
        same = self._compare(pairs, options)
        steps = [*refused]
        for pair in pairs:
            is_known = pair.is_known and not options.checksum
            step = decide(direction, pair, options, same=is_known or same.get(pair.path, False))
            if step is None:
                self.state.record(pair.path, None)
                continue
            if step.action is Action.DOWNLOAD:
                step = self.check_download(pair, step)
            steps.append(step)
        return Plan(
            direction=direction,
            steps=sorted(steps, key=lambda step: step.path),
            pairs={pair.path: pair for pair in pairs},
            total=total,
        )

    def run(self, plan: Plan) -> Report:
        """Carry out the plan, and report on each file that it transfers, archives or removes."""
        outcomes = [
            *self._upload(plan),
            *self.download(plan),
            *(self._archive(plan.pairs[step.path]) for step in plan.of(Action.ARCHIVE)),
            *(self._remove(plan.pairs[step.path]) for step in plan.of(Action.REMOVE)),
        ]
        self.state.compact()
        return Report(files=tuple(outcomes))

    def list_remote_files(self) -> tuple[dict[str, Remote], list[Step]]:
        """Return the files of the asset by path, and those whose names a folder cannot have."""
        listed: Iterable[FileItem] = self.client.files.list(
            *self.folders.asset,
            prefix=f"{self.folders.path}/" if self.folders.path else None,
            # With archived files the list has versions, which one request for each file would cost.
            include_archived=True,
            basic=True,
            page_size=LISTING_PAGE,
        )
        files: dict[str, Remote] = {}
        refused: list[Step] = []
        for item in listed:
            path = item.relative_path.removeprefix(self.folders.path)
            if item.is_folder or ignores_path(self.ignores, path):
                continue
            if compose_name(path) != path:
                fact = "the name on the server is not in composed Unicode form (NFC)"
                refused.append(Step(path=shown(path), action=Action.REFUSE, reason=fact))
                continue
            files[path] = _remote(item)
        return files, refused

    def _find(self, path: str) -> Remote | None:
        try:
            return _remote(self.client.files.info(*self.folders.asset, self.folders.key(path)))
        except NotFoundError:
            return None

    def _pairs(
        self,
        paths: Iterable[str],
        local: Mapping[str, LocalFile],
        remote: Mapping[str, Remote],
        problems: Sequence[Problem],
    ) -> list[Pair]:
        blocked = {_below(self.folders.root, problem.path): problem.reason for problem in problems}

        def reason(path: str) -> str | None:
            """Return why the file, or a folder that it is in, cannot be read."""
            if path in local or not blocked:
                return None
            parts = path.split("/")
            above = ("/".join(parts[:count]) for count in range(2, len(parts) + 1))
            return next((blocked[name] for name in above if name in blocked), None)

        return [
            Pair(
                path=path,
                local=local.get(path),
                remote=remote.get(path),
                entry=self.state.entries.get(path),
                # Not absent, but unreadable: nothing that the server has is archived for it.
                blocked=reason(path),
            )
            for path in paths
        ]

    def _compare(self, pairs: Sequence[Pair], options: Options) -> dict[str, bool]:
        """Compare contents where sizes are equal, and record the files that are alike."""
        doubtful = [
            pair
            for pair in pairs
            if pair.may_have_same_content() and (options.checksum or not pair.is_known)
        ]
        if not doubtful:
            return {}
        with ThreadPoolExecutor(self.jobs, thread_name_prefix="vitrine-compare") as pool:
            same = list(pool.map(self._has_same_content, doubtful))
        return {pair.path: is_same for pair, is_same in zip(doubtful, same, strict=True)}

    def _has_same_content(self, pair: Pair) -> bool:
        local, entry = pair.local, pair.entry
        if local is None:
            return False
        try:
            if entry and not pair.remote_changed and is_whole_object(entry.checksum):
                version, checksum = entry.version, sha256_of(local.path)
                is_same = checksum == entry.checksum
            else:
                info = self.client.files.info(*self.folders.asset, self.folders.key(pair.path))
                version, checksum = info.version_id, info.checksum_sha256
                etag = info.etag
                is_same = info.size == local.size and bool(
                    same_content(local.path, local.size, checksum=checksum, etag=etag)
                )
        except (VitrineError, OSError):
            return False  # reported, with its reason, when the file is transferred
        if is_same:
            self.state.record(
                pair.path,
                Entry(
                    size=local.size,
                    modified=local.modified,
                    version=version,
                    checksum=checksum,
                    pulled=bool(entry and entry.pulled),
                ),
            )
        return is_same

    def check_download(self, pair: Pair, step: Step) -> Step:
        """Return the step of a download, unless the folder cannot have the file."""
        try:
            place = self.folders.place(self.folders.key(pair.path))
            if pair.local is None and _is_taken(place):
                fact = "the folder has something else of that name"
                return step.model_copy(update={"action": Action.CONFLICT, "reason": fact})
        except (UnsafePathError, OSError) as error:
            return step.model_copy(update={"action": Action.REFUSE, "reason": str(error)})
        return step

    def _upload(self, plan: Plan) -> list[FileOutcome]:
        pairs = [plan.pairs[step.path] for step in plan.of(Action.UPLOAD)]
        if not pairs:
            return []
        files = [
            LocalFile(path=pair.local.path, key=self.folders.key(pair.path), size=pair.local.size)
            for pair in pairs
            if pair.local is not None
        ]
        self.observer.planned(files=len(files), size=sum(file.size for file in files))
        with ThreadPoolExecutor(self.jobs, thread_name_prefix="vitrine-record") as pool:

            def record(outcomes: Sequence[FileOutcome]) -> None:
                done = [outcome for outcome in outcomes if outcome.status is Status.UPLOADED]
                for _ in pool.map(self._record_upload, done):
                    pass

            return upload_files(
                self.client,
                *self.folders.asset,
                files,
                jobs=self.jobs,
                observer=self.observer,
                settings=self.settings,
                done=record,
            )

    def _record_upload(self, outcome: FileOutcome) -> None:
        """Record an uploaded file with its version, which the reply to an upload does not have."""
        key = outcome.key or ""
        version: str | None = None
        try:
            info = self.client.files.info(*self.folders.asset, key)
            # Another one may have been stored since.
            if (info.size, info.checksum_sha256) == (outcome.size, outcome.checksum):
                version = info.version_id
        except VitrineError:
            version = None  # the next run compares the contents
        self._record(outcome, version, pulled=False)

    def _record(self, outcome: FileOutcome, version: str | None, *, pulled: bool) -> None:
        entry = Entry(
            size=outcome.size,
            modified=outcome.modified or 0,
            version=version,
            checksum=outcome.checksum,
            pulled=pulled,
        )
        self.state.record((outcome.key or "").removeprefix(self.folders.path), entry)

    def download(self, plan: Plan) -> Sequence[FileOutcome]:
        """Download the files of a plan, and record each when it is there."""
        pairs = {
            self.folders.key(step.path): plan.pairs[step.path] for step in plan.of(Action.DOWNLOAD)
        }

        def place(key: str) -> Path:
            target, pair = self.folders.place(key), pairs.get(key)
            # On the disk the name may be in another Unicode form.
            return pair.local.path if pair and pair.local else target

        def check(key: str) -> None:
            if key not in pairs:
                raise UnsafePathError(f"the server returned {quote_text(key)} instead")
            local = pairs[key].local
            if _is_taken(place(key)) if local is None else not _is_unchanged(local):
                raise UnsafePathError("the file was changed in the folder meanwhile")

        def record(outcome: FileOutcome) -> None:
            is_new = outcome.status is Status.DOWNLOADED
            self._record(outcome, outcome.version_id, pulled=is_new)

        downloads = Downloads(
            self.client,
            *self.folders.asset,
            self.folders.root,
            _Recording(self.observer, record),
            place,
            check,
        )
        return downloads.download([*pairs], jobs=self.jobs).files

    def _archive(self, pair: Pair) -> FileOutcome:
        key = self.folders.key(pair.path)
        reason: str | None = None
        try:
            info = self.client.files.info(*self.folders.asset, key)
            if pair.remote and info.version_id == pair.remote.version:
                self.client.files.archive(self.folders.asset, key)
                self.state.record(pair.path, None)
            else:
                reason = "the file was changed on the server meanwhile"
        except (VitrineError, OSError) as error:
            reason = str(error)
        status = Status.FAILED if reason else Status.ARCHIVED
        return FileOutcome(path=pair.path, status=status, key=key, reason=reason)

    def _remove(self, pair: Pair) -> FileOutcome:
        reason: str | None = None
        try:
            local, entry = pair.local, pair.entry
            if local is None or entry is None or not _is_unchanged(local):
                reason = "the file was changed meanwhile"
            # Size and time can be the same for another content.
            elif entry.checksum and sha256_of(local.path) != entry.checksum:
                reason = "its content is not the one that was pulled"
            else:
                self.folders.place(self.folders.key(pair.path))  # no link on the way
                local.path.unlink()
                self.state.record(pair.path, None)
        except (VitrineError, OSError) as error:
            reason = str(error)
        status = Status.FAILED if reason else Status.REMOVED
        return FileOutcome(path=pair.path, status=status, reason=reason)


class _Recording:
    """An observer that records each downloaded file before it passes the outcome on."""

    def __init__(self, observer: Observer, record: Callable[[FileOutcome], None]) -> None:
        self._record = record
        self._observer = observer
        self.planned = observer.planned
        self.moved = observer.moved
        self.finishing = observer.finishing

    def settled(self, outcome: FileOutcome) -> None:
        if outcome.status in {Status.DOWNLOADED, Status.SKIPPED}:
            self._record(outcome)
        self._observer.settled(outcome)


def _remote(item: FileItem | FileInfo) -> Remote:
    return Remote(size=item.size, version=item.version_id, is_archived=bool(item.is_archived))


def _is_taken(path: Path) -> bool:
    return path.is_symlink() or path.exists()


def _is_unchanged(local: LocalFile) -> bool:
    facts = local.path.lstat()
    return (facts.st_size, facts.st_mtime_ns) == (local.size, local.modified)


def _below(root: Path, path: str) -> str:
    return compose_name("/" + path.removeprefix(shown(str(root.resolve()))).strip("/"))
