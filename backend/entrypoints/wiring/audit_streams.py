"""Wires the consumers of streams and of the queue that write the audit log."""

from backend.aws.items import from_wire
from backend.core.deliveries import StoreFailure
from backend.domains.audit.repository import AuditRepository
from backend.domains.audit.service.streams import (
    Creations,
    CreationsConsumer,
    ExpiredEntries,
    ExpiryConsumer,
)
from backend.entrypoints.wiring.context import Context
from backend.entrypoints.wiring.events import Run


def creations(context: Context, store_failure: StoreFailure) -> Run:
    written = Creations(AuditRepository(context.tables), context.audit)
    return CreationsConsumer(written, from_wire, store_failure).consume


def expired_entries(context: Context, store_failure: StoreFailure) -> Run:
    return ExpiryConsumer(ExpiredEntries(context.audit_archive), from_wire, store_failure).consume
