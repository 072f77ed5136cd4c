"""Engines that do not answer."""

from typing import Any

from backend.core.errors import UnavailableError


def unavailable(*_: object, **__: object) -> Any:
    """Fail as a port does while its engine does not answer."""
    raise UnavailableError("the engine does not answer")
