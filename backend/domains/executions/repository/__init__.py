"""The tables of executions, by access pattern."""

from backend.domains.executions.repository.active import ActiveRepository, FullError
from backend.domains.executions.repository.rows import (
    ExecutionActiveError,
    ExecutionChangedError,
    ExecutionExistsError,
    ExecutionNotFoundError,
    ExecutionRepository,
    Reserved,
    position_in_asset,
    position_in_workflow,
    row_key,
)

__all__ = [
    "ActiveRepository",
    "ExecutionActiveError",
    "ExecutionChangedError",
    "ExecutionExistsError",
    "ExecutionNotFoundError",
    "ExecutionRepository",
    "FullError",
    "Reserved",
    "position_in_asset",
    "position_in_workflow",
    "row_key",
]
