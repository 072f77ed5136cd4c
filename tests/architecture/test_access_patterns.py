"""Every declared access pattern exists in code, according to the names and requests of the code."""

import ast
from collections.abc import Mapping
from pathlib import Path

import pytest

from backend.spec.functions import FUNCTIONS
from backend.spec.tables import (
    TABLES,
    Index,
    Table,
    access,
    assets,
    metadata,
    operations,
    registry,
    workflows,
)

ROOT = Path(__file__).resolve().parents[2]
SPEC = ROOT / "backend" / "spec"
FAMILIES = (access, assets, metadata, operations, registry, workflows)
_READS = {"GetItem", "BatchGetItem", "Query"}
_WRITES = {"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem"}
REQUESTS: Mapping[str, set[str]] = {
    "get": _READS,
    "read": _READS,
    "resolve": _READS,
    "add": _READS,
    "list": {"Query", "Scan"},
    "take": {"UpdateItem", "PutItem"},
    "note": _WRITES,
    "record": _WRITES,
    "store": _WRITES,
    "remove": {"DeleteItem", "BatchWriteItem"},
    "reserve": {"PutItem", "UpdateItem"},
    "count": {"UpdateItem"},
    "create": {"PutItem"},
    "advance": {"UpdateItem", "PutItem"},
    "refuse": {"ConditionCheckItem", "PutItem", "UpdateItem"},
}
"""The requests of which a pattern by a table's own key needs one, by the pattern's first word."""
INDEXES = [(table, index) for table in TABLES for index in table.indexes]


def _requests(table: Table) -> set[str]:
    """The requests of functions to a table; other tests compare them with recorded ones."""
    used = (function for function in FUNCTIONS if table in function.tables)
    return {request for function in used for request in function.uses[table]}


def _read_names() -> set[str]:
    """All names that code of the backend uses, except in the declarations."""
    found: set[str] = set()
    for path in (ROOT / "backend").rglob("*.py"):
        if not path.is_relative_to(SPEC):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                    found.add(node.id)
                elif isinstance(node, ast.Attribute):
                    found.add(node.attr)
    return found


def _constants(index: Index) -> set[str]:
    return {name for module in FAMILIES for name, value in vars(module).items() if value is index}


@pytest.fixture(scope="module")
def read_names() -> set[str]:
    return _read_names()


@pytest.mark.parametrize(
    ("table", "index"), INDEXES, ids=[f"{table.name}-{index.name}" for table, index in INDEXES]
)
def test_an_index_has_access_patterns_if_and_only_if_code_reads_it(
    read_names: set[str], table: Table, index: Index
) -> None:
    assert bool(index.access_patterns) == bool(_constants(index) & read_names)
    if index.access_patterns:
        assert "QueryIndexes" in _requests(table)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_a_table_has_access_patterns_if_and_only_if_a_function_uses_it(table: Table) -> None:
    assert bool(table.access_patterns) == bool(_requests(table))


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_a_function_makes_a_request_for_each_access_pattern_of_a_table(table: Table) -> None:
    for pattern in table.access_patterns:
        assert REQUESTS[pattern.split()[0]] & _requests(table), pattern


def test_an_access_pattern_of_an_index_is_not_repeated_at_its_table() -> None:
    for table, index in INDEXES:
        assert not set(index.access_patterns) & set(table.access_patterns)


def test_every_index_that_is_read_is_a_constant_of_its_family() -> None:
    read = [index for _, index in INDEXES if index.access_patterns]
    assert all(len(_constants(index)) == 1 for index in read)
