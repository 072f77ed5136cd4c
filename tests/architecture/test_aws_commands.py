"""Access patterns, scans of tables, and commands of AWS in guides."""

import ast
import re
import shlex
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import botocore.session
import pytest
from botocore import xform_name
from botocore.model import OperationModel
from typer.testing import CliRunner
from vitrine.cli.app import app

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
from tests.routes import CASES

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
    result: set[str] = set()
    for path in (ROOT / "backend").rglob("*.py"):
        if not path.is_relative_to(SPEC):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                    result.add(node.id)
                elif isinstance(node, ast.Attribute):
                    result.add(node.attr)
    return result


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


REGISTRIES = {
    access.API_KEYS,
    access.CONSTRAINTS,
    access.ROLES,
    access.USER_ROLES,
    assets.DATABASES,
    metadata.METADATA_SCHEMAS,
    registry.ASSET_BUCKETS,
    registry.DATABASE_TAG_TYPES,
    registry.FEATURES,
    registry.TAGS,
    registry.TAG_TYPES,
    workflows.PIPELINES,
    workflows.WORKFLOWS,
}
"""Registries: people create their rows one by one."""


def scanned() -> dict[str, set[str]]:
    """The tables that may be scanned, each with the functions that may scan it."""
    result: dict[str, set[str]] = {}
    for function in FUNCTIONS:
        for table in function.tables:
            if "Scan" in function.uses[table]:
                result.setdefault(table.name, set()).add(function.name)
    return result


def test_only_registries_may_be_scanned() -> None:
    assert set(scanned()) == {table.name for table in REGISTRIES}


def test_a_table_that_is_scanned_declares_it() -> None:
    for table in TABLES:
        result = any(
            "scan" in pattern or "registry" in pattern for pattern in table.access_patterns
        )
        assert result == (table in REGISTRIES), table.name


PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
FIRST_DEPLOYMENT = ROOT / "docs" / "guides" / "first-deployment.md"
MOST_STEPS = 15
EVERYWHERE = {"output", "query"}
OWN_OF_S3 = {"rm", "sync"}
"""Commands that the AWS CLI adds for S3; they are not operations of the API."""


def aws_commands(page: Path) -> list[str]:
    """Return the commands in a page's code, in lines and in blocks."""
    text = page.read_text(encoding="utf-8")
    return re.findall(r"(?:^|`)(aws [a-z0-9-]+ [^`\n]+)", text, re.MULTILINE)


COMMANDS = sorted({command for page in PAGES for command in aws_commands(page)})


@cache
def operation_models(service: str) -> dict[str, OperationModel]:
    name = "s3" if service == "s3api" else service
    model = botocore.session.get_session().get_service_model(name)
    names = (model.operation_model(name) for name in model.operation_names)
    return {xform_name(item.name).replace("_", "-"): item for item in names}


def unknown_in(command: str) -> list[str]:
    """Return the parts of a command that the service does not have."""
    _, service, operation, *rest = shlex.split(command)
    if service == "s3":
        return [] if operation in OWN_OF_S3 else [operation]
    model = operation_models(service).get(operation)
    if model is None:
        return [operation]
    members = model.input_shape.members if model.input_shape is not None else {}
    known = {xform_name(name).replace("_", "-") for name in members} | EVERYWHERE
    options = [part.removeprefix("--") for part in rest if part.startswith("--")]
    return [option for option in options if not {option, option.removeprefix("no-")} & known]


@pytest.mark.parametrize("command", COMMANDS)
def test_an_aws_command_names_what_the_service_has(command: str) -> None:
    assert unknown_in(command) == []


def test_a_wrong_command_is_found() -> None:
    assert unknown_in("aws lambda get-accounts") == ["get-accounts"]
    assert unknown_in("aws lambda get-function --name a") == ["name"]
    assert unknown_in("aws s3 copy a b") == ["copy"]
    assert len(COMMANDS) > MOST_STEPS / 2


def test_the_first_deployment_has_few_steps_that_are_there() -> None:
    lines = FIRST_DEPLOYMENT.read_text(encoding="utf-8").splitlines()
    steps = [line.split("`")[1] for line in lines if line.startswith("| `")]
    assert len(steps) == len([line for line in lines if line.startswith("|")]) - 2 <= MOST_STEPS
    for step in steps:
        if not step.startswith("aws "):
            program, *words = shlex.split(step)
            assert program == ".venv/bin/vitrine"
            assert _has(words), step
    assert not _has(["files", "mov", "a"])
    assert not _has(["nothing"])
    assert not _has(["search", "--no-option"])


def _has(words: list[str]) -> bool:
    """Return whether the command line has this command, with these options."""
    options = [word for word in words if word.startswith("--")]
    group = CliRunner().invoke(app, [words[0], "--help"], env={"COLUMNS": "200"})
    length = 2 if "COMMAND [ARGS]" in group.stdout else 1
    shown = CliRunner().invoke(app, [*words[:length], "--help"], env={"COLUMNS": "200"})
    return shown.exit_code == 0 and all(option in shown.stdout for option in options)


def test_the_first_deployment_names_assets_and_files_of_the_samples() -> None:
    steps = FIRST_DEPLOYMENT.read_text(encoding="utf-8")
    named = re.findall(
        r"\.venv/bin/vitrine (?:files \w+|archive) first ([\w-]+)(?: (/\S+))?", steps
    )
    moved = {new for _, new in re.findall(r"files move first [\w-]+ (/\S+) (/[^\s`]+)", steps)}
    assert len(named) >= 4
    missing = [
        asset + path
        for asset, path in named
        if path not in moved and not (ROOT / "samples/library" / asset / path.strip("/")).exists()
    ]
    assert missing == []


def test_every_route_that_writes_has_an_entry_or_a_reason() -> None:
    for case in CASES:
        writes = case.route.method not in {"GET", "HEAD"}
        assert bool(case.audit) + bool(case.without_entry) == writes, case.route.key
