"""The tables of executions, by access pattern."""

from backend.domains.executions.repository.active import ActiveRepository
from backend.domains.executions.repository.rows import (
    ExecutionRepository,
    Reserved,
    position_in_asset,
    position_in_workflow,
    row_key,
)

__all__ = [
    "ActiveRepository",
    "ExecutionRepository",
    "Reserved",
    "position_in_asset",
    "position_in_workflow",
    "row_key",
]
