"""Wires workflows."""

from functools import partial

from backend.domains.identity.repository.profiles import ProfileRepository
from backend.domains.identity.service.profiles import DeletedUsers
from backend.domains.workflows.repository import WorkflowRepository
from backend.domains.workflows.service.commands import WorkflowCommands
from backend.domains.workflows.service.queries import WorkflowQueries
from backend.domains.workflows.service.triggers import WorkflowTriggers
from backend.entrypoints.wiring.context import Context, once
from backend.entrypoints.wiring.databases import databases, is_processed
from backend.entrypoints.wiring.pipelines import pipelines


@once
def workflows(context: Context) -> WorkflowQueries:
    return WorkflowQueries(
        workflows=WorkflowRepository(context.tables),
        authorization=context.authorization,
        is_processed=partial(is_processed, context),
    )


def workflow_triggers(context: Context) -> WorkflowTriggers:
    return WorkflowTriggers(DeletedUsers(ProfileRepository(context.tables)))


def workflow_commands(context: Context) -> WorkflowCommands:
    return WorkflowCommands(
        workflows=WorkflowRepository(context.tables),
        pipelines=pipelines(context),
        databases=databases(context),
        authorization=context.authorization,
        audit=context.audit,
        clock=context.clock,
    )
