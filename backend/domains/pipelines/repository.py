"""The table of pipelines, by access pattern.

The row of a pipeline names the workflows that use it. Both change in one transaction, so a deletion
decides by the row alone, without an eventually consistent index.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from backend.core.errors import ConflictError, NotFoundError, RevisionConflictError
from backend.core.paging import Page, PageRequest, Position
from backend.core.tables import Query, Tables
from backend.core.transactions import (
    Check,
    Condition,
    Delete,
    Item,
    Put,
    Update,
    Write,
    absent,
    equals,
)
from backend.domains.pipelines.models import MAX_USES, Pipeline
from backend.spec import keys
from backend.spec.tables.workflows import DATABASE_ID, PIPELINE_ID, PIPELINES

_REVISION, _USED_BY = "revision", "usedBy"


class PipelineNotFoundError(NotFoundError):
    code = "PipelineNotFound"

    def __init__(self, pipeline_id: str) -> None:
        super().__init__(f"Pipeline {pipeline_id} does not exist")


class PipelineRevisionError(RevisionConflictError):
    code = "PipelineRevisionConflict"

    def __init__(self, pipeline_id: str) -> None:
        super().__init__(f"Pipeline {pipeline_id} was changed by someone else; read it again")


class TooManyUsesError(ConflictError):
    """The pipeline is used by the maximum number of workflows."""

    code = "TooManyWorkflows"

    def __init__(self, pipeline_id: str) -> None:
        super().__init__(
            f"Pipeline {pipeline_id} is already used by {MAX_USES} workflows, the maximum"
        )


@dataclass(eq=False, repr=False)
class PipelineRepository:
    tables: Tables

    def get(self, database_id: str, pipeline_id: str, *, deleted: bool = False) -> Pipeline | None:
        """Return the active pipeline, or else the last deleted one with that id."""
        partition = keys.archived(database_id) if deleted else database_id
        item = self.tables.get(PIPELINES, _key(partition, pipeline_id))
        return None if item is None else Pipeline.model_validate(item)

    def get_many(self, wanted: Sequence[tuple[str, str]]) -> dict[tuple[str, str], Pipeline]:
        """Return active pipelines by database and id; missing ones are left out."""
        rows = self.tables.get_many([(PIPELINES, _key(*each)) for each in dict.fromkeys(wanted)])
        found = [Pipeline.model_validate(item) for _, item in rows]
        return {(one.database_id, one.pipeline_id): one for one in found}

    def list_registry(self, page: PageRequest) -> Page[Pipeline]:
        """List pipelines of all databases, active and deleted, in no order."""
        return _page(self.tables.scan(PIPELINES, page))

    def list_in(self, database_id: str, page: PageRequest, *, deleted: bool) -> Page[Pipeline]:
        """List active, or else deleted, pipelines of a database by id."""
        partition = keys.archived(database_id) if deleted else database_id
        query = Query(table=PIPELINES, partition=partition, consistent=True)
        return _page(self.tables.query(query, page))

    def create(self, pipeline: Pipeline, *others: Write) -> None:
        """Store a pipeline with an unused id.

        Raises:
            PipelineRevisionError: the id is in use.
        """
        self._put(pipeline, absent(DATABASE_ID.name), others)

    def change(self, found: Pipeline, changed: Pipeline, *others: Write) -> Pipeline:
        """Replace the row if it is unchanged since it was read.

        Raises:
            PipelineRevisionError: the row has another revision, or does not exist.
        """
        now = changed.model_copy(update={"revision": found.revision + 1})
        self._put(now, equals(_REVISION, found.revision), others)
        return now

    def put_away(self, found: Pipeline, deleted: Pipeline, *others: Write) -> None:
        """Mark the row that was read as that of a deleted pipeline.

        Raises:
            PipelineRevisionError: the row has another revision, or does not exist.
        """
        gone = Delete(
            table=PIPELINES,
            key=_key_of(found),
            conditions=(equals(_REVISION, found.revision),),
            refused=PipelineRevisionError(found.pipeline_id),
        )
        self.tables.transact([gone, Put(table=PIPELINES, item=_row(deleted)), *others])

    def used_by_write(self, found: Pipeline, used_by: Sequence[str]) -> Update:
        """Return the write that replaces the keys of the workflows that use a pipeline.

        It is refused with PipelineRevisionError if the row was changed since it was read.
        """
        return Update(
            table=PIPELINES,
            key=_key_of(found),
            set={_USED_BY: list(used_by)},
            add={_REVISION: 1},
            conditions=(equals(_REVISION, found.revision),),
            refused=PipelineRevisionError(found.pipeline_id),
        )

    def require_unchanged(self, found: Pipeline) -> Check:
        """Refuse a transaction with PipelineRevisionError if the row was changed."""
        return Check(
            table=PIPELINES,
            key=_key_of(found),
            conditions=(equals(_REVISION, found.revision),),
            refused=PipelineRevisionError(found.pipeline_id),
        )

    def _put(self, pipeline: Pipeline, condition: Condition, others: Sequence[Write]) -> None:
        row = Put(
            table=PIPELINES,
            item=_row(pipeline),
            conditions=(condition,),
            refused=PipelineRevisionError(pipeline.pipeline_id),
        )
        self.tables.transact([row, *others])


def position_of(pipeline: Pipeline) -> Position:
    """Return the position of a list after a pipeline."""
    return _key_of(pipeline)


def _key(partition: str, pipeline_id: str) -> dict[str, str]:
    return {DATABASE_ID.name: partition, PIPELINE_ID.name: pipeline_id}


def _key_of(pipeline: Pipeline) -> dict[str, str]:
    return _key(pipeline.partition, pipeline.pipeline_id)


def _row(pipeline: Pipeline) -> Item:
    return pipeline.model_dump(by_alias=True, exclude_none=True) | _key_of(pipeline)


def _page(found: Page[Item]) -> Page[Pipeline]:
    return Page(tuple(Pipeline.model_validate(item) for item in found.items), found.after)
