"""Wires the creation of the first administrator and of other initial rows."""

from backend.core.ids import new_uuid
from backend.domains.access.repository.constraints import ConstraintRepository
from backend.domains.access.repository.roles import GrantRepository
from backend.domains.access.service.administrator_rules import AdministratorRules
from backend.domains.access.service.assigned_roles import AssignedRoles
from backend.domains.identity.repository.keys import ApiKeyRepository
from backend.domains.identity.repository.profiles import ProfileRepository
from backend.domains.identity.service.first_administrator import Administrators
from backend.domains.pipelines.repository import PipelineRepository
from backend.domains.pipelines.service.commands import ShippedPipelines
from backend.domains.pipelines.service.queries import PipelineQueries
from backend.domains.workflows.repository import WorkflowRepository
from backend.domains.workflows.service.commands import ShippedWorkflows
from backend.entrypoints.wiring.context import Context


def administrators(context: Context) -> Administrators:
    keys, profiles = ApiKeyRepository(context.tables), ProfileRepository(context.tables)
    roles = AssignedRoles(GrantRepository(context.tables))
    return Administrators(keys, profiles, roles, context.pepper, context.clock)


def administrator_rules(context: Context) -> AdministratorRules:
    return AdministratorRules(ConstraintRepository(context.tables), context.clock, new_uuid)


def shipped_pipelines(context: Context) -> ShippedPipelines:
    return ShippedPipelines(PipelineRepository(context.tables), context.clock)


def shipped_workflows(context: Context) -> ShippedWorkflows:
    pipelines = PipelineQueries(PipelineRepository(context.tables), context.authorization)
    return ShippedWorkflows(WorkflowRepository(context.tables), pipelines, context.clock)
