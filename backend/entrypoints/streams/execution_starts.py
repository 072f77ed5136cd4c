"""The function that starts waiting executions."""

from backend.entrypoints import ready
from backend.entrypoints.execution_workers import ExecutionWorkerWiring
from backend.spec.functions.executions import EXECUTION_STARTER

handler = ready(ExecutionWorkerWiring(EXECUTION_STARTER).starts_handler)
