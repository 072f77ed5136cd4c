"""Wires the queries of the audit log, and its entries of operations that change no item."""

from backend.domains.audit.repository import AuditRepository
from backend.domains.audit.service.commands import AuditNotes
from backend.domains.audit.service.queries import AuditTrail
from backend.entrypoints.wiring.context import Context


def audit_trail(context: Context) -> AuditTrail:
    repository = AuditRepository(context.tables)
    return AuditTrail(repository, context.audit_archive, context.authorization)


def audit_notes(context: Context) -> AuditNotes:
    return AuditNotes(AuditRepository(context.tables), context.audit)
