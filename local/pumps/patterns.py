"""Event patterns: which events match a rule or a filter. moto implements their grammar."""

from collections.abc import Callable, Iterable, Mapping
from typing import cast

from pydantic import JsonValue

Matches = Callable[[Mapping[str, JsonValue]], bool]


def compile_pattern(pattern: str) -> Matches:
    """Return a test for events.

    Raises:
        ValueError: the pattern is malformed.
    """
    # importing moto takes long, and only deployments with patterns need it
    from moto.events.exceptions import InvalidEventPatternException  # noqa: PLC0415
    from moto.events.models import EventPattern  # noqa: PLC0415

    try:
        compiled = EventPattern.load(pattern)
    except InvalidEventPatternException as error:
        raise ValueError(f"the event pattern {pattern} is malformed: {error}") from error
    return cast("Matches", compiled.matches_event)


def any_of(patterns: Iterable[str]) -> Matches:
    """Return a test whether one of the patterns matches; without patterns all events match.

    Raises:
        ValueError: a pattern is malformed.
    """
    compiled = [compile_pattern(pattern) for pattern in patterns]
    if not compiled:
        return lambda _event: True
    return lambda event: any(matches(event) for matches in compiled)
