"""The function that compares executions with what Step Functions reports."""

from backend.entrypoints import ready
from backend.entrypoints.execution_workers import ExecutionWorkerWiring
from backend.spec.functions.executions import RECONCILE_EXECUTIONS

handler = ready(ExecutionWorkerWiring(RECONCILE_EXECUTIONS).reconciliation_handler)
