"""The function that follows the status of executions."""

from backend.entrypoints import ready
from backend.entrypoints.execution_workers import ExecutionWorkerWiring
from backend.spec.functions import EXECUTION_STATUS

handler = ready(ExecutionWorkerWiring(EXECUTION_STATUS).status_handler)
