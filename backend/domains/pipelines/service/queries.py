"""Reads pipelines, for their routes and for other slices."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from backend.core.authorization import Authorization, Secured
from backend.core.definitions import DefinitionRef
from backend.core.identity import Identity
from backend.core.paging import Page, PageRequest
from backend.core.transactions import Write
from backend.domains.pipelines.errors import PipelineNotFoundError, TooManyUsesError
from backend.domains.pipelines.models import MAX_USES, Pipeline
from backend.domains.pipelines.repository import PipelineRepository


@dataclass(eq=False, repr=False)
class PipelineQueries:
    pipelines: PipelineRepository
    authorization: Authorization

    def get_pipeline(
        self, caller: Identity, database_id: str, pipeline_id: str, *, show_deleted: bool = False
    ) -> Pipeline:
        """Return one pipeline; with `show_deleted` the last deleted one with that id.

        Raises:
            PipelineNotFoundError: it does not exist, or the caller may not see it.
        """
        pipeline = self.pipelines.get(database_id, pipeline_id, deleted=show_deleted)
        if pipeline is None or not self.may_see(caller, pipeline):
            raise PipelineNotFoundError(pipeline_id)
        return pipeline

    def list_pipelines(
        self,
        caller: Identity,
        page: PageRequest,
        *,
        database_id: str | None = None,
        show_deleted: bool = False,
    ) -> Page[Pipeline]:
        """List the active, or the deleted, pipelines that the caller may see.

        Of a database, or of all.
        """
        return self.pipelines.list_visible(
            page,
            lambda pipeline: self.may_see(caller, pipeline),
            database_id=database_id,
            deleted=show_deleted,
        )

    def may_see(self, caller: Identity, pipeline: Pipeline) -> bool:
        return self.authorization.may(caller, "GET", secured(pipeline))

    def find_pipelines(self, wanted: Sequence[DefinitionRef]) -> dict[DefinitionRef, Pipeline]:
        """Return active pipelines by database and id. No permission is checked."""
        return self.pipelines.get_many(wanted)

    def use_writes(self, pipeline: Pipeline, workflow_key: str, *, is_used: bool) -> list[Write]:
        """Return the writes that record, or remove, that a workflow uses a pipeline.

        They are refused with PipelineRevisionError if the pipeline was changed or deleted.

        Raises:
            TooManyUsesError: the maximum number of workflows uses the pipeline.
        """
        others = [key for key in pipeline.used_by if key != workflow_key]
        if is_used and len(others) >= MAX_USES:
            raise TooManyUsesError(pipeline.pipeline_id)
        used_by = [*others, workflow_key] if is_used else others
        if used_by == pipeline.used_by:
            return [self.pipelines.require_unchanged(pipeline)]
        return [self.pipelines.used_by_write(pipeline, used_by)]

    def require_unchanged(self, pipeline: Pipeline) -> Write:
        """Refuse a transaction with PipelineRevisionError if a pipeline was changed."""
        return self.pipelines.require_unchanged(pipeline)


def secured(pipeline: Pipeline) -> Secured:
    """Return a pipeline as permissions see it."""
    return Secured(
        "pipeline",
        {
            "databaseId": pipeline.database_id,
            "pipelineId": pipeline.pipeline_id,
            "pipelineType": pipeline.pipeline_type,
            "pipelineExecutionType": pipeline.pipeline_execution_type,
        },
    )


def attributes(pipeline: Pipeline) -> dict[str, Any]:
    """Return a pipeline as its audit entries contain it."""
    return pipeline.model_dump(by_alias=True, exclude_none=True, exclude={"revision", "used_by"})
