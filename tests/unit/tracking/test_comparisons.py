"""Comparators of searches, apart from the stores: also what a missing value meets."""

import mlflow
import pytest
from mlflow.exceptions import MlflowException
from vitrine_mlflow.comparisons import COMPARISONS, like_matches, matches, whole_number

assert mlflow.__version__  # MLflow loads this package as a plugin, so it must come first


@pytest.mark.parametrize("comparator", COMPARISONS)
def test_a_missing_value_meets_no_comparator(comparator: str) -> None:
    wanted = ("a", "b") if comparator.endswith("IN") else "a"
    assert not matches(None, comparator, wanted)
    assert any(matches(value, comparator, wanted) for value in ("0", "a", "c"))


@pytest.mark.parametrize(
    ("text", "pattern", "with_case", "without"),
    [
        ("one", "o%", True, True),
        ("One", "o%", False, True),
        ("one", "o_e", True, True),
        ("one", "on", False, False),
        ("a.b", "a_b", True, True),
        ("axb", "a.b", False, False),
        ("a\nb", "a%b", True, True),
        ("Ü", "ü", False, False),  # SQLite lowers ASCII letters only
        ("", "%", True, True),
    ],
)
def test_like_is_that_of_sqlite(text: str, pattern: str, with_case: bool, without: bool) -> None:
    assert like_matches(text, pattern, ignore_case=False) == with_case
    assert like_matches(text, pattern, ignore_case=True) == without


def test_numbers_are_whole() -> None:
    assert whole_number("start_time", ">", "12") == 12
    for comparator, value in (("LIKE", 1), (">", 1.5), (">", "x"), (">", None)):
        with pytest.raises(MlflowException):
            whole_number("start_time", comparator, value)
