"""Wires pipelines."""

from backend.domains.pipelines.repository import PipelineRepository
from backend.domains.pipelines.rules import Allowed
from backend.domains.pipelines.service.commands import PipelineCommands
from backend.domains.pipelines.service.queries import PipelineQueries
from backend.domains.workflows.repository import WorkflowRepository
from backend.domains.workflows.service.associated import AssociatedUpdates
from backend.entrypoints.wiring.context import Context, once
from backend.entrypoints.wiring.databases import databases
from backend.spec.functions import pipeline_functions
from backend.spec.settings import ALLOWED_PIPELINES


@once
def pipelines(context: Context) -> PipelineQueries:
    return PipelineQueries(PipelineRepository(context.tables), context.authorization)


def pipeline_commands(context: Context) -> PipelineCommands:
    return PipelineCommands(
        pipelines=PipelineRepository(context.tables),
        databases=databases(context),
        workflows=AssociatedUpdates(
            WorkflowRepository(context.tables),
            pipelines(context),
            context.authorization,
            context.audit,
            context.clock,
        ),
        allowed=Allowed(
            product=frozenset(pipeline_functions()),
            arns=frozenset(context.settings.text(ALLOWED_PIPELINES).split(",")),
        ),
        authorization=context.authorization,
        audit=context.audit,
        clock=context.clock,
    )
