"""The function of the domain executions."""

from functools import partial

from backend.domains.executions.routes import build_router
from backend.entrypoints.wiring.api import serve
from backend.entrypoints.wiring.executions import (
    console_link,
    execution_commands,
    execution_queries,
)
from backend.spec.functions.executions import EXECUTIONS_API

handler = serve(
    EXECUTIONS_API,
    lambda context: build_router(
        execution_commands(context), execution_queries(context), partial(console_link, context)
    ),
)
