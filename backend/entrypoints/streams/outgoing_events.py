"""The function that publishes changes of assets as events."""

from backend.entrypoints.wiring.events import handle
from backend.entrypoints.wiring.outgoing_events import publisher
from backend.spec.functions.workers import EVENT_PUBLISHER

handler = handle(EVENT_PUBLISHER, publisher)
