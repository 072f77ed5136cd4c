"""Starts, stops and reruns executions."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from backend.core.authorization import Authorization, require
from backend.core.clock import Clock, iso
from backend.core.definitions import DefinitionRef
from backend.core.errors import UnavailableError, VitrineError
from backend.core.identity import Identity
from backend.core.ids import ordered_uuid
from backend.core.objects import ObjectHead, Objects, VersionRef
from backend.core.parallel import in_parallel
from backend.core.queues import Queues
from backend.core.references import AssetRef
from backend.core.runs import Runs
from backend.domains.assets.errors import FileNotFoundInAssetError
from backend.domains.assets.models import Asset
from backend.domains.assets.service.commands import AssetService
from backend.domains.audit.models import audit_entity
from backend.domains.audit.service.commands import AuditService
from backend.domains.executions import rules
from backend.domains.executions.models import Execution, RunError
from backend.domains.executions.repository.active import ActiveRepository
from backend.domains.executions.repository.rows import ExecutionRepository
from backend.domains.executions.rules import new_executions
from backend.domains.executions.service.progress import ExecutionProgress
from backend.domains.executions.service.queries import ExecutionQueries
from backend.domains.files.service.queries import FileQueries
from backend.domains.pipelines.errors import PipelineNotFoundError
from backend.domains.pipelines.service.queries import PipelineQueries
from backend.domains.pipelines.service.queries import secured as secured_pipeline
from backend.domains.workflows.models import Workflow
from backend.domains.workflows.service.queries import WorkflowQueries
from backend.domains.workflows.service.queries import secured as secured_workflow
from backend.spec.queues import EXECUTION_STARTS

_log = logging.getLogger(__name__)


class FileRun(NamedTuple):
    """The result for one of several files: an execution, or why there is none."""

    file_key: str
    execution_id: str | None
    refused: VitrineError | None = None


@dataclass(eq=False, repr=False)
class ExecutionCommands:
    executions: ExecutionRepository
    active: ActiveRepository
    progress: ExecutionProgress
    queries: ExecutionQueries
    workflows: WorkflowQueries
    pipelines: PipelineQueries
    assets: AssetService
    files: FileQueries
    objects: Objects
    runs: Runs
    queues: Queues
    authorization: Authorization
    audit: AuditService
    clock: Clock

    def start_execution(
        self,
        caller: Identity,
        ref: AssetRef,
        workflow_ref: DefinitionRef,
        file_key: str = "",
    ) -> str:
        """Start a workflow on a file of an asset, or on the asset; return the execution's id.

        It starts as soon as the limit of concurrent executions allows.

        Raises:
            AssetNotFoundError: the asset does not exist, or the caller may not see it.
            ExecutionActiveError: an execution of the workflow on this file has not ended.
            FileNotFoundInAssetError: the asset has no such file.
            FileRequiredError: the workflow's first pipeline reads a single file, and none is named.
            FileQuarantinedError: a malware scan found a threat in it.
            ForeignWorkflowError: the workflow belongs to another database.
            PermissionDeniedError: the caller may not run the workflow, one of its pipelines, or
                anything on the asset.
            PipelineDisabledError: one of its pipelines is disabled.
            PipelineNotAllowedError: one of its pipelines calls a resource that the deployment does
                not allow.
            PipelineNotFoundError: one of its pipelines does not exist.
            WorkflowNotFoundError: the workflow does not exist, or the caller may not see it.
        """
        asset, workflow = self._runnable(caller, ref, workflow_ref)
        started = self._start(caller, asset, workflow, file_key)
        self._request_start()
        return started

    def start_executions(
        self,
        caller: Identity,
        ref: AssetRef,
        workflow_ref: DefinitionRef,
        file_keys: Sequence[str],
    ) -> list[FileRun]:
        """Start a workflow on each of several files; refused files do not affect the others.

        Raises as `start_execution`, except for errors about one of the files.
        """
        asset, workflow = self._runnable(caller, ref, workflow_ref)

        def start(file_key: str) -> FileRun:
            try:
                return FileRun(file_key, self._start(caller, asset, workflow, file_key))
            except UnavailableError:
                raise
            except VitrineError as error:
                return FileRun(file_key, None, error)

        runs = list(in_parallel(start, list(file_keys)))
        if any(run.execution_id is not None for run in runs):
            self._request_start()
        return runs

    def stop_execution(self, caller: Identity, ref: AssetRef, execution_id: str) -> Execution:
        """Stop a waiting or running execution; no effect on one that has ended.

        Raises:
            AssetNotFoundError: the asset does not exist, or the caller may not see it.
            ExecutionNotFoundError: it has no such execution, or the caller may not see it.
            PermissionDeniedError: the caller may not run the workflow, or anything on the asset.
        """
        execution = self.queries.execution_for(caller, "POST", ref, execution_id)
        if execution.is_active:
            message = f"Stopped by {caller.user_id}"
            self.runs.stop(execution_id, error=rules.STOPPED, cause=message)
            entry = self.audit.entry(
                caller,
                "stop_execution",
                audit_entity("execution", execution_id),
                before={"executionStatus": execution.execution_status},
                after=rules.end_of(execution, "ABORTED"),
            )
            error = RunError(code=rules.STOPPED, message=message)
            self.progress.end(execution_id, "ABORTED", error=error, others=(entry,))
        return self.queries.execution_for(caller, "GET", ref, execution_id)

    def rerun_execution(self, caller: Identity, ref: AssetRef, execution_id: str) -> str:
        """Start the workflow of an execution on the same file again, both in their current state.

        Raises as `start_execution`, and:
            ExecutionNotFoundError: it does not exist, or the caller may not see it.
        """
        execution = self.queries.execution_for(caller, "GET", ref, execution_id)
        workflow_ref = DefinitionRef(execution.workflow_database_id, execution.workflow_id)
        asset, workflow = self._runnable(caller, ref, workflow_ref)
        key = execution.input_asset_file_key
        started = self._start(caller, asset, workflow, key, rerun_of=execution_id)
        self._request_start()
        return started

    def _runnable(
        self, caller: Identity, ref: AssetRef, workflow_ref: DefinitionRef
    ) -> tuple[Asset, Workflow]:
        """Return the asset and the workflow, for a caller who may run the workflow on the asset."""
        asset = self.assets.asset_for(caller, "POST", *ref.ids)
        new_executions.require_own_or_global(workflow_ref.database_id, asset.database_id)
        workflow = self.workflows.get_workflow(caller, *workflow_ref)
        require(self.authorization, caller, "POST", secured_workflow(workflow))
        known = self.pipelines.find_pipelines(
            [function.pipeline for function in workflow.functions]
        )
        for function in workflow.functions:
            pipeline = known.get(function.pipeline)
            if pipeline is None or not self.pipelines.may_see(caller, pipeline):
                raise PipelineNotFoundError(function.name)
            require(self.authorization, caller, "POST", secured_pipeline(pipeline))
            new_executions.require_enabled(pipeline)
        snapshots = map(new_executions.snapshot, workflow.functions)
        new_executions.require_allowed(snapshots, self.runs.may_call)
        return asset, workflow

    def _start(
        self,
        caller: Identity,
        asset: Asset,
        workflow: Workflow,
        file_key: str,
        *,
        rerun_of: str | None = None,
    ) -> str:
        now = self.clock()
        file = self._file(asset, file_key)
        new_executions.require_file(workflow, file.key)
        execution = new_executions.new_execution(
            caller,
            workflow,
            asset.ref,
            file,
            execution_id=ordered_uuid(now),
            created_at=iso(now),
        )
        if rerun_of is not None:
            execution = execution.model_copy(update={"trigger": "rerun"})
        entry = self.audit.entry(
            caller,
            "start_execution" if rerun_of is None else "rerun_execution",
            audit_entity("execution", execution.execution_id),
            after=rules.facts_of(execution, rerun_of),
            at=now,
        )
        self.executions.create(execution, self.active.waiting_write(execution), entry)
        return execution.execution_id

    def _file(self, asset: Asset, file_key: str) -> VersionRef:
        """Return the input file, in its current version; `WITHOUT_FILE` for the asset."""
        _, prefix = self.assets.location(asset)
        if file_key in {"", "/", prefix}:
            return new_executions.WITHOUT_FILE
        target = self.files.target(asset, file_key, field="fileKey")
        head = self.objects.head(target.bucket, target.key)
        if not isinstance(head, ObjectHead):
            raise FileNotFoundInAssetError(target.path, asset.asset_id)
        head.check_restored()
        version = head.version.ref
        self.files.check_clean(target.bucket, *version)
        return version

    def _request_start(self) -> None:
        try:
            self.queues.send(EXECUTION_STARTS, [{}])
        except UnavailableError as error:
            # It is stored, so the next reconciliation starts it.
            _log.warning("an execution starts later: %s", error.message)
