"""Rules that import-linter cannot express: circles of modules, dependencies between slices, and
their files."""

from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).resolve().parents[2]
DOMAINS = "backend.domains."
KINDS = {"models", "errors", "rules", "repository", "service", "routes"}


@cache
def _imports_between_slices() -> list[tuple[str, str]]:
    graph = grimp.build_graph("backend", cache_dir=None)
    return [
        (module, imported)
        for module in sorted(graph.modules)
        if module.startswith(DOMAINS)
        for imported in sorted(graph.find_modules_directly_imported_by(module))
        if imported.startswith(DOMAINS) and imported.split(".")[2] != module.split(".")[2]
    ]


def test_a_slice_imports_from_another_its_service_its_errors_and_the_models_that_it_uses() -> None:
    inner = [
        (module, imported)
        for module, imported in _imports_between_slices()
        if imported.split(".")[3] not in {"service", "errors", "models"}
    ]
    assert inner == []


def test_slices_that_use_each_other_are_seen() -> None:
    pairs = {(a.split(".")[2], b.split(".")[2]) for a, b in _imports_between_slices()}
    assert ("databases", "buckets") in pairs


BESIDE = {"access": {"policy"}}
"""The terms of permission rules, and their compiled forms. Models use these terms, so they cannot
be in the rules module, which uses models."""


def test_a_slice_holds_the_six_kinds_of_files_and_no_seventh() -> None:
    slices = [path for path in (ROOT / "backend" / "domains").iterdir() if path.is_dir()]
    for path in slices:
        found = {part.stem for part in path.iterdir() if part.suffix == ".py" or part.is_dir()}
        assert found - {"__init__", "__pycache__"} <= KINDS | BESIDE.get(path.name, set()), (
            path.name
        )


# import-linter's `acyclic_siblings` compares packages, which is stricter than circles of modules.
@pytest.mark.parametrize("package", ["backend", "infra", "local", "vitrine", "vitrine_mlflow"])
def test_no_modules_import_each_other_in_a_circle(package: str) -> None:
    graph = grimp.build_graph(package, cache_dir=None)
    imports = {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}
    TopologicalSorter(imports).prepare()  # raises CycleError, which names the circle
