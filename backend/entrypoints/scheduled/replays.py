"""The function that replays what mappings gave up."""

from backend.entrypoints.operations import OperationsWiring
from backend.spec.functions import REPLAY_FAILURES

handler = OperationsWiring(REPLAY_FAILURES).replays_handler
