"""Operations on pipelines."""

from backend.domains.pipelines.repository import PipelineNotFoundError, PipelineRevisionError
from backend.domains.pipelines.service.commands import (
    AssociatedWorkflows,
    PipelineCommands,
    ShippedPipelines,
    Updated,
)
from backend.domains.pipelines.service.queries import PipelineQueries, attributes, secured

__all__ = [
    "AssociatedWorkflows",
    "PipelineCommands",
    "PipelineNotFoundError",
    "PipelineQueries",
    "PipelineRevisionError",
    "ShippedPipelines",
    "Updated",
    "attributes",
    "secured",
]
