"""The function that archives audit entries when they expire."""

from backend.entrypoints import ready
from backend.entrypoints.audit_streams import AuditingWiring
from backend.spec.functions.workers import AUDIT_ARCHIVER

handler = ready(AuditingWiring(AUDIT_ARCHIVER).expiry_handler)
