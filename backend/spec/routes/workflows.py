"""Routes of pipelines and workflows."""

from backend.spec.routes.model import Route

PUT_PIPELINE = Route(
    "PUT", "/pipelines", "pipelines", "put_pipeline", "Create or change a pipeline", "pipeline",
)  # fmt: skip
LIST_ALL_PIPELINES = Route(
    "GET", "/pipelines", "pipelines", "list_all_pipelines",
    "List the pipelines of all databases", "pipeline",
)  # fmt: skip
LIST_PIPELINES = Route(
    "GET", "/database/{databaseId}/pipelines", "pipelines", "list_pipelines",
    "List the pipelines of a database, or of GLOBAL", "pipeline",
)  # fmt: skip
GET_PIPELINE = Route(
    "GET", "/database/{databaseId}/pipelines/{pipelineId}", "pipelines", "get_pipeline",
    "Get a pipeline", "pipeline",
    empty_not_found=True,
)  # fmt: skip
DELETE_PIPELINE = Route(
    "DELETE", "/database/{databaseId}/pipelines/{pipelineId}", "pipelines", "delete_pipeline",
    "Delete a pipeline that no workflow uses (soft)", "pipeline",
)  # fmt: skip
PUT_WORKFLOW = Route(
    "PUT", "/workflows", "workflows", "put_workflow", "Create or change a workflow", "workflow",
)  # fmt: skip
LIST_ALL_WORKFLOWS = Route(
    "GET", "/workflows", "workflows", "list_all_workflows",
    "List the workflows of all databases", "workflow",
)  # fmt: skip
LIST_WORKFLOWS = Route(
    "GET", "/database/{databaseId}/workflows", "workflows", "list_workflows",
    "List the workflows of a database, or of GLOBAL", "workflow",
)  # fmt: skip
GET_WORKFLOW = Route(
    "GET", "/database/{databaseId}/workflows/{workflowId}", "workflows", "get_workflow",
    "Get a workflow", "workflow",
    empty_not_found=True,
)  # fmt: skip
DELETE_WORKFLOW = Route(
    "DELETE", "/database/{databaseId}/workflows/{workflowId}", "workflows", "delete_workflow",
    "Delete a workflow (soft)", "workflow",
)  # fmt: skip
