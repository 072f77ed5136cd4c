"""Wires the consumers of streams and of the queue that write the audit log."""

from backend.aws.items import from_wire
from backend.core.deliveries import Keep
from backend.domains.audit.repository import AuditRepository
from backend.domains.audit.service.streams import (
    Creations,
    CreationsConsumer,
    ExpiredEntries,
    ExpiryConsumer,
)
from backend.entrypoints.wiring.context import Context
from backend.entrypoints.wiring.events import Run


def creations(context: Context, keep: Keep) -> Run:
    written = Creations(AuditRepository(context.tables), context.audit)
    return CreationsConsumer(written, from_wire, keep).consume


def expired_entries(context: Context, keep: Keep) -> Run:
    return ExpiryConsumer(ExpiredEntries(context.audit_archive), from_wire, keep).consume
