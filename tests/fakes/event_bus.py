"""A bus in memory that may refuse events; the contract suite also tests it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from backend.core.event_bus import Event


@dataclass
class MemoryBus:
    """The port `EventBus`. `refuses` decides for each event; `before` and `after` may raise."""

    published: list[Event] = field(default_factory=list[Event])
    refuses: Callable[[Event], bool] = lambda event: False
    before: Callable[[], None] = lambda: None
    after: Callable[[], None] = lambda: None

    def publish(self, events: Sequence[Event]) -> set[int]:
        self.before()
        refused = {position for position, event in enumerate(events) if self.refuses(event)}
        self.published += [e for position, e in enumerate(events) if position not in refused]
        self.after()
        return refused
