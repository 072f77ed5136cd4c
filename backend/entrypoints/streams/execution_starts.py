"""The function that starts waiting executions."""

from backend.entrypoints.wiring.events import handle
from backend.entrypoints.wiring.execution_workers import starts
from backend.spec.functions.executions import EXECUTION_STARTER

handler = handle(EXECUTION_STARTER, starts)
