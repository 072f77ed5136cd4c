"""The guide lists what differs from MLflow's SQL store as the differential tests do."""

import re
from pathlib import Path

from tests.integration.tracking.differences import Difference

ROOT = Path(__file__).parents[3]
MOST = 10


def test_the_guide_has_the_list_of_the_tests() -> None:
    guide = (ROOT / "docs" / "guides" / "tracking.md").read_text(encoding="utf-8")
    section = guide.partition("## Where it differs from MLflow's SQL store")[2].partition("\n## ")[
        0
    ]
    assert re.findall(r"^\d+\. (.+)$", section, re.MULTILINE) == [
        difference.value for difference in Difference
    ]
    assert len(Difference) <= MOST


def test_each_difference_is_named_where_a_test_leaves_it_out() -> None:
    tests = (ROOT / "tests" / "integration" / "tracking").glob("*.py")
    text = "\n".join(file.read_text(encoding="utf-8") for file in tests)
    named = set(re.findall(r"\bDifference\.([A-Z_]+)\b", text))
    assert named == set(Difference.__members__)
