"""The templates are those that were reviewed, and the assets the same in every process."""

import difflib
from collections.abc import Callable

import pytest

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


def test_two_processes_write_the_same_assets(small: Assembly, prod: Assembly) -> None:
    """Their names are hashes of their contents."""
    names = [{path.name for path in a.folder.glob("asset.*")} for a in (small, prod)]
    assert names[0] == names[1]
    assert len(names[0]) == 4
