"""The function that writes reads of users to the audit log, from a queue."""

from backend.entrypoints import ready
from backend.entrypoints.read_log import ReadsWiring
from backend.spec.functions.workers import READ_ENTRIES

handler = ready(ReadsWiring(READ_ENTRIES).reads_handler)
