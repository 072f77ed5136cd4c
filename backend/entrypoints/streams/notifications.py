"""The function that notifies subscribers and passes events on, from the stream of audit entries."""

from backend.aws.items import from_wire
from backend.domains.subscriptions.service.consumers import NotificationsConsumer
from backend.entrypoints.wiring.context import Context
from backend.entrypoints.wiring.events import Run, handle
from backend.entrypoints.wiring.failures import failures
from backend.entrypoints.wiring.outgoing_events import outgoing_events
from backend.entrypoints.wiring.subscriptions import notifier
from backend.spec.functions.workers import NOTIFIER


def _consumer(context: Context) -> Run:
    store_failure, outgoing = failures(context).store, outgoing_events(context)
    return NotificationsConsumer(notifier(context), from_wire, store_failure, outgoing).consume


handler = handle(NOTIFIER, _consumer)
