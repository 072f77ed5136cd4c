"""The function that follows the status of executions."""

from backend.entrypoints import ready
from backend.entrypoints.execution_workers import ExecutionWorkerWiring
from backend.spec.functions.executions import EXECUTION_FOLLOWER

handler = ready(ExecutionWorkerWiring(EXECUTION_FOLLOWER).status_handler)
