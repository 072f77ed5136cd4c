"""The table of pipelines, by access pattern.

The row of a pipeline names the workflows that use it. Both change in one transaction, so a deletion
decides by the row alone, without an eventually consistent index.
"""

from collections.abc import Sequence

from backend.core.definitions import REVISION, Definitions
from backend.core.tables import Tables
from backend.core.transactions import Check, Update, equals
from backend.domains.pipelines.errors import PipelineRevisionError
from backend.domains.pipelines.models import Pipeline
from backend.spec.tables.workflows import PIPELINES

_USED_BY = "usedBy"


class PipelineRepository(Definitions[Pipeline]):
    def __init__(self, tables: Tables) -> None:
        super().__init__(tables, PIPELINES, Pipeline, PipelineRevisionError)

    def used_by_write(self, pipeline: Pipeline, used_by: Sequence[str]) -> Update:
        """Return the write that replaces the keys of the workflows that use a pipeline.

        It is refused with PipelineRevisionError if the row was changed since it was read.
        """
        return Update(
            table=PIPELINES,
            key=self.key_of(pipeline),
            set={_USED_BY: list(used_by)},
            add={REVISION: 1},
            conditions=(equals(REVISION, pipeline.revision),),
            refused=PipelineRevisionError(pipeline.pipeline_id),
        )

    def require_unchanged(self, pipeline: Pipeline) -> Check:
        """Refuse a transaction with PipelineRevisionError if the row was changed."""
        return Check(
            table=PIPELINES,
            key=self.key_of(pipeline),
            conditions=(equals(REVISION, pipeline.revision),),
            refused=PipelineRevisionError(pipeline.pipeline_id),
        )
