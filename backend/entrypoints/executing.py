"""Puts the ports of AWS behind executions."""

from functools import cached_property

from backend.core.wired import wired
from backend.domains.executions.repository import ActiveRepository, ExecutionRepository
from backend.domains.executions.service.progress import ExecutionProgress
from backend.entrypoints.wiring import Wiring


@wired
class ExecutionWiring(Wiring):
    """What the functions of executions have in common."""

    @cached_property
    def executions(self) -> ExecutionRepository:
        return ExecutionRepository(self.tables)

    @cached_property
    def active(self) -> ActiveRepository:
        return ActiveRepository(self.tables)

    @cached_property
    def progress(self) -> ExecutionProgress:
        return ExecutionProgress(self.executions, self.active, self.queues, self.clock)
