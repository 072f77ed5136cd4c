"""Routes of executions: runs of workflows on assets."""

from backend.spec.routes.model import ASSET_PATH, Route

START_EXECUTION = Route(
    "POST", f"{ASSET_PATH}/workflows/{{workflowId}}", "executions", "start_execution",
    "Run a workflow on an asset, or on one or several of its files", "asset",
    statuses=(409,),
)  # fmt: skip
LIST_EXECUTIONS = Route(
    "GET", f"{ASSET_PATH}/workflows/executions", "executions", "list_executions",
    "List the executions of workflows on an asset, newest first", "asset",
)  # fmt: skip
LIST_WORKFLOW_EXECUTIONS = Route(
    "GET", f"{ASSET_PATH}/workflows/executions/{{workflowId}}", "executions",
    "list_workflow_executions",
    "List the executions of a workflow on an asset, in no particular order", "asset",
)  # fmt: skip
GET_EXECUTION = Route(
    "GET", f"{ASSET_PATH}/executions/{{executionId}}", "executions", "get_execution",
    "Get an execution with its steps, times, input, outputs and error", "asset", ours=True,
)  # fmt: skip
STOP_EXECUTION = Route(
    "DELETE", f"{ASSET_PATH}/executions/{{executionId}}", "executions", "stop_execution",
    "Stop an execution", "asset", tier2="POST", ours=True,
)  # fmt: skip
RERUN_EXECUTION = Route(
    "POST", f"{ASSET_PATH}/executions/{{executionId}}/rerun", "executions", "rerun_execution",
    "Start an execution again: the same workflow on the same file", "asset", ours=True,
    statuses=(409,),
)  # fmt: skip
