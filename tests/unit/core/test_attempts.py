"""Repeated attempts of conflicting writes."""

import pytest

from backend.core.attempts import attempts


class _ConflictError(Exception):
    pass


def _failing(times: int, error: Exception) -> list[Exception | None]:
    return [*[error] * times, None]


def _run(outcomes: list[Exception | None]) -> int:
    outcome = outcomes.pop(0)
    if outcome is not None:
        raise outcome
    return len(outcomes)


def _refused(outcomes: list[Exception | None]) -> Exception:
    return LookupError(f"{len(outcomes)} left")


def test_a_conflict_is_tried_again_until_the_last_attempt() -> None:
    run = attempts(3, _ConflictError)(_run)
    assert run(_failing(2, _ConflictError("it"))) == 0
    outcomes = _failing(3, _ConflictError("it"))
    with pytest.raises(_ConflictError, match=r"^it$"):
        run(outcomes)
    assert outcomes == [None]


def test_the_last_conflict_is_replaced_by_the_refusal() -> None:
    run = attempts(2, _ConflictError, refusal=_refused)(_run)
    assert run(_failing(1, _ConflictError())) == 0
    with pytest.raises(LookupError, match="1 left") as error:
        run(_failing(2, _ConflictError()))
    assert isinstance(error.value.__cause__, _ConflictError)


def test_other_errors_are_raised_at_once() -> None:
    outcomes = _failing(3, ValueError())
    with pytest.raises(ValueError, match=r"^$"):
        attempts(3, _ConflictError, refusal=_refused)(_run)(outcomes)
    assert len(outcomes) == 3
