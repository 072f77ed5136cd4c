"""The function that replays batches which stream mappings gave up."""

from backend.entrypoints.wiring.events import handle
from backend.entrypoints.wiring.operations import replays
from backend.spec.functions.operations import REPLAY_FAILURES

handler = handle(REPLAY_FAILURES, replays)
