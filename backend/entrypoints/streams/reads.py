"""The function that writes reads of users to the audit log, from a queue."""

from backend.entrypoints.wiring.events import handle
from backend.entrypoints.wiring.reads import reads
from backend.spec.functions.workers import READ_ENTRIES

handler = handle(READ_ENTRIES, reads)
