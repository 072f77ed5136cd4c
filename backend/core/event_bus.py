"""The port to the bus that receives events. `backend/aws/event_bus.py` implements it."""

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY
from typing import Any, Protocol

from backend.values import frozen


@frozen
class Event:
    """An event: its type, its time (ISO 8601, UTC) and its content."""

    _: KW_ONLY
    type: str
    at: str
    detail: Mapping[str, Any]


class EventBus(Protocol):
    def publish(self, events: Sequence[Event]) -> set[int]:
        """Publish events; return the positions of those that the bus did not accept.

        Raises:
            UnavailableError: the bus is unavailable or throttles; some may have been published.
        """
        ...
