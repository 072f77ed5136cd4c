"""The function that removes old tombstones."""

from backend.entrypoints import ready
from backend.entrypoints.operations import OperationsWiring
from backend.spec.functions.operations import SWEEP_TOMBSTONES

handler = ready(OperationsWiring(SWEEP_TOMBSTONES).tombstones_handler)
