"""The function that stores what the pipelines of an execution wrote."""

from backend.entrypoints.wiring.events import handle
from backend.entrypoints.wiring.outputs import outputs
from backend.spec.functions.executions import PROCESS_OUTPUT

handler = handle(PROCESS_OUTPUT, outputs)
