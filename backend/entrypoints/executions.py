"""Wires executions and their routes."""

from dataclasses import dataclass
from functools import cached_property

from backend.domains.executions.repository import ActiveRepository, ExecutionRepository
from backend.domains.executions.service.commands import ExecutionCommands
from backend.domains.executions.service.progress import ExecutionProgress
from backend.domains.executions.service.queries import ExecutionQueries
from backend.entrypoints.workflow_wiring import WorkflowWiring


@dataclass(eq=False, repr=False)
class ExecutionWiring(WorkflowWiring):
    """Creates the common services of the functions of executions, and of the routes."""

    @cached_property
    def executions(self) -> ExecutionRepository:
        return ExecutionRepository(self.tables)

    @cached_property
    def active(self) -> ActiveRepository:
        return ActiveRepository(self.tables)

    @cached_property
    def progress(self) -> ExecutionProgress:
        return ExecutionProgress(self.executions, self.active, self.queues, self.clock)

    @cached_property
    def execution_queries(self) -> ExecutionQueries:
        return ExecutionQueries(self.executions, self.assets, self.runs, self.authorization)

    @cached_property
    def execution_commands(self) -> ExecutionCommands:
        return ExecutionCommands(
            executions=self.executions,
            active=self.active,
            progress=self.progress,
            queries=self.execution_queries,
            workflows=self.workflows,
            pipelines=self.pipelines,
            files=self.files,
            objects=self.objects,
            runs=self.runs,
            queues=self.queues,
            authorization=self.authorization,
            audit=self.audit,
            clock=self.clock,
        )

    def link(self, execution_id: str) -> str:
        """Return the address of an execution in the console of Step Functions."""
        machine = self.settings.state_machine
        region = machine.split(":")[3]
        arn = f"{machine.replace(':stateMachine:', ':execution:')}:{execution_id}"
        console = f"https://{region}.console.aws.amazon.com/states/home?region={region}"
        return f"{console}#/v2/executions/details/{arn}"
