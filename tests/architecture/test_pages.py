"""Pages name files that exist, links resolve, records are short, and references are current."""

import json
import re
from pathlib import Path
from urllib.parse import unquote

import pytest

from backend.search.query import (
    conditions,
    cursors,
    filters,
    geo_search,
    hits,
    metadata_text,
    models,
    queries,
    words,
)
from backend.spec.search_indexes import MAX_CLAUSES
from docs.generate import COSTS, REFERENCE, pages
from docs.idle_costs import idle_costs
from docs.web_declarations import FILE, web_declarations

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
LINKING = [*PAGES, *ROOT.glob("*/README.md")]
RECORDS = sorted((ROOT / "docs" / "decisions").glob("0*.md"))
RECORD_WORDS = 450  # half a printed page; reasons belong beside the code
_FOLDERS = "backend|benchmarks|client|docs|infra|local|samples|tests"
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_NAMED = re.compile(rf"`((?:{_FOLDERS})/[^`\s]*)`")


def named(text: str) -> list[str]:
    """The files and folders that a text names as code; `*` matches any letters."""
    return _NAMED.findall(text)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_names_only_files_that_are_there(page: Path) -> None:
    result = named(page.read_text(encoding="utf-8"))
    assert [path for path in result if not any(ROOT.glob(path))] == []


def test_a_file_that_is_named_and_missing_is_seen() -> None:
    result = named("as `backend/none.py` does, or `tests/*/none.py`; see `make docs` and `a/b`")
    assert result == ["backend/none.py", "tests/*/none.py"]
    assert not any(any(ROOT.glob(path)) for path in result)


def anchors(page: Path) -> set[str]:
    """The fragments by which GitHub links to the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken(page: Path, text: str) -> list[str]:
    """The relative links of a text whose file or heading does not exist."""
    result: list[str] = []
    for link in _LINK.findall(text):
        path, _, fragment = unquote(link).partition("#")
        target = page.parent / path if path else page
        if "://" in link or link.startswith("mailto:"):
            continue
        if not target.exists() or (
            fragment and target.suffix == ".md" and fragment not in anchors(target)
        ):
            result.append(link)
    return result


@pytest.mark.parametrize("page", LINKING, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_relative_links_of_a_page_resolve(page: Path) -> None:
    assert broken(page, page.read_text(encoding="utf-8")) == []


def test_a_broken_link_is_found() -> None:
    text = "[a](docs/none.md) [b](#nothing) [c](README.md#nothing) [d](docs) [e](https://a.example)"
    assert broken(ROOT / "README.md", text) == ["docs/none.md", "#nothing", "README.md#nothing"]


def words_of(text: str) -> int:
    """The number of words of a text outside of tables."""
    lines = (line for line in text.splitlines() if not line.startswith("|"))
    return sum(bool(re.search(r"\w", word)) for line in lines for word in line.split())


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.stem[:4])
def test_a_decision_record_is_short(record: Path) -> None:
    assert words_of(record.read_text(encoding="utf-8")) <= RECORD_WORDS


def test_the_guide_to_searches_states_the_actual_limits() -> None:
    limits = {
        "its text": f"{models.MAX_QUERY_CHARS:,} characters, {words.MAX_WORDS} words, "
        f"{words.MAX_DEPTH} nested parentheses",
        "words with `~`": f"{words.MAX_SIMILAR_WORDS}; {words.MAX_TWO_LETTERS} of them with `~` or "
        f"`~2`, of at most {words.MAX_TWO_LETTERS_CHARS} letters",
        "all its `filters` together": f"{conditions.MAX_CONDITIONS:,} conditions, "
        f"{metadata_text.MAX_WILDCARDS} wildcards, "
        f"{conditions.MAX_WORD_FILTERS} words without a field",
        "one of them": f"{filters.MAX_CHARS:,} characters",
        "`metadataQuery`": f"{metadata_text.MAX_ELEMENTS} elements, "
        f"{metadata_text.MAX_WILDCARDS} of them with wildcards or parts of values",
        "`metadataFilters`, `metadataFacets`": f"{models.MAX_FILTERS} and {models.MAX_FACETS}",
        "`geoSearch`": f"{geo_search.MAX_POSITIONS:,} positions; {geo_search.MAX_PARTS} parts "
        "with `contains`",
        "the whole query, including the rules of its caller": f"{MAX_CLAUSES:,} conditions",
        "metadata keys with texts in `sort`, times the hits": f"{queries.MAX_SORTED_TEXTS:,}",
        "hits, page by page (`from`, `size`)": f"{models.MAX_WINDOW:,}, and "
        f"{models.MAX_SIZE:,} in a page",
    }
    page = (ROOT / "docs" / "guides" / "searching.md").read_text(encoding="utf-8")
    limited = page.partition("## What one search takes")[2]
    table = [line for line in limited.splitlines() if line.startswith("|")]
    assert table[2:] == [f"| {of} | {most} |" for of, most in limits.items()]
    for fact in (
        f"longer than {models.MAX_CURSOR_CHARS:,} characters",
        f"has at most {hits.DOCUMENT_BYTES:,} bytes",
        f'says `"{hits.CUT}": true`',
        f"On pages of more than {hits.MARKED_AT_ONCE} hits",
        f"expires {cursors.PAUSE_SECONDS} seconds",
        f"{cursors.PLACES} can be open in all",
        f"Of the last {cursors.FOR_OTHERS} places",
    ):
        assert fact in page
    assert cursors.MAX_OPEN == 10  # the page says "ten"


GENERATED = pages()


@pytest.mark.parametrize("name", GENERATED)
def test_a_reference_page_is_up_to_date(name: str) -> None:
    assert (REFERENCE / name).read_text(encoding="utf-8") == GENERATED[name], "run: make docs"


def test_every_reference_page_is_generated() -> None:
    assert {path.name for path in REFERENCE.iterdir()} == {*GENERATED, COSTS}


def test_the_declarations_of_the_web_page_are_up_to_date() -> None:
    assert FILE.read_text(encoding="utf-8") == web_declarations(), "run: make docs"


def test_the_page_on_costs_has_the_prices_and_units_of_today() -> None:
    # The rest of the page is measured; the part `costs` compares it.
    assert "\n".join(idle_costs()) in (REFERENCE / COSTS).read_text(encoding="utf-8")


def test_every_schema_of_the_api_has_a_name_of_its_own() -> None:
    # If two models have one name, the path of the module is part of both names.
    schemas = json.loads(GENERATED["openapi.json"])["components"]["schemas"]
    assert [name for name in schemas if "__" in name] == []
