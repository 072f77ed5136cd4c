"""What a function loads when it starts, measured against the libraries that all of them need."""

import pytest

from backend.spec.functions import FUNCTIONS, Function
from tests.architecture.starting import Start, libraries, start_of

MOST = 1.5
"""Times what the libraries alone take, in processor time.

A machine that does other things disturbs the larger program more: the aim is 1.25, in instructions
(`python -m benchmarks.starts`).
"""
_ROUNDS = 12
_FORBIDDEN = frozenset(
    {"moto", "aws_cdk", "constructs", "jsii", "pytest", "local", "tests", "infra"}
)
_SEARCH = frozenset({"opensearchpy", "requests"})


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.name)
def test_a_function_loads_nothing_that_it_does_not_need(function: Function) -> None:
    start = start_of(function)
    start.run()
    assert not start.packages & _FORBIDDEN
    if function.search == "none":
        assert not start.packages & _SEARCH


@pytest.mark.alone
def test_a_function_starts_in_little_more_than_its_libraries_take() -> None:
    alone, searching = libraries(searching=False), libraries(searching=True)
    waiting: dict[str, tuple[Function, Start]] = {
        function.name: (function, start_of(function)) for function in FUNCTIONS
    }
    ratios: dict[str, float] = {}
    for _ in range(_ROUNDS):  # a run that was disturbed only takes longer: the least counts
        least, least_searching = alone.run(), searching.run()
        for name, (function, start) in list(waiting.items()):
            needed = least if function.search == "none" else least_searching
            ratios[name] = start.run() / needed
        if len(alone.seconds) >= 3:
            waiting = {name: each for name, each in waiting.items() if ratios[name] > MOST}
        if not waiting:
            return
    assert not {name: ratios[name] for name in waiting}
