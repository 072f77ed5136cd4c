"""The templates are those that were reviewed, and the same in every process."""

import difflib
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.infra.conftest import AGAIN
from tests.infra.snapshots import FOLDER, snapshots
from tests.infra.templates import Assembly

MOST_LINES = 40
"""Lines of a difference that are shown."""


@pytest.fixture(scope="module")
def texts(synthesized: Callable[[str], Assembly]) -> dict[str, str]:
    return snapshots(synthesized)


def test_the_templates_are_those_of_the_snapshots(texts: dict[str, str]) -> None:
    """After a change, `make snapshots` writes them, for its review."""
    stored = {
        str(path.relative_to(FOLDER)): path.read_text(encoding="utf-8")
        for path in FOLDER.rglob("*.yaml")
    }
    changed = [
        line
        for name in sorted({*stored, *texts})
        for line in difflib.unified_diff(
            stored.get(name, "").splitlines(), texts.get(name, "").splitlines(), name, name, n=1
        )
    ]
    shown = changed[:MOST_LINES] + [f"… {len(changed)} lines"] * (len(changed) > MOST_LINES)
    assert not changed, "run `make snapshots`:\n" + "\n".join(shown)


def _files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_two_processes_write_the_same_bytes(
    prod: Assembly, synthesized: Callable[[str], Assembly]
) -> None:
    assert _files(synthesized(AGAIN).folder) == _files(prod.folder)
