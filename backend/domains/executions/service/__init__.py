"""Operations on executions."""

from backend.domains.executions.repository import (
    ExecutionActiveError,
    ExecutionExistsError,
    ExecutionNotFoundError,
)
from backend.domains.executions.service.records import ExecutionRecords

__all__ = [
    "ExecutionActiveError",
    "ExecutionExistsError",
    "ExecutionNotFoundError",
    "ExecutionRecords",
]
