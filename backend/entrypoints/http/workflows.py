"""The function of the domain workflows."""

from backend.domains.workflows.routes import build_router
from backend.entrypoints.wiring.api import serve
from backend.entrypoints.wiring.workflows import workflow_commands, workflow_triggers, workflows
from backend.spec.functions.executions import WORKFLOWS_API

handler = serve(
    WORKFLOWS_API,
    lambda context: build_router(
        workflows(context), workflow_commands(context), workflow_triggers(context)
    ),
)
