"""Reads a folder as assets with files: names and sizes, no contents.

For an import, each folder at the first level is an asset; the files beside them are one more, named
after the root. Symbolic links are followed to files inside the root only, and never to folders, so
a link cannot include files from elsewhere or create a cycle.
"""

import errno
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from vitrine.transfer.ignoring import ignores_path
from vitrine.transfer.names import (
    UnusableNameError,
    compose_name,
    loose_asset_name,
    relative_key,
    shown,
)


@dataclass(frozen=True, kw_only=True)
class LocalFile:
    path: Path
    key: str
    """The path in the asset, with a leading slash, in NFC."""
    size: int
    modified: int = 0
    """The time of the last change, in nanoseconds; 0 if it was not read."""

    def __post_init__(self) -> None:
        """Compose the key: macOS has names in another form on disk."""
        object.__setattr__(self, "key", compose_name(self.key))


@dataclass(frozen=True, kw_only=True)
class Problem:
    """A name on disk that cannot become a file, and the reason."""

    path: str
    reason: str
    unreadable: bool = False
    """Whether reading the file failed, as opposed to a rule that rejects it."""


@dataclass(frozen=True, kw_only=True)
class Folder:
    """A future asset: its name and its files, sorted by key."""

    name: str
    files: tuple[LocalFile, ...]


@dataclass(frozen=True, kw_only=True)
class Scan:
    root: Path
    folders: tuple[Folder, ...]
    problems: tuple[Problem, ...]


@dataclass
class _Collector:
    root: Path
    folders: dict[str, dict[str, LocalFile]] = field(
        default_factory=dict[str, dict[str, LocalFile]]
    )
    problems: list[Problem] = field(default_factory=list[Problem])

    def refuse(self, path: Path, reason: str, *, unreadable: bool = False) -> None:
        self.problems.append(Problem(path=shown(str(path)), reason=reason, unreadable=unreadable))

    def add(self, asset: str, parts: tuple[str, ...], path: Path, facts: os.stat_result) -> None:
        try:
            key = relative_key(parts)
        except UnusableNameError as error:
            self.refuse(path, str(error))
            return
        files = self.folders.setdefault(asset, {})
        file = LocalFile(path=path, key=key, size=facts.st_size, modified=facts.st_mtime_ns)
        kept = files.setdefault(key, file)
        if kept is file:
            return
        # In the form that the server stores, if one of them has it.
        if compose_name(str(path)) == str(path):
            files[key], file = file, kept
        # Both look the same: their letters outside ASCII are escaped.
        twin, left = (
            ascii(str(spelling.path.relative_to(self.root))) for spelling in (files[key], file)
        )
        fact = f"has the same name as {twin} in composed Unicode form (NFC)"
        self.refuse(file.path, f"{fact}; on disk it is {left}")


def scan(root: Path) -> Scan:
    """Read the folder.

    Raises:
        OSError: the root itself cannot be listed.
    """
    root = root.resolve()
    collector = _Collector(root)
    with os.scandir(root) as entries:
        top = sorted(entries, key=lambda entry: entry.name)
    names = [entry.name for entry in top if entry.is_dir(follow_symlinks=False)]
    loose = loose_asset_name(root.name, names)
    for entry in top:
        if entry.is_dir(follow_symlinks=False):
            asset = compose_name(entry.name)
            if shown(entry.name) != entry.name:
                collector.refuse(Path(entry.path), "the folder's name is not valid UTF-8")
                continue
            collector.folders.setdefault(asset, {})
            for file, parts in _walk(collector, Path(entry.path)):
                _add_entry(collector, file, asset, parts)
        else:
            _add_entry(collector, entry, loose, (entry.name,))
    folders = tuple(
        Folder(name=name, files=tuple(files[key] for key in sorted(files)))
        for name, files in sorted(collector.folders.items())
    )
    return Scan(root=root, folders=folders, problems=tuple(collector.problems))


def scan_one(
    root: Path, ignores: Callable[[str], bool]
) -> tuple[dict[str, LocalFile], tuple[Problem, ...]]:
    """Return all files of the folder by key, as files of one asset, and the names without a file.

    `ignores` is called with each path below the folder; those of folders end with a slash.

    Raises:
        OSError: the folder cannot be listed.
    """
    root = root.resolve()
    collector = _Collector(root)
    with os.scandir(root):
        pass  # raises; below, a folder that cannot be listed is a problem among others
    for entry, parts in _walk(collector, root, ignores):
        _add_entry(collector, entry, "", parts)
    return collector.folders.get("", {}), tuple(collector.problems)


def scan_files(
    root: Path, paths: Iterable[Path], ignores: Callable[[str], bool]
) -> tuple[dict[str, LocalFile], tuple[Problem, ...]]:
    """Return what `scan_one` returns of some paths below the folder; no listing."""
    root = root.resolve()
    collector = _Collector(root)
    names = [path.relative_to(root).as_posix() for path in paths]
    # If another spelling has the composed name, it is the file of that key.
    for name in dict.fromkeys([*names, *map(compose_name, names)]):
        path = root / name
        # Not through a link to a folder, which is not followed.
        is_below = Path(os.path.realpath(path.parent)) == path.parent
        if is_below and os.path.lexists(path) and not ignores_path(ignores, f"/{name}"):
            _add_entry(collector, path, "", tuple(name.split("/")))
    return collector.folders.get("", {}), tuple(collector.problems)


def _walk(
    collector: _Collector, top: Path, ignores: Callable[[str], bool] = lambda _: False
) -> Iterator[tuple["os.DirEntry[str]", tuple[str, ...]]]:
    """Yield everything below that is not a folder, with its path's parts; not recursive."""
    waiting: list[tuple[Path, tuple[str, ...]]] = [(top, ())]
    while waiting:
        folder, parts = waiting.pop()
        try:
            with os.scandir(folder) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError as error:
            collector.refuse(folder, f"cannot be listed: {error.strerror}", unreadable=True)
            continue
        for entry in entries:
            below = (*parts, entry.name)
            is_folder = entry.is_dir(follow_symlinks=False)
            if ignores("/".join(below) + "/" * is_folder):
                continue
            if is_folder:
                waiting.append((Path(entry.path), below))
            else:
                yield entry, below


def _add_entry(
    collector: _Collector, entry: "os.DirEntry[str] | Path", asset: str, parts: tuple[str, ...]
) -> None:
    path = Path(entry)
    try:
        if entry.is_symlink():
            # Not Path.resolve, which raises RuntimeError for a cycle of links in Python 3.11.
            target = Path(os.path.realpath(path, strict=True))
            if not target.is_relative_to(collector.root):
                collector.refuse(path, "a symbolic link to a target outside the folder")
                return
        facts = path.stat()
    except FileNotFoundError:
        collector.refuse(path, "a symbolic link to a missing target")
        return
    except OSError as error:
        if error.errno == errno.ELOOP:
            collector.refuse(path, "a circular symbolic link")
            return
        collector.refuse(path, f"cannot be examined: {error.strerror}", unreadable=True)
        return
    if stat.S_ISDIR(facts.st_mode):
        collector.refuse(path, "a symbolic link to a folder is not followed")
    elif not stat.S_ISREG(facts.st_mode):
        collector.refuse(path, "not a regular file")
    elif not os.access(path, os.R_OK):
        collector.refuse(path, "cannot be read: permission denied", unreadable=True)
    else:
        collector.add(asset, parts, path, facts)
