"""The function that makes the audit entries of new assets, as the stream of their table tells."""

from backend.entrypoints import ready
from backend.entrypoints.audit_streams import AuditingWiring
from backend.spec.functions import AUDIT_CREATIONS

handler = ready(AuditingWiring(AUDIT_CREATIONS).creations_handler)
