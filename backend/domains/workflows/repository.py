"""The table of workflows, by access pattern."""

from backend.core.definitions import Definitions
from backend.core.tables import Query, Tables
from backend.domains.workflows.errors import WorkflowRevisionError
from backend.domains.workflows.models import Workflow
from backend.spec.tables.workflows import WORKFLOWS


class WorkflowRepository(Definitions[Workflow]):
    def __init__(self, tables: Tables) -> None:
        super().__init__(tables, WORKFLOWS, Workflow, WorkflowRevisionError)

    def all_in(self, database_id: str) -> list[Workflow]:
        """Return all active workflows of a database, or of GLOBAL, read consistently."""
        query = Query(table=WORKFLOWS, partition=database_id, consistent=True)
        return [Workflow.model_validate(item) for item in self.tables.query_all(query)]
