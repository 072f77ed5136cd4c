"""Tables of pipelines, workflows and their executions."""

from backend.spec import keys
from backend.spec.attributes import Attribute
from backend.spec.tables.assets import REMOVAL
from backend.spec.tables.model import Index, Table

DATABASE_ID = Attribute("databaseId")
PIPELINE_ID = Attribute("pipelineId")
WORKFLOW_ID = Attribute("workflowId")
EXECUTION_ID = Attribute("executionId")

PIPELINES = Table(
    "PipelineStorageTable",
    DATABASE_ID,
    "Pipeline definitions of each database.",
    (
        "get one pipeline, or those of a workflow",
        "list the pipelines of a database, deleted ones apart",
        "list all pipelines (a registry: scanned by page)",
        "remove those that a purged database left",
    ),
    sort_key=PIPELINE_ID,
)

WORKFLOWS = Table(
    "WorkflowStorageTable",
    DATABASE_ID,
    "Workflow definitions of each database.",
    (
        "get one workflow",
        "list the workflows of a database, deleted ones apart",
        "list all workflows (a registry: scanned by page)",
        "remove those that a purged database left",
    ),
    sort_key=WORKFLOW_ID,
)

WORKFLOW_EXECUTIONS = Table(
    "WorkflowExecutionsStorageTable",
    keys.ASSET,
    "Executions of workflows on assets.",
    (REMOVAL,),
    sort_key=EXECUTION_ID,
    indexes=(
        # The data model gives this one's sort key only; the projection is our choice.
        Index("WorkflowLSI", None, keys.WORKFLOW, "ALL", origin="chosen"),
        Index("WorkflowGSI", keys.WORKFLOW, EXECUTION_ID, "KEYS_ONLY"),
        Index("ExecutionIdGSI", WORKFLOW_ID, EXECUTION_ID, "KEYS_ONLY"),
    ),
)

TABLES = (PIPELINES, WORKFLOWS, WORKFLOW_EXECUTIONS)
