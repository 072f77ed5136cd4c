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
        "remove those of a purged database",
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
        "remove those of a purged database",
    ),
    sort_key=WORKFLOW_ID,
)

# The data model specifies only the sort key; the projection is our choice.
EXECUTIONS_BY_WORKFLOW = Index(
    "WorkflowLSI",
    None,
    keys.WORKFLOW,
    "ALL",
    origin="chosen",
    access_patterns=("list the executions of a workflow on an asset, newest first",),
)
WORKFLOW_EXECUTIONS = Table(
    "WorkflowExecutionsStorageTable",
    keys.ASSET,
    "Executions of workflows on assets.",
    (
        "get one execution",
        "list the executions of an asset, newest first",
        "create once by a conditional put",
        "record status and outputs on the condition that the row is unchanged",
        REMOVAL,
    ),
    sort_key=EXECUTION_ID,
    indexes=(
        EXECUTIONS_BY_WORKFLOW,
        Index("WorkflowGSI", keys.WORKFLOW, EXECUTION_ID, "KEYS_ONLY"),
        Index("ExecutionIdGSI", WORKFLOW_ID, EXECUTION_ID, "KEYS_ONLY"),
    ),
)

ACTIVE_STATE = Attribute("state")
ACTIVE_EXECUTIONS = Table(
    "ActiveExecutions",
    ACTIVE_STATE,
    "Executions that have not ended, in two partitions: `waiting` ones, and those that were "
    "`admitted` as there was room for them, which `Executions#admitted` counts.",
    (
        "list the oldest waiting executions, or those admitted",
        "record that an execution waits, or was admitted and started",
        "remove an execution in the transaction that ends it",
    ),
    sort_key=EXECUTION_ID,
    origin="ours",
)

TABLES = (PIPELINES, WORKFLOWS, WORKFLOW_EXECUTIONS, ACTIVE_EXECUTIONS)
