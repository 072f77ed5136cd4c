"""The function that writes the audit entries of new assets from the stream of their table."""

from backend.entrypoints import ready
from backend.entrypoints.audit_streams import AuditingWiring
from backend.spec.functions.workers import AUDIT_CREATIONS

handler = ready(AuditingWiring(AUDIT_CREATIONS).creations_handler)
