"""Operations on executions."""

from backend.domains.executions.service.records import ExecutionRecords

__all__ = [
    "ExecutionRecords",
]
