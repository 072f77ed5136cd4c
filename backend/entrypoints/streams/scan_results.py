"""The function that quarantines object versions, as malware scans find threats in them."""

from backend.entrypoints import ready
from backend.entrypoints.quarantine import QuarantineWiring
from backend.spec.functions import QUARANTINE

handler = ready(QuarantineWiring(QUARANTINE).results_handler)
