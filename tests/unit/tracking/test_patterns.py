"""The declaration of access patterns: complete, and each names a function that exists."""

from collections import Counter
from importlib import import_module
from typing import Any

import mlflow
import pytest
from vitrine_mlflow.patterns import PATTERNS, AccessPattern

# how many patterns the schema lists by area
AREAS = {
    "Experiments": 8,
    "Runs": 10,
    "Metrics, params and tags": 8,
    "Search and ranking": 5,
    "Traces": 7,
    "Datasets": 4,
    "Logged models": 2,
    "Model registry": 10,
    "Authentication and authorization": 9,
    "Workspace": 2,
    "Configuration": 3,
}


def test_all_68_patterns_are_declared_once() -> None:
    assert Counter(pattern.area for pattern in PATTERNS) == AREAS
    assert len({pattern.name for pattern in PATTERNS}) == 68


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern.name)
def test_a_pattern_names_its_function(pattern: AccessPattern) -> None:
    assert mlflow.__version__  # MLflow loads this package as a plugin, so it must come first
    member: Any = import_module("vitrine_mlflow")
    path = pattern.function.split(".")
    for number, name in enumerate(path):
        if not hasattr(member, name):
            import_module(".".join(["vitrine_mlflow", *path[: number + 1]]))
        member = getattr(member, name)
    assert callable(member)
