"""EventBridge, or a queue in its place, behind the port `core.event_bus.EventBus`."""

import json
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from backend.aws.errors import translated
from backend.core.event_bus import Event
from backend.core.queues import Queues
from backend.spec.events import SOURCE
from backend.spec.queues import EVENT_FEED

if TYPE_CHECKING:
    from mypy_boto3_events import EventBridgeClient

_BATCH = 10  # EventBridge's limit of events per request
_BATCH_BYTES = 240_000  # below EventBridge's limit of 256 KB per request
_log = logging.getLogger(__name__)


@dataclass(eq=False, repr=False)
class EventBridgeBus:
    """A bus of EventBridge (see the port for what it promises)."""

    client: "EventBridgeClient"
    name: str

    def publish(self, events: Sequence[Event]) -> set[int]:
        refused: set[int] = set()
        for batch in _batches([json.dumps(event.detail) for event in events]):
            entries: list[Any] = [
                {
                    "EventBusName": self.name,
                    "Source": SOURCE,
                    "DetailType": events[position].type,
                    "Time": datetime.fromisoformat(events[position].at),
                    "Detail": text,
                }
                for position, text in batch.items()
            ]
            with translated("EventBridge"):
                reply = self.client.put_events(Entries=entries)
            for position, result in zip(batch, reply["Entries"], strict=True):
                if "EventId" not in result:
                    _log.warning(
                        "the bus refused an event: %s: %s",
                        *(result.get("ErrorCode"), result.get("ErrorMessage")),
                    )
                    refused.add(position)
        return refused


@dataclass(eq=False, repr=False)
class QueuedEvents:
    """A queue with the parts of EventBridge's envelope that derive from the event."""

    queues: Queues

    def publish(self, events: Sequence[Event]) -> set[int]:
        self.queues.send(
            EVENT_FEED,
            [
                {
                    "source": SOURCE,
                    "detail-type": event.type,
                    "time": event.at,
                    "detail": event.detail,
                }
                for event in events
            ],
        )
        return set()


def _batches(texts: Sequence[str]) -> Iterator[dict[int, str]]:
    """Yield texts by their position, as many as a request may have."""
    batch: dict[int, str] = {}
    size = 0
    for position, text in enumerate(texts):
        if batch and (len(batch) == _BATCH or size + len(text) > _BATCH_BYTES):
            yield batch
            batch, size = {}, 0
        batch[position] = text
        size += len(text)
    if batch:
        yield batch
