"""The files that a module of tests needs: what it imports, directly and through others."""

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
# Where packages are that are not folders of the repository's root.
_PACKAGES = {"vitrine": "client/src/vitrine", "vitrine_mlflow": "tracking/src/vitrine_mlflow"}
_OWN = {"app", "backend", "benchmarks", "docs", "infra", "local", "samples", "tests", *_PACKAGES}
# Paths that tests build from the root of the repository, such as ROOT / "docs" / "guides".
_PATHS = re.compile(r'ROOT((?: / "[\w.-]+")+)')


def needed_files(files: Iterable[str]) -> set[str]:
    """Return the files of the repository that some modules need, themselves included.

    These are imported modules, the `conftest.py` of their folders, and the files and folders that
    they name by their path.
    """
    seen, waiting = set[str](), list(files)
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        if path.endswith(".py"):
            waiting += [*_imported(path), *_named(path), *_conftests(path)]
    return seen


@cache
def _imported(path: str) -> tuple[str, ...]:
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return tuple(file for name in _names(tree) for file in _files_of(name))


def _names(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Import(names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=str(module), names=names, level=0):
                yield module
                yield from (f"{module}.{alias.name}" for alias in names)
            case _:
                pass


@cache
def _files_of(name: str) -> tuple[str, ...]:
    """Return a module's file and the `__init__.py` of its packages."""
    first, *rest = name.split(".")
    if first not in _OWN:
        return ()
    folders = [_PACKAGES.get(first, first)]
    for part in rest:
        folders.append(f"{folders[-1]}/{part}")
    paths = (*(f"{folder}/__init__.py" for folder in folders), f"{folders[-1]}.py")
    return tuple(path for path in paths if (ROOT / path).is_file())


@cache
def _named(path: str) -> tuple[str, ...]:
    if not path.startswith("tests/"):
        return ()
    text = (ROOT / path).read_text(encoding="utf-8")
    named = ("/".join(re.findall(r'"([^"]+)"', match)) for match in _PATHS.findall(text))
    return tuple(name for name in named if (ROOT / name).exists())


def _conftests(path: str) -> Iterator[str]:
    for folder in Path(path).parents:
        if (ROOT / folder / "conftest.py").is_file():
            yield str(folder / "conftest.py")
