"""The function that writes the audit entries of new assets from the stream of their table."""

from backend.entrypoints.wiring.audit_streams import creations
from backend.entrypoints.wiring.events import handle
from backend.entrypoints.wiring.failures import failures
from backend.spec.functions.workers import AUDIT_CREATIONS

handler = handle(AUDIT_CREATIONS, lambda context: creations(context, failures(context).store))
