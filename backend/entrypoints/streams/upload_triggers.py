"""The function that starts workflows on uploaded files."""

from backend.entrypoints import ready
from backend.entrypoints.execution_workers import ExecutionWorkerWiring
from backend.spec.functions.executions import UPLOAD_TRIGGER

handler = ready(ExecutionWorkerWiring(UPLOAD_TRIGGER).triggers_handler)
