"""The table of workflows, by access pattern."""

from collections.abc import Sequence
from dataclasses import dataclass

from backend.core.errors import NotFoundError, RevisionConflictError
from backend.core.paging import Page, PageRequest, Position
from backend.core.tables import Query, Tables
from backend.core.transactions import Condition, Delete, Item, Put, Write, absent, equals
from backend.domains.workflows.models import Workflow
from backend.spec import keys
from backend.spec.tables.workflows import DATABASE_ID, WORKFLOW_ID, WORKFLOWS

_REVISION = "revision"


class WorkflowNotFoundError(NotFoundError):
    code = "WorkflowNotFound"

    def __init__(self, workflow_id: str) -> None:
        super().__init__(f"Workflow {workflow_id} does not exist")


class WorkflowRevisionError(RevisionConflictError):
    code = "WorkflowRevisionConflict"

    def __init__(self, workflow_id: str) -> None:
        super().__init__(f"Workflow {workflow_id} was changed by someone else; read it again")


@dataclass(eq=False, repr=False)
class WorkflowRepository:
    tables: Tables

    def get(self, database_id: str, workflow_id: str, *, deleted: bool = False) -> Workflow | None:
        """Return the active workflow, or else the last deleted one with that id."""
        partition = keys.archived(database_id) if deleted else database_id
        item = self.tables.get(WORKFLOWS, _key(partition, workflow_id))
        return None if item is None else Workflow.model_validate(item)

    def get_many(self, wanted: Sequence[tuple[str, str]]) -> list[Workflow]:
        """Return active workflows by database and id, in no order; missing ones are left out."""
        found = self.tables.get_many([(WORKFLOWS, _key(*each)) for each in wanted])
        return [Workflow.model_validate(item) for _, item in found]

    def all_in(self, database_id: str) -> list[Workflow]:
        """Return all active workflows of a database, or of GLOBAL, read consistently."""
        query = Query(table=WORKFLOWS, partition=database_id, consistent=True)
        return [Workflow.model_validate(item) for item in self.tables.query_all(query)]

    def list_registry(self, page: PageRequest) -> Page[Workflow]:
        """List workflows of all databases, active and deleted, in no order."""
        return _page(self.tables.scan(WORKFLOWS, page))

    def list_in(self, database_id: str, page: PageRequest, *, deleted: bool) -> Page[Workflow]:
        """List active, or else deleted, workflows of a database by id."""
        partition = keys.archived(database_id) if deleted else database_id
        query = Query(table=WORKFLOWS, partition=partition, consistent=True)
        return _page(self.tables.query(query, page))

    def create_write(self, workflow: Workflow) -> Put:
        """Return the write of a workflow with an unused id; refused with WorkflowRevisionError."""
        return self._put(workflow, absent(DATABASE_ID.name))

    def change_write(self, found: Workflow, changed: Workflow) -> Put:
        """Return the write that replaces an unchanged row; refused with WorkflowRevisionError."""
        now = changed.model_copy(update={"revision": found.revision + 1})
        return self._put(now, equals(_REVISION, found.revision))

    def put_away_writes(self, found: Workflow, deleted: Workflow) -> list[Write]:
        """Return the writes that mark the row that was read as that of a deleted workflow."""
        gone = Delete(
            table=WORKFLOWS,
            key=_key_of(found),
            conditions=(equals(_REVISION, found.revision),),
            refused=WorkflowRevisionError(found.workflow_id),
        )
        return [gone, Put(table=WORKFLOWS, item=_row(deleted))]

    def commit(self, writes: Sequence[Write]) -> None:
        """Carry out writes of several services, all or nothing."""
        self.tables.transact(writes)

    def _put(self, workflow: Workflow, condition: Condition) -> Put:
        return Put(
            table=WORKFLOWS,
            item=_row(workflow),
            conditions=(condition,),
            refused=WorkflowRevisionError(workflow.workflow_id),
        )


def position_of(workflow: Workflow) -> Position:
    """Return the position of a list after a workflow."""
    return _key_of(workflow)


def _key(partition: str, workflow_id: str) -> dict[str, str]:
    return {DATABASE_ID.name: partition, WORKFLOW_ID.name: workflow_id}


def _key_of(workflow: Workflow) -> dict[str, str]:
    return _key(workflow.partition, workflow.workflow_id)


def _row(workflow: Workflow) -> Item:
    return workflow.model_dump(by_alias=True, exclude_none=True) | _key_of(workflow)


def _page(found: Page[Item]) -> Page[Workflow]:
    return Page(tuple(Workflow.model_validate(item) for item in found.items), found.after)
