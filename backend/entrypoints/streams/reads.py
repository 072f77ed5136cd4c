"""The function that enters into the audit trail what users read, as a queue reports it."""

from backend.entrypoints import ready
from backend.entrypoints.read_log import ReadsWiring
from backend.spec.functions import READ_ENTRIES

handler = ready(ReadsWiring(READ_ENTRIES).reads_handler)
