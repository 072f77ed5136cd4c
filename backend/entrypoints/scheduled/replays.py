"""The function that replays batches which stream mappings gave up."""

from backend.entrypoints import ready
from backend.entrypoints.operations import OperationsWiring
from backend.spec.functions.operations import REPLAY_FAILURES

handler = ready(OperationsWiring(REPLAY_FAILURES).replays_handler)
