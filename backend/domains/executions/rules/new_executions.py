"""Builds new executions. Pure."""

from collections.abc import Callable, Iterable

from backend.core.identity import Identity
from backend.core.names import GLOBAL
from backend.core.objects import VersionRef
from backend.core.references import AssetRef
from backend.core.runs import TaskKind
from backend.domains.executions.errors import (
    FileRequiredError,
    ForeignWorkflowError,
    PipelineDisabledError,
    PipelineNotAllowedError,
)
from backend.domains.executions.models import Execution, PipelineSnapshot
from backend.domains.executions.rules.payloads import task_kind
from backend.domains.pipelines.models import Pipeline
from backend.domains.workflows.models import Workflow, WorkflowFunction

DEFAULT_TASK_SECONDS = 86_400
"""Maximum time to wait for the callback of a pipeline without a timeout."""
WITHOUT_FILE = VersionRef("", "")
"""The input of an execution on a whole asset."""


def require_file(workflow: Workflow, file_key: str) -> None:
    """Require a file for a workflow that begins with a function of the product.

    Raises:
        FileRequiredError: the run would be one on the whole asset.
    """
    first = workflow.functions[0]
    if first.inspects and not file_key:
        raise FileRequiredError(first.name)


def require_own_or_global(workflow_database_id: str, database_id: str) -> None:
    """Require a workflow that runs on assets of the database.

    Raises:
        ForeignWorkflowError: it belongs to another database.
    """
    if workflow_database_id not in {GLOBAL, database_id}:
        raise ForeignWorkflowError(workflow_database_id)


def require_enabled(pipeline: Pipeline) -> None:
    """Require an enabled pipeline.

    Raises:
        PipelineDisabledError: it is disabled.
    """
    if not pipeline.enabled:
        raise PipelineDisabledError(pipeline.pipeline_id)


def snapshot(function: WorkflowFunction) -> PipelineSnapshot:
    """Return a pipeline as an execution stores it: with the settings in the workflow."""
    resource = function.resource
    return PipelineSnapshot(
        pipeline_id=function.name,
        database_id=function.database_id,
        pipeline_type=function.pipeline_type,
        pipeline_execution_type=function.pipeline_execution_type,
        resource=resource.resource_id,
        output_type=function.output_type,
        wait_for_callback=function.wait_for_callback == "Enabled",
        task_timeout=_seconds(function.task_timeout) or DEFAULT_TASK_SECONDS,
        task_heartbeat_timeout=_seconds(function.task_heartbeat_timeout),
        input_parameters=function.input_parameters,
        source=resource.event_source or "",
        detail_type=resource.event_detail_type or "",
    )


def require_allowed(
    pipelines: Iterable[PipelineSnapshot], may_call: Callable[[TaskKind, str], bool]
) -> None:
    """Require pipelines that call only what the deployment allows.

    Raises:
        PipelineNotAllowedError: one of them calls another resource.
    """
    for pipeline in pipelines:
        if not may_call(task_kind(pipeline), pipeline.resource):
            raise PipelineNotAllowedError(pipeline.pipeline_id)


def secured_fields(workflow_database_id: str, workflow_id: str) -> dict[str, str]:
    """Return the fields of a workflow that permissions use, also for a deleted one."""
    return {"databaseId": workflow_database_id, "workflowId": workflow_id}


def new_execution(
    caller: Identity,
    workflow: Workflow,
    asset: AssetRef,
    file: VersionRef,
    *,
    execution_id: str,
    created_at: str,
) -> Execution:
    """Return an execution of a workflow on a version of a file, or `WITHOUT_FILE`."""
    return Execution(
        database_id=asset.database_id,
        asset_id=asset.asset_id,
        execution_id=execution_id,
        workflow_database_id=workflow.database_id,
        workflow_id=workflow.workflow_id,
        input_asset_file_key=file.key,
        input_version_id=file.version_id,
        created_at=created_at,
        started_by=caller.user_id,
        started_by_mfa=caller.mfa,
        chain=[workflow.key],
        pipelines=[snapshot(function) for function in workflow.functions],
        shipped=workflow.stores_inspection,
    )


def _seconds(text: str | None) -> int:
    return int(text) if text and text.isascii() and text.isdecimal() else 0
