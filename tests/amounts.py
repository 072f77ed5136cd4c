"""Amounts of random input in tests: small in every run, large in long parts of `make prove`.

An environment variable with the name of an amount overrides both.
"""

import os
from typing import NamedTuple


class Amount(NamedTuple):
    """An amount in `make test` and the parts of CI, and in a long part."""

    few: int
    many: int


AMOUNTS = {
    "CONCURRENCY_SECONDS": Amount(10, 60),
    "ENGINE_HISTORIES": Amount(5, 300),
    "EVENT_KILLS": Amount(3, 100),
    "FUZZ_EXAMPLES": Amount(1, 100),
    "HISTORIES": Amount(40, 10_000),
    "IMPORTED_MODULES": Amount(6, 1000),
    "MLFLOW_HISTORIES": Amount(10, 1000),
    "MLFLOW_REGISTRY_HISTORIES": Amount(4, 100),
    "MLFLOW_TRACE_HISTORIES": Amount(3, 100),
    "MODEL_HISTORIES": Amount(30, 3000),
    "POLICIES": Amount(30, 5000),
    "SEARCHES": Amount(100, 10_000),
    "SEARCH_POLICIES": Amount(50, 5000),
    "VERSION_CLIENTS": Amount(4, 8),
}


def amount(variable: str) -> int:
    """Return the amount of a test in this run."""
    return int(os.environ.get(variable, AMOUNTS[variable].few))
