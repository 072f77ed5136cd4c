"""Wires the hand-over of audit entries to the publisher of events, and the publisher."""

from backend.aws import clients
from backend.aws.event_bus import EventBridgeBus, QueuedEvents
from backend.core.event_bus import EventBus
from backend.domains.outgoing_events.repository import EventNumbers
from backend.domains.outgoing_events.service import EventPublisher, OutgoingEvents
from backend.entrypoints.wiring.context import Context, once
from backend.entrypoints.wiring.events import Run
from backend.entrypoints.wiring.failures import count_metric, failures
from backend.spec.queues import OUTGOING_EVENTS


def outgoing_events(context: Context) -> OutgoingEvents | None:
    """Return the hand-over; None if the deployment publishes no events."""
    return OutgoingEvents(context.queues) if context.settings.deploys(OUTGOING_EVENTS) else None


@once
def event_bus(context: Context) -> EventBus:
    name = context.settings.event_bus
    if name is None:
        return QueuedEvents(context.queues)
    return EventBridgeBus(clients.at_first_use(clients.events), name)


def publisher(context: Context) -> Run:
    return EventPublisher(
        EventNumbers(context.tables),
        event_bus(context),
        context.queues,
        failures(context).store,
        count_metric(context),
    ).consume
