"""The errors of pipelines."""

from backend.core.errors import ConflictError, NotFoundError, RevisionConflictError
from backend.domains.pipelines.models import MAX_USES


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
