"""The table of pipelines, by access pattern.

The row of a pipeline names the workflows that use it. Both change in one transaction, so a deletion
decides by the row alone, without an eventually consistent index.
"""

from collections.abc import Sequence

from backend.core.definitions import REVISION, Definitions
from backend.core.errors import ConflictError, NotFoundError, RevisionConflictError
from backend.core.tables import Tables
from backend.core.transactions import Check, Update, equals
from backend.domains.pipelines.models import MAX_USES, Pipeline
from backend.spec.tables.workflows import PIPELINES

_USED_BY = "usedBy"


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


class PipelineRepository(Definitions[Pipeline]):
    def __init__(self, tables: Tables) -> None:
        super().__init__(tables, PIPELINES, Pipeline, PipelineRevisionError)

    def used_by_write(self, found: Pipeline, used_by: Sequence[str]) -> Update:
        """Return the write that replaces the keys of the workflows that use a pipeline.

        It is refused with PipelineRevisionError if the row was changed since it was read.
        """
        return Update(
            table=PIPELINES,
            key=self.key_of(found),
            set={_USED_BY: list(used_by)},
            add={REVISION: 1},
            conditions=(equals(REVISION, found.revision),),
            refused=PipelineRevisionError(found.pipeline_id),
        )

    def require_unchanged(self, found: Pipeline) -> Check:
        """Refuse a transaction with PipelineRevisionError if the row was changed."""
        return Check(
            table=PIPELINES,
            key=self.key_of(found),
            conditions=(equals(REVISION, found.revision),),
            refused=PipelineRevisionError(found.pipeline_id),
        )
