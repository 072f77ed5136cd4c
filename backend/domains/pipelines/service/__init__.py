"""Operations on pipelines."""

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
    "PipelineQueries",
    "ShippedPipelines",
    "Updated",
    "attributes",
    "secured",
]
