"""Executions as tests make them."""

from typing import Any

from backend.domains.executions.models import Execution, PipelineSnapshot

CREATED_AT = "2026-03-01T12:00:00.000000Z"


def pipeline_snapshot(pipeline_id: str = "convert", **more: Any) -> PipelineSnapshot:
    """A Lambda pipeline of the database `museum`."""
    values: dict[str, Any] = {
        "pipeline_id": pipeline_id,
        "database_id": "museum",
        "pipeline_execution_type": "Lambda",
        "resource": f"arn:aws:lambda:us-east-1:123456789012:function:{pipeline_id}",
        "task_timeout": 3600,
        "task_heartbeat_timeout": 600,
    }
    return PipelineSnapshot(**values | more)


def new_execution(execution_id: str = "e1", **more: Any) -> Execution:
    """An execution of the workflow `convert-all` on a file of the asset `statue`."""
    values: dict[str, Any] = {
        "database_id": "museum",
        "asset_id": "statue",
        "execution_id": execution_id,
        "workflow_database_id": "museum",
        "workflow_id": "convert-all",
        "input_asset_file_key": "statue/a.glb",
        "input_version_id": "v1",
        "created_at": CREATED_AT,
        "started_by": "ann",
        "chain": ["museum:convert-all"],
        "pipelines": [pipeline_snapshot()],
    }
    return Execution(**values | more)
