"""Sizes of modules and functions, names of files, and the notice."""

import ast
import re
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path, PurePosixPath

import pytest

from tests.code_size import lines_of_code, lines_of_comments, sizes

ROOT = Path(__file__).resolve().parents[2]
MODULE_LINES = 500
GENERATED = "client/src/vitrine/api_models.py"
FUNCTION_LINES = 60  # counted from `def`: the decorators of tests are often tables of cases
BLIND = {"Exception", "BaseException"}
OMISSIONS = {
    *("skip", "skipif", "xfail", "importorskip"),
    *("SkipTest", "skipTest", "skipIf", "skipUnless", "expectedFailure"),
}

BLIND_EXCEPTS: dict[str, tuple[int, str]] = {
    "backend/entrypoints/bootstrap.py": (
        1,
        "CloudFormation waits for an hour for an answer that a bug keeps back; it is raised again",
    ),
    "tests/unit/client/test_poor_replies.py": (1, "lists every command that ends with a traceback"),
    "backend/http/app.py": (
        2,
        "the outer edge of a request: a bug becomes a 500; one in telling a refusal is logged",
    ),
    "backend/search/maintenance/replay.py": (
        1,
        "a bug may be what brought an entry here; it is noted there, and the others are replayed",
    ),
    "backend/processing/jail/child.py": (
        1,
        "readers of other projects raise anything on a broken file: its refusal names the error",
    ),
    "local/engines/fleet.py": (
        1,
        "the engines that have started are stopped, also on Ctrl-C; it is raised again",
    ),
    "local/engines/jars/store.py": (
        1,
        "downloads that wait are cancelled, also on Ctrl-C; it is raised again",
    ),
    "local/pumps/supervisor.py": (
        1,
        "a bug must not silence a pump for ever: it is logged, told, and the pump starts again",
    ),
}


@cache
def _paths() -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--", "*.py"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return sorted(name for name in listed.stdout.split("\0") if name)


@cache
def _source(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


@cache
def _findings(path: str) -> tuple[list[tuple[str, int]], int, list[str]]:
    """The findings in one module: long functions, broad excepts, skipped tests.

    Trees are parsed once.
    """
    nodes = list(ast.walk(ast.parse(_source(path), filename=path)))
    return list(_long_functions(nodes)), _blind_excepts(nodes), _omissions(nodes)


def _long_functions(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, int]]:
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > FUNCTION_LINES:
                yield node.name, lines


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else ast.unparse(node)


