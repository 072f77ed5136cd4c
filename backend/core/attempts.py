"""Repeats writes that conflict with writes of other requests."""

from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def attempts(
    count: int,
    *conflicts: type[Exception],
    refusal: Callable[..., Exception] | None = None,
) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Call a function until it succeeds without a conflict, at most `count` times.

    The function reads what it changes in each attempt. `refusal` builds the error that replaces the
    conflict of the last attempt.
    """

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        @wraps(function)
        def attempt(*args: P.args, **kwargs: P.kwargs) -> T:
            for _ in range(count - 1):
                with suppress(*conflicts):
                    return function(*args, **kwargs)
            try:
                return function(*args, **kwargs)
            except conflicts as conflict:
                if refusal is None:
                    raise
                raise refusal(*args, **kwargs) from conflict

        return attempt

    return decorate
