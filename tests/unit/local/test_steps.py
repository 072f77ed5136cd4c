"""Steps of a start, and reminders."""

import time

from local.steps import Steps


def _wait(lines: list[str], count: int) -> None:
    end = time.monotonic() + 10
    while len(lines) < count and time.monotonic() < end:
        time.sleep(0.01)


def test_a_long_step_is_named_again_until_the_start_ends() -> None:
    lines: list[str] = []
    steps = Steps(lines.append, quiet=0.05)
    steps("building")
    with steps.reminding():
        _wait(lines, 3)
    again = "still working; the last step was: building"
    assert lines[:3] == ["building", again, again]
    shown = len(lines)
    time.sleep(0.2)
    assert len(lines) == shown


def test_nothing_is_repeated_before_the_first_step_or_after_a_recent_one() -> None:
    lines: list[str] = []
    steps = Steps(lines.append, quiet=60)
    with steps.reminding():
        steps("building")
    assert lines == ["building"]
