"""Every deployed function: its handler, what it requests and sends, its size.

Grants and environment derive from these; a function has nothing that it does not use.
"""

from backend.spec.functions import apis, executions, inspection, operations, searches, workers
from backend.spec.functions.model import Function

__all__ = ["FUNCTIONS", "Function", "pipeline_functions"]

FUNCTIONS = (
    *(
        declared
        for module in (apis, searches, executions, operations, workers)
        for declared in vars(module).values()
        if isinstance(declared, Function)
    ),
    *inspection.READERS,
    *inspection.PIPELINES,
)


def pipeline_functions() -> tuple[str, ...]:
    """Return the names of the product's own functions that pipelines may invoke."""
    return tuple(function.name for function in FUNCTIONS if function.kind == "pipeline")
