"""The function that compares executions with what Step Functions reports."""

from backend.entrypoints.wiring.events import handle
from backend.entrypoints.wiring.execution_workers import reconciliation_run
from backend.spec.functions.executions import RECONCILE_EXECUTIONS

handler = handle(RECONCILE_EXECUTIONS, reconciliation_run)
