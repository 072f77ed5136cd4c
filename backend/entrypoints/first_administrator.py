"""Wires the creation of the first administrator and of other initial rows."""

from dataclasses import dataclass
from functools import cached_property

from backend.core.ids import new_uuid
from backend.domains.access.repository.constraints import ConstraintRepository
from backend.domains.access.repository.roles import GrantRepository
from backend.domains.access.service.administrator_rules import AdministratorRules
from backend.domains.access.service.assigned_roles import AssignedRoles
from backend.domains.configuration.repository import FeatureRepository
from backend.domains.configuration.service import Features
from backend.domains.identity.repository.keys import ApiKeyRepository
from backend.domains.identity.repository.profiles import ProfileRepository
from backend.domains.identity.service.first_administrator import Administrators
from backend.domains.pipelines.repository import PipelineRepository
from backend.domains.pipelines.service import PipelineQueries, ShippedPipelines
from backend.domains.workflows.repository import WorkflowRepository
from backend.domains.workflows.service import ShippedWorkflows
from backend.entrypoints.wiring import Wiring


@dataclass(eq=False, repr=False)
class DeploymentWiring(Wiring):
    """Creates the services of the bootstrap."""

    @cached_property
    def administrators(self) -> Administrators:
        keys, profiles = ApiKeyRepository(self.tables), ProfileRepository(self.tables)
        roles = AssignedRoles(GrantRepository(self.tables))
        return Administrators(keys, profiles, roles, self._pepper, self.clock)

    @cached_property
    def administrator_rules(self) -> AdministratorRules:
        return AdministratorRules(self.constraints, self.clock, new_uuid)

    @cached_property
    def constraints(self) -> ConstraintRepository:
        return ConstraintRepository(self.tables)

    @cached_property
    def shipped_pipelines(self) -> ShippedPipelines:
        return ShippedPipelines(PipelineRepository(self.tables), self.clock)

    @cached_property
    def shipped_workflows(self) -> ShippedWorkflows:
        pipelines = PipelineQueries(PipelineRepository(self.tables), self.authorization)
        return ShippedWorkflows(WorkflowRepository(self.tables), pipelines, self.clock)

    @cached_property
    def features(self) -> Features:
        return Features(FeatureRepository(self.tables))
