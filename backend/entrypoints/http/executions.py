"""The function of the domain executions."""

from backend.domains.executions.routes import build_router
from backend.entrypoints import ready
from backend.entrypoints.executions import ExecutionWiring
from backend.spec.functions.executions import EXECUTIONS_API

_wiring = ExecutionWiring(EXECUTIONS_API)
handler = ready(
    _wiring.app.handler(
        build_router(_wiring.execution_commands, _wiring.execution_queries, _wiring.link)
    )
)
