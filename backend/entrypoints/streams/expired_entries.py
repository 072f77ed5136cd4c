"""The function that archives audit entries when they expire."""

from backend.entrypoints.wiring.audit_streams import expired_entries
from backend.entrypoints.wiring.events import handle
from backend.entrypoints.wiring.failures import failures
from backend.spec.functions.workers import AUDIT_ARCHIVER

handler = handle(AUDIT_ARCHIVER, lambda context: expired_entries(context, failures(context).store))
