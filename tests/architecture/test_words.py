"""Public texts and docstrings use the words of the field, as CONTRIBUTING.md requires.

Checked are the OpenAPI document, error messages, log lines, help texts, guides, records and
generated pages, docstrings, also those of attributes, names, and the texts, comments and names of
the page.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, cast

import pytest
import typer.main
from vitrine.cli.app import app

from backend.entrypoints.openapi import openapi

ROOT = Path(__file__).resolve().parents[2]
ERRORS = [
    *(ROOT / "backend").rglob("*.py"),
    *(ROOT / "client" / "src").rglob("*.py"),
    *(ROOT / "local").glob("*.py"),
]
PAGES = [
    *ROOT.glob("*.md"),
    ROOT / "client" / "README.md",
    *(ROOT / "docs").glob("*.md"),
    *(ROOT / "docs" / "guides").glob("*.md"),
    *(ROOT / "docs" / "reference").glob("*.md"),
    *(ROOT / "docs" / "decisions").glob("*.md"),
    *(ROOT / "docs" / "upstream").glob("*.md"),
]

_VAGUE = re.compile(
    r"\b(tells?|told|telling|anew|whoever|stands? for|nothing but|none of which|thereby|by turns"
    r"|parted by|asked for|asks for|is asked|brings?|brought|taken? back|gives? back|given back"
    r"|takes? along|given up|gives? up|for good|what it says|say what|says what|alarms? rings?"
    r"|in the place of|too much to do|does not take|has no place|is answered|are answered"
    r"|somebody|anybody|worked off|is gone|are gone|no other than|whereupon|truthfully|unaided"
    r"|under way|half-way|works? alike|nobody|begun|goes? along)\b",
    re.IGNORECASE,
)

_VAGUE_NAME = re.compile(
    r"(?<![a-z])(tells?|told|telling|says|said|knows|wants|hears?|heard|ask(s|ed|ing)?|anew|whoever|nobodys?|somebodys?|anybody|for_good"
    r"|go(es)?_on|rings?|sake|begun|brings?|brought|under_way|(is|are)_gone|gives?_up|given_up"
    r"|given_back|worked_off|stands_for)(?![a-z])"
)
# A docstring that begins as a question does not name its subject: "What is stored", not "The rows".
_QUESTIONS = ("How ", "Those ", "What ", "When ", "Where ", "Which ", "Who ", "Whose ")
# Words that only tests may have in names: they are sentences there.
_VAGUE_IN_CODE = re.compile(
    r"(?<![a-z])(noted?|forgets?|hurry|hand_over|takes?_back|looks?_(at|again)"
    r"|let|understood|patiently)(?![a-z])"
)
_NAMED_BY_OTHERS = {"_tell"}  # called by assimp as a method of files

# Of the page, whose bindings are checked too: a variable is named by its noun.
_VAGUE_IN_PAGE = re.compile(r"each|found|given|one")

SOURCES = ("backend", "infra", "local", "client/src", "tracking/src", "docs", "benchmarks")

# Words of OpenSearch, and of examples, that do not occur in code.
_NAMED_ELSEWHERE = {"max_expansions", "index.max_regex_length", "PumpHousing_v2.glb", "pumphousing"}

_LINK_OR_CODE = re.compile(r"\]\([^)]*\)|`[^`]*`")

_WEB = [
    path
    for pattern in ("src/**/*.ts", "src/**/*.tsx", "e2e/*.mjs", "scripts/*.mjs")
    for path in (ROOT / "web").glob(pattern)
    if path.name != "schema.d.ts"  # generated from the OpenAPI document
]
_WEB_COMMENT = re.compile(r"/\*[\s\S]*?\*/|(?<![:'\"`])//.*")
_WEB_BINDING = re.compile(
    r"\b(?:const|let|function|class|interface|type)\s+(\w+)"
    r"|\bconst [{[]([^}\]]*)[}\]] =|\(([\w\s,:?]*)\) =>"
)


def vague(text: str) -> list[str]:
    """The words of `text` that say less than the words of the field do."""
    return [item[0] for item in _VAGUE.finditer(_LINK_OR_CODE.sub("", text))]


def _described(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for name, item in cast("dict[str, Any]", value).items():
            if name in {"summary", "description"} and isinstance(item, str):
                yield item
            elif name not in {"example", "examples"}:
                yield from _described(item)
    elif isinstance(value, list):
        for item in cast("list[object]", value):
            yield from _described(item)


def _messages(path: Path) -> Iterator[str]:
    """The texts within calls of errors: `SomeError("…")`, `SomeError.of("field", "…")`."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and "Error" in ast.unparse(node.func):
            for part in chain.from_iterable(ast.walk(arg) for arg in node.args):
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    yield part.value


_LOGGER = re.compile(r"\b_?log(ger)?\.\w+")


def _log_lines(path: Path) -> Iterator[str]:
    """The texts within calls of loggers: `_log.info("…")`."""
    source = path.read_text(encoding="utf-8")
    if not _LOGGER.search(source):
        return
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and _LOGGER.match(ast.unparse(node.func)):
            for part in ast.walk(node):
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    yield part.value


def _helps(command: Any) -> Iterator[str]:  # typer names no public type of its commands
    yield command.help or ""
    yield from (getattr(param, "help", None) or "" for param in command.params)
    for item in getattr(command, "commands", {}).values():
        yield from _helps(item)


def _bad(texts: Iterator[str]) -> dict[str, list[str]]:
    return {text: result for text in texts if (result := vague(text))}


