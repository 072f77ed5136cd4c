"""Grants are what each function is said to request, never all that its declaration would allow."""

import pytest

from backend.spec.functions import FUNCTIONS, Function
from backend.spec.functions.requests import REQUESTS


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.name)
def test_a_function_says_what_it_requests_of_all_that_it_reads_or_changes(
    function: Function,
) -> None:
    used = {*function.reads, *function.writes}
    silent = used - set(REQUESTS.get(function.name, {}))
    assert {resource.name for resource in silent} == set()
