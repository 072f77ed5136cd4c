"""The function of the domain workflows."""

from backend.domains.workflows.routes import build_router
from backend.entrypoints import ready
from backend.entrypoints.workflow_wiring import WorkflowWiring
from backend.spec.functions.executions import WORKFLOWS_API

_wiring = WorkflowWiring(WORKFLOWS_API)
_router = build_router(_wiring.workflows, _wiring.workflow_commands, _wiring.workflow_triggers)
handler = ready(_wiring.app.handler(_router))