def test_the_openapi_document_is_plain() -> None:
    assert _bad(_described(openapi())) == {}


def test_error_messages_are_plain() -> None:
    assert _bad(chain.from_iterable(map(_messages, ERRORS))) == {}


def test_log_lines_are_plain() -> None:
    lines = [
        *chain.from_iterable(
            map(_log_lines, [path for folder in SOURCES for path in (ROOT / folder).rglob("*.py")])
        )
    ]
    assert len(lines) > 60
    assert _bad(iter(lines)) == {}


def test_help_texts_are_plain() -> None:
    helps = [*_helps(typer.main.get_command(app))]
    assert len(helps) > 500
    assert _bad(iter(helps)) == {}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_pages_are_plain(page: Path) -> None:
    assert _bad(iter(page.read_text(encoding="utf-8").split("\n"))) == {}


@cache
def _docstrings(path: Path) -> list[str]:
    """Texts that are statements: of modules, classes and functions, and below attributes."""
    return [
        str(node.value.value)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    ]


@pytest.mark.parametrize("folder", [*SOURCES, "tests"])
def test_docstrings_are_plain(folder: str) -> None:
    result = {
        f"{path.relative_to(ROOT)}: {text}": words
        for path in (ROOT / folder).rglob("*.py")
        for text in _docstrings(path)
        if (words := vague(text))
    }
    assert result == {}


@pytest.mark.parametrize("folder", [*SOURCES, "tests"])
def test_docstrings_name_their_subject(folder: str) -> None:
    beginnings = "What " if folder == "tests" else _QUESTIONS
    assert [
        f"{path.relative_to(ROOT)}: {text}"
        for path in (ROOT / folder).rglob("*.py")
        for text in _docstrings(path)
        if text.startswith(beginnings)
    ] == []


_TEXTS_AND_COMMENTS = re.compile(r'^\s*r?"""[\s\S]*?"""|#.*$', re.MULTILINE)
"""Docstrings and comments; a tree of each module would take ten times as long."""


def _words_of_code(path: Path) -> set[str]:
    """The words of a module and of its path, except those of its docstrings and comments."""
    code = _TEXTS_AND_COMMENTS.sub("", path.read_text(encoding="utf-8"))
    return {*re.findall(r"\w+", code), *re.findall(r"\w+", str(path.relative_to(ROOT)))}


def test_names_in_docstrings_exist() -> None:
    sources = [path for folder in SOURCES for path in (ROOT / folder).rglob("*.py")]
    tests = set((ROOT / "tests").rglob("*.py")) - {Path(__file__)}
    known = set(chain.from_iterable(map(_words_of_code, [*sources, *tests])))
    assert [
        f"{path.relative_to(ROOT)}: {name}"
        for path in sources
        for text in _docstrings(path)
        for name in re.findall(r"`([A-Za-z_][\w.]*)`", text)
        if not known.issuperset(name.strip(".").split(".")) and name not in _NAMED_ELSEWHERE
    ] == []


def _named(path: Path) -> Iterator[str]:
    """Names of functions, and of classes in the form of functions."""
    source = path.read_text(encoding="utf-8")
    for kind, name in re.findall(r"^\s*(def|class) (\w+)", source, re.MULTILINE):
        yield name if kind == "def" else re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def test_names_of_tests_are_plain() -> None:
    names = chain.from_iterable(map(_named, (ROOT / "tests").rglob("*.py")))
    assert [name for name in names if _VAGUE_NAME.search(name)] == []


@pytest.mark.parametrize("folder", SOURCES)
def test_names_of_functions_and_classes_are_plain(folder: str) -> None:
    names = set(chain.from_iterable(map(_named, (ROOT / folder).rglob("*.py")))) - _NAMED_BY_OTHERS
    vague_names = [
        name for name in names if _VAGUE_NAME.search(name) or _VAGUE_IN_CODE.search(name)
    ]
    assert vague_names == []


def test_texts_and_comments_of_the_page_are_plain() -> None:
    texts = [
        path.read_text(encoding="utf-8") for path in (ROOT / "web" / "src" / "texts").glob("*.ts")
    ]
    comments = [
        " ".join(comment.split())
        for path in _WEB
        for comment in _WEB_COMMENT.findall(path.read_text(encoding="utf-8"))
    ]
    assert len(comments) > 300
    assert _bad(chain(chain.from_iterable(map(str.splitlines, texts)), comments)) == {}


def _web_names(path: Path) -> Iterator[str]:
    """Names that a module declares, and its own, in the form of functions."""
    code = _WEB_COMMENT.sub("", path.read_text(encoding="utf-8"))
    for name in (path.name.split(".")[0], *chain.from_iterable(_WEB_BINDING.findall(code))):
        for word in re.findall(r"\w+", name):
            yield re.sub(r"(?<=[a-z])(?=[A-Z])", "_", word).lower()


def test_names_of_the_page_are_plain() -> None:
    assert {
        f"{path.relative_to(ROOT)}: {name}"
        for path in _WEB
        for name in _web_names(path)
        if _VAGUE_NAME.search(name) or _VAGUE_IN_CODE.search(name) or _VAGUE_IN_PAGE.fullmatch(name)
    } == set()


def test_vague_words_are_found() -> None:
    assert vague("Whoever asks for it is told, by turns, that nothing is under way") == [
        "Whoever",
        "asks for",
        "told",
        "by turns",
        "under way",
    ]
    assert vague("The tellers asked forty questions") == []
