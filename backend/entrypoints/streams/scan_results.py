"""The function that quarantines object versions in which malware scans find threats."""

from backend.entrypoints.wiring.events import handle
from backend.entrypoints.wiring.quarantine import scan_results
from backend.spec.functions.workers import QUARANTINE

handler = handle(QUARANTINE, scan_results)
