"""The function that stores what the pipelines of an execution wrote."""

from backend.entrypoints import ready
from backend.entrypoints.outputs import OutputWiring, outputs_handler
from backend.spec.functions.executions import PROCESS_OUTPUT

handler = ready(outputs_handler(OutputWiring(PROCESS_OUTPUT)))
