"""Wires pipelines and workflows."""

from dataclasses import dataclass
from functools import cached_property

from backend.domains.identity.repository.profiles import ProfileRepository
from backend.domains.identity.service.profiles import DeletedUsers
from backend.domains.pipelines.repository import PipelineRepository
from backend.domains.pipelines.rules import Allowed
from backend.domains.pipelines.service import PipelineCommands, PipelineQueries
from backend.domains.workflows.repository import WorkflowRepository
from backend.domains.workflows.service import (
    AssociatedUpdates,
    WorkflowCommands,
    WorkflowQueries,
    WorkflowTriggers,
)
from backend.entrypoints.wiring import Wiring
from backend.spec.functions import pipeline_functions
from backend.spec.settings import ALLOWED_PIPELINES


@dataclass(eq=False, repr=False)
class WorkflowWiring(Wiring):
    """Creates the services of pipelines, workflows and executions."""

    @cached_property
    def pipelines(self) -> PipelineQueries:
        return PipelineQueries(PipelineRepository(self.tables), self.authorization)

    @cached_property
    def pipeline_commands(self) -> PipelineCommands:
        return PipelineCommands(
            pipelines=PipelineRepository(self.tables),
            databases=self.databases,
            workflows=AssociatedUpdates(
                WorkflowRepository(self.tables),
                self.pipelines,
                self.authorization,
                self.audit,
                self.clock,
            ),
            allowed=Allowed(
                product=frozenset(pipeline_functions()),
                arns=frozenset(self.settings.text(ALLOWED_PIPELINES).split(",")),
            ),
            authorization=self.authorization,
            audit=self.audit,
            clock=self.clock,
        )

    @cached_property
    def workflows(self) -> WorkflowQueries:
        return WorkflowQueries(
            workflows=WorkflowRepository(self.tables),
            authorization=self.authorization,
            is_processed=self.is_processed,
        )

    @cached_property
    def workflow_triggers(self) -> WorkflowTriggers:
        return WorkflowTriggers(DeletedUsers(ProfileRepository(self.tables)))

    @cached_property
    def workflow_commands(self) -> WorkflowCommands:
        return WorkflowCommands(
            workflows=WorkflowRepository(self.tables),
            pipelines=self.pipelines,
            databases=self.databases,
            authorization=self.authorization,
            audit=self.audit,
            clock=self.clock,
        )
