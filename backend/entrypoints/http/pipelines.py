"""The function of the domain pipelines."""

from backend.domains.pipelines.routes import build_router
from backend.entrypoints import ready
from backend.entrypoints.workflow_wiring import WorkflowWiring
from backend.spec.functions.executions import PIPELINES_API

_wiring = WorkflowWiring(PIPELINES_API)
handler = ready(_wiring.app.handler(build_router(_wiring.pipelines, _wiring.pipeline_commands)))
