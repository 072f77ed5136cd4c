"""Every tracked path can be checked out, and the page built, on Windows and macOS."""

import re
import subprocess
from collections import Counter
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = {".ts", ".tsx", ".js", ".mjs"}
_RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?", re.IGNORECASE)
_REFUSED = re.compile(r'[<>:"|?*\\\x00-\x1f]|[. ]$')


def tracked_paths() -> list[str]:
    output = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    return output.rstrip("\0").split("\0")


def duplicates(names: Iterable[str]) -> list[str]:
    """The names that occur more than once if case does not count."""
    return [name for name, number in Counter(map(str.casefold, names)).items() if number > 1]


def modules(paths: Iterable[str]) -> list[str]:
    """The paths of scripts as imports name them: without their extension."""
    scripts = (path for path in map(PurePosixPath, paths) if path.suffix in SCRIPTS)
    return [str(path.with_suffix("")) for path in scripts]


def refused_by_windows(path: str) -> bool:
    return any(_RESERVED.fullmatch(part) or _REFUSED.search(part) for part in path.split("/"))


def test_no_two_paths_differ_only_in_case() -> None:
    assert duplicates(tracked_paths()) == []


def test_no_two_scripts_of_a_folder_differ_only_in_case_and_extension() -> None:
    paths = tracked_paths()
    assert len(modules(paths)) > 200
    assert duplicates(modules(paths)) == []


def test_windows_accepts_every_name() -> None:
    assert [path for path in tracked_paths() if refused_by_windows(path)] == []


@pytest.mark.parametrize(
    "path", ["docs/aux.md", "NUL", "a /b", "a./b", "a?b", "a:b", "com1.txt", 'a"b', "a|b", "a*b"]
)
def test_refused_names_are_recognized(path: str) -> None:
    assert refused_by_windows(path)


def test_duplicate_modules_are_recognized() -> None:
    assert duplicates(modules(["web/Facts.tsx", "web/facts.ts", "web/facts.css"])) == ["web/facts"]
