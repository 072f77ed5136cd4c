"""Clients decide by error codes: each code is declared once and has one status."""

import builtins
import re
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

from backend.core.errors import VitrineError
from backend.http.errors import status_of

ROOT = Path(__file__).parents[2]
CODE = ("backend", "client/src", "infra", "local", "tracking/src")
OF_LIBRARIES = {"BotoCoreError", "ClientError", "MlflowException"}
PARTS = ("aws", "core", "domains", "http", "operations", "search")


def _kinds(base: type[VitrineError]) -> Iterator[type[VitrineError]]:
    for kind in base.__subclasses__():
        if kind.__module__.startswith("backend."):
            yield kind
        yield from _kinds(kind)


def _all_kinds() -> set[type[VitrineError]]:
    """All errors of the backend, whether or not another test has imported their modules."""
    for part in PARTS:
        package = import_module(f"backend.{part}")
        for module in walk_packages(package.__path__, f"{package.__name__}."):
            import_module(module.name)
    return set(_kinds(VitrineError))


def test_a_code_of_an_error_is_declared_once() -> None:
    declared = Counter(kind.code for kind in _all_kinds() if "code" in vars(kind))
    assert len(declared) > 100
    assert {code: times for code, times in declared.items() if times > 1} == {}


def test_a_code_of_an_error_has_one_status() -> None:
    found = {(kind.code, status_of(kind.__new__(kind))) for kind in _all_kinds()}
    statuses = Counter(code for code, _ in found)
    assert {code: times for code, times in statuses.items() if times > 1} == {}


def test_a_slice_declares_its_errors_in_its_module_of_errors() -> None:
    """Errors that other modules use; names of the others begin with an underscore."""
    slices = [kind for kind in _all_kinds() if kind.__module__.startswith("backend.domains.")]
    public = [kind for kind in slices if not kind.__name__.startswith("_")]
    assert len(public) > 80
    assert (
        sorted(
            f"{kind.__module__}.{kind.__name__}"
            for kind in public
            if kind.__module__.split(".")[3:] != ["errors"]
        )
        == []
    )


def test_an_error_that_a_docstring_lists_exists() -> None:
    texts = [path.read_text() for folder in CODE for path in (ROOT / folder).rglob("*.py")]
    existing = {name for text in texts for name in re.findall(r"^class (\w+)", text, re.MULTILINE)}
    sections = (part for text in texts for part in re.findall(r"Raises:\n((?: {4,}.*\n)+)", text))
    listed = {name for each in sections for name in re.findall(r"(?m)^ +(\w+Error):", each)}
    assert len(listed) > 100
    assert listed - existing - OF_LIBRARIES - vars(builtins).keys() == set()
