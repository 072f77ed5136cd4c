"""The function that follows the status of executions."""

from backend.entrypoints.wiring.events import handle
from backend.entrypoints.wiring.execution_workers import status
from backend.spec.functions.executions import EXECUTION_FOLLOWER

handler = handle(EXECUTION_FOLLOWER, status)
