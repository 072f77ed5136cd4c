"""Operations on workflows."""

from backend.domains.workflows.service.associated import AssociatedUpdates
from backend.domains.workflows.service.commands import ShippedWorkflows, WorkflowCommands
from backend.domains.workflows.service.queries import WorkflowQueries, attributes, secured
from backend.domains.workflows.service.triggers import WorkflowTriggers

__all__ = [
    "AssociatedUpdates",
    "ShippedWorkflows",
    "WorkflowCommands",
    "WorkflowQueries",
    "WorkflowTriggers",
    "attributes",
    "secured",
]
