"""The function that quarantines object versions in which malware scans find threats."""

from backend.entrypoints import ready
from backend.entrypoints.quarantine import QuarantineWiring
from backend.spec.functions.workers import QUARANTINE

handler = ready(QuarantineWiring(QUARANTINE).results_handler)
