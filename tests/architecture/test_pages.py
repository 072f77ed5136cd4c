"""What pages name in the repository is there; `tests/journeys/test_docs.py` follows their links."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
_FOLDERS = "backend|benchmarks|client|docs|infra|local|samples|tests"
_NAMED = re.compile(rf"`((?:{_FOLDERS})/[^`\s]*)`")


def named(text: str) -> list[str]:
    """The files and folders that a text names in code; `*` stands for any letters."""
    return _NAMED.findall(text)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_names_only_files_that_are_there(page: Path) -> None:
    found = named(page.read_text(encoding="utf-8"))
    assert [path for path in found if not any(ROOT.glob(path))] == []


def test_a_file_that_is_named_and_gone_is_seen() -> None:
    found = named("as `backend/none.py` does, or `tests/*/none.py`; see `make docs` and `a/b`")
    assert found == ["backend/none.py", "tests/*/none.py"]
    assert not any(any(ROOT.glob(path)) for path in found)
