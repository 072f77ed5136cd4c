"""The function of the domain pipelines."""

from backend.domains.pipelines.routes import build_router
from backend.entrypoints.wiring.api import serve
from backend.entrypoints.wiring.pipelines import pipeline_commands, pipelines
from backend.spec.functions.executions import PIPELINES_API

handler = serve(
    PIPELINES_API, lambda context: build_router(pipelines(context), pipeline_commands(context))
)
