"""A request ends with a reply before its function is ended."""

import pytest

from backend.core.deadlines import Deadline, OutcomeUnknownError


def test_work_is_refused_when_too_little_time_is_left_and_only_within_a_request() -> None:
    now = 100.0
    deadline = Deadline(lambda: now)
    deadline.check()
    deadline.begin(29)
    now += 24
    deadline.check()
    with pytest.raises(OutcomeUnknownError, match="read the current state before you repeat it"):
        deadline.check(10)
    now += 0.1
    with pytest.raises(OutcomeUnknownError):
        deadline.check()
    deadline.begin(None)
    deadline.check()


def test_a_call_with_a_time_limit_ends_before_the_request() -> None:
    now = 100.0
    deadline = Deadline(lambda: now)
    assert deadline.within(20) == 20
    deadline.begin(29)
    assert deadline.within(20) == 20
    now += 20
    assert deadline.within(20) == 7
    now += 4.1
    with pytest.raises(OutcomeUnknownError):
        deadline.within(20)
