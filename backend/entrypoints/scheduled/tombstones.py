"""The function that removes old tombstones."""

from backend.entrypoints.wiring.events import handle
from backend.entrypoints.wiring.operations import tombstones
from backend.spec.functions.operations import SWEEP_TOMBSTONES

handler = handle(SWEEP_TOMBSTONES, tombstones)