def _is_blind(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    caught = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(_last_name(kind) in BLIND for kind in caught)


def _called(call: ast.Call) -> str:
    match call.func:
        case ast.Name(name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def _blind_excepts(nodes: Iterable[ast.AST]) -> int:
    """Number of places that catch all exceptions, including by `suppress`."""
    result = 0
    for node in nodes:
        if isinstance(node, ast.ExceptHandler):
            result += _is_blind(node)
        elif isinstance(node, ast.Call) and _called(node) == "suppress":
            result += any(_last_name(kind) in BLIND for kind in node.args)
    return result


def _omissions(nodes: Iterable[ast.AST]) -> list[str]:
    """The functions of pytest and unittest to skip a test that a module uses or imports."""
    result: list[str] = []
    for node in nodes:
        if isinstance(node, ast.Attribute) and node.attr in OMISSIONS:
            result.append(ast.unparse(node))
        elif isinstance(node, ast.ImportFrom) and node.module in {"pytest", "unittest"}:
            result += [alias.name for alias in node.names if alias.name in OMISSIONS]
    return result


def test_the_modules_of_the_whole_repository_are_looked_at() -> None:
    folders = {path.partition("/")[0] for path in _paths()}
    assert {"app.py", "backend", "benchmarks", "client", "infra", "local", "tests"} <= folders


def test_no_module_is_too_long() -> None:
    lengths = {path: len(_source(path).splitlines()) for path in _paths() if path != GENERATED}
    assert {path: n for path, n in lengths.items() if n > MODULE_LINES} == {}


def test_no_function_is_too_long() -> None:
    result = {path: _findings(path)[0] for path in _paths()}
    assert {path: functions for path, functions in result.items() if functions} == {}


def test_everything_is_caught_only_where_there_is_a_reason() -> None:
    counts = Counter({path: _findings(path)[1] for path in _paths()})
    assert +counts == {path: count for path, (count, _) in BLIND_EXCEPTS.items()}


def test_no_test_is_left_out() -> None:
    result = {path: _findings(path)[2] for path in _paths() if path.startswith("tests/")}
    assert {path: omissions for path, omissions in result.items() if omissions} == {}


@pytest.mark.parametrize(("lines", "found"), [(60, []), (61, [("long", 61)])])
def test_a_function_is_measured_without_its_decorators(
    lines: int, found: list[tuple[str, int]]
) -> None:
    source = "@decorated(\n    1,\n)\nasync def long():\n" + "    pass\n" * (lines - 1)
    assert list(_long_functions(ast.walk(ast.parse(source)))) == found


@pytest.mark.parametrize(
    ("caught", "count"),
    [
        ("except:", 1),
        ("except Exception:", 1),
        ("except builtins.BaseException as error:", 1),
        ("except (ValueError, Exception):", 1),
        ("except* Exception:", 1),
        ("except ValueError:", 0),
        ("except botocore.ClientError:", 0),
    ],
)
def test_a_blind_except_is_seen(caught: str, count: int) -> None:
    assert _blind_excepts(ast.walk(ast.parse(f"try:\n    pass\n{caught}\n    pass"))) == count


@pytest.mark.parametrize(("suppressed", "count"), [("Exception", 1), ("OSError", 0)])
def test_a_blind_suppress_is_seen(suppressed: str, count: int) -> None:
    source = f"with contextlib.suppress({suppressed}):\n    pass"
    assert _blind_excepts(ast.walk(ast.parse(source))) == count


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("pytest.skip('later')", ["pytest.skip"]),
        ("pytest.importorskip('numpy')", ["pytest.importorskip"]),
        ("@pytest.mark.skipif(True)\ndef test_it(): ...", ["pytest.mark.skipif"]),
        ("case = pytest.param(1, marks=pytest.mark.xfail)", ["pytest.mark.xfail"]),
        ("from pytest import mark, skip", ["skip"]),
        ("statuses = {'skip'}", []),
    ],
)
def test_an_omission_is_seen(source: str, found: list[str]) -> None:
    assert _omissions(ast.walk(ast.parse(source))) == found


COUNTED = '''"""A module."""

# a comment
LIMIT = 3
"""The limit."""


def outer(values: list[str]) -> str:
    """Return text.

    Of two lines.
    """
    text = """a
    b"""
    return text + _inner(
        values,  # all of them
    )


def _inner(values: list[str]) -> str:
    return values[LIMIT]
'''


def test_lines_of_code_are_counted_without_comments_and_docstrings() -> None:
    assert lines_of_code(COUNTED) == 9


def test_comments_are_counted_without_those_for_tools() -> None:
    assert lines_of_comments(COUNTED + "_inner([])  # noqa: T201\n") == 2


def test_a_function_that_is_named_in_one_place_has_one_caller() -> None:
    again = "from backend.one import outer\nouter([])\nouter(list(_inner))\n"
    alone = sizes({"backend/one.py": COUNTED})["backend"]
    assert (alone.functions, alone.helpers) == (2, 1)
    both = sizes({"backend/one.py": COUNTED, "local/two.py": again})
    assert (both["backend"].functions, both["backend"].helpers) == (2, 0)
    assert (both["local"].lines, both["local"].functions) == (3, 0)


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


def test_every_deployed_package_is_named_in_the_notice() -> None:
    layers = (ROOT / "backend").glob("requirements*.txt")
    locked = "\n".join(path.read_text(encoding="utf-8") for path in layers)
    packages = re.findall(r"^([a-z0-9-]+)==", locked, re.MULTILINE)
    notice = (ROOT / "NOTICE").read_text(encoding="utf-8")
    assert len(packages) > 10
    assert [name for name in packages if not re.search(rf"\b{name}\b", notice)] == []
