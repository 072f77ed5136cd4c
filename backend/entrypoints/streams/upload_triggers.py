"""The function that starts workflows on uploaded files."""

from backend.entrypoints.wiring.events import handle
from backend.entrypoints.wiring.execution_workers import triggers
from backend.spec.functions.executions import UPLOAD_TRIGGER

handler = handle(UPLOAD_TRIGGER, triggers)
