"""Creates, changes and deletes workflows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from backend.core.attempts import attempts
from backend.core.authorization import Authorization, require
from backend.core.clock import Clock, iso
from backend.core.definitions import DefinitionRef
from backend.core.errors import FieldError, InvalidInputError, PermissionDeniedError
from backend.core.identity import Identity
from backend.core.names import GLOBAL
from backend.core.transactions import Write
from backend.domains.audit.models import audit_entity
from backend.domains.audit.service.commands import AuditService
from backend.domains.databases.errors import DatabaseNotFoundError
from backend.domains.databases.service import DatabaseService, Definition
from backend.domains.pipelines.errors import PipelineRevisionError
from backend.domains.pipelines.models import Pipeline
from backend.domains.pipelines.service.queries import PipelineQueries
from backend.domains.workflows.errors import WorkflowNotFoundError, WorkflowRevisionError
from backend.domains.workflows.models import (
    PutWorkflowBody,
    SentFunction,
    SpecifiedPipelines,
    Workflow,
    WorkflowFunction,
)
from backend.domains.workflows.repository import WorkflowRepository
from backend.domains.workflows.service.queries import attributes, not_runnable, secured
from backend.spec.shipped import SHIPPED, Shipped

_ATTEMPTS = 8  # of a change that conflicts with others of the workflow or its pipelines
_KIND: Definition = "workflows"


@dataclass(eq=False, repr=False)
class WorkflowCommands:
    workflows: WorkflowRepository
    pipelines: PipelineQueries
    databases: DatabaseService
    authorization: Authorization
    audit: AuditService
    clock: Clock

    @attempts(_ATTEMPTS, WorkflowRevisionError, PipelineRevisionError)
    def put_workflow(self, caller: Identity, body: PutWorkflowBody) -> Workflow:
        """Create a workflow, or replace the one that has the id.

        Raises:
            InvalidInputError: a pipeline does not exist, is not visible to the caller or belongs to
                another database; or the database does not exist.
            PermissionDeniedError: the caller may not create or change it; or it has a trigger, and
                the caller may not run it or one of its pipelines.
            TooManyUsesError: a pipeline is used by the maximum number of workflows.
            WorkflowRevisionError: it is changed concurrently at every attempt.
        """
        before = self.workflows.get(body.database_id, body.workflow_id)
        wanted = self._build(caller, body, before)
        require(self.authorization, caller, "PUT", secured(wanted))
        sent = body.specified_pipelines.functions
        pipelines = self._pipelines(sent, before)
        self._check(caller, body.database_id, sent, pipelines)
        if wanted.has_trigger:
            used = [pipelines[function.pipeline] for function in sent]
            name = not_runnable(self.authorization, caller, wanted, used)
            if name is not None:
                raise PermissionDeniedError(
                    "autoTriggerOnFileExtensionsUpload: a workflow that uploads start requires "
                    "permission to GET and POST it and each of its pipelines; you may not run "
                    f"{name}"
                )
        functions = [
            WorkflowFunction.of(pipelines[function.pipeline], function.input_parameters)
            for function in sent
        ]
        specified = SpecifiedPipelines(functions=functions)
        workflow = wanted.model_copy(update={"specified_pipelines": specified})
        try:
            self.workflows.commit(self._writes(caller, workflow, before, pipelines))
        except DatabaseNotFoundError as error:
            raise InvalidInputError.of("databaseId", error.message) from error
        return workflow

    @attempts(_ATTEMPTS, WorkflowRevisionError, PipelineRevisionError)
    def delete_workflow(self, caller: Identity, database_id: str, workflow_id: str) -> None:
        """Delete a workflow; its row is kept as a deleted one, and running executions end normally.

        Raises:
            PermissionDeniedError: the caller may see it, but not delete it.
            WorkflowNotFoundError: it does not exist, or the caller may not see it.
            WorkflowRevisionError: it is changed concurrently at every attempt.
        """
        workflow = self.workflows.get(database_id, workflow_id)
        if workflow is None or not self.authorization.may(caller, "GET", secured(workflow)):
            raise WorkflowNotFoundError(workflow_id)
        require(self.authorization, caller, "DELETE", secured(workflow))
        now = self.clock()
        deleted = workflow.model_copy(update={"deleted_at": iso(now), "deleted_by": caller.user_id})
        entry = self.audit.entry(
            caller,
            "delete_workflow",
            audit_entity("workflow", workflow.database_id, workflow.workflow_id),
            before=attributes(workflow),
            after=attributes(deleted),
            at=now,
        )
        pipelines = self.pipelines.find_pipelines(
            [function.pipeline for function in workflow.functions]
        )
        freed = [
            write
            for pipeline in pipelines.values()
            for write in self.pipelines.use_writes(pipeline, workflow.key, is_used=False)
        ]
        away = self.workflows.deletion_writes(workflow, deleted)
        counted = self.databases.count_definition(workflow.database_id, _KIND, -1)
        return self.workflows.commit([*away, *freed, *counted, entry])

    def _build(self, caller: Identity, body: PutWorkflowBody, before: Workflow | None) -> Workflow:
        """Return the new workflow without its pipelines, because permissions are checked first."""
        now = iso(self.clock())
        return Workflow(
            **body.stored_attributes(),
            specified_pipelines=SpecifiedPipelines(functions=[]),
            date_created=now if before is None else before.date_created,
            date_modified=now,
            stored_by=caller.user_id,
            stored_at=now,
            revision=1 if before is None else before.revision,
        )

    def _pipelines(
        self, sent: Sequence[SentFunction], stored: Workflow | None
    ) -> dict[DefinitionRef, Pipeline]:
        """Return the pipelines that the workflow will use, and those that it uses now."""
        before = () if stored is None else stored.functions
        return self.pipelines.find_pipelines([function.pipeline for function in (*sent, *before)])

    def _check(
        self,
        caller: Identity,
        database_id: str,
        sent: Sequence[SentFunction],
        pipelines: Mapping[DefinitionRef, Pipeline],
    ) -> None:
        for number, function in enumerate(sent):
            where = f"specifiedPipelines.functions.{number}"
            if function.database_id not in (GLOBAL, database_id):
                fact = (
                    f"must be {database_id} or GLOBAL"
                    if database_id != GLOBAL
                    else ("must be GLOBAL: a GLOBAL workflow runs in all databases")
                )
                raise _refusal(f"{where}.databaseId", fact)
            pipeline = pipelines.get(function.pipeline)
            if pipeline is None or not self.pipelines.may_see(caller, pipeline):
                fact = f"pipeline {function.name} does not exist in {function.database_id}"
                raise _refusal(f"{where}.name", fact)

    def _writes(
        self,
        caller: Identity,
        workflow: Workflow,
        before: Workflow | None,
        pipelines: Mapping[DefinitionRef, Pipeline],
    ) -> list[Write]:
        entry = self.audit.entry(
            caller,
            "put_workflow",
            audit_entity("workflow", workflow.database_id, workflow.workflow_id),
            before=None if before is None else attributes(before),
            after=attributes(workflow),
        )
        uses = _use_writes(self.pipelines, workflow, pipelines)
        if before is not None:
            return [self.workflows.change_write(before, workflow), *uses, entry]
        counted = self.databases.count_definition(workflow.database_id, _KIND, 1)
        return [self.workflows.create_write(workflow), *uses, *counted, entry]


@dataclass(eq=False, repr=False)
class ShippedWorkflows:
    """Creates the workflows that ship with the product, and applies changed declarations."""

    workflows: WorkflowRepository
    pipelines: PipelineQueries
    clock: Clock

    def ensure(self, shipped: Sequence[Shipped] = SHIPPED) -> None:
        """Create each that never existed, and update each that no user has changed or deleted.

        One whose pipeline was deleted is not created.
        """
        for shipped_workflow in shipped:
            place = DefinitionRef(GLOBAL, shipped_workflow.id)
            pipelines = self.pipelines.find_pipelines([place])
            workflow = self.workflows.get(GLOBAL, shipped_workflow.id)
            if place not in pipelines:
                continue
            wanted = self._build(shipped_workflow, workflow, pipelines[place])
            uses = _use_writes(self.pipelines, wanted, pipelines)
            if workflow is None:
                if self.workflows.get(GLOBAL, shipped_workflow.id, deleted=True) is None:
                    self.workflows.commit([self.workflows.create_write(wanted), *uses])
            elif workflow.shipped and attributes(wanted) != attributes(workflow):
                self.workflows.commit([self.workflows.change_write(workflow, wanted), *uses])

    def _build(self, shipped: Shipped, before: Workflow | None, pipeline: Pipeline) -> Workflow:
        now = iso(self.clock())
        return Workflow(
            database_id=GLOBAL,
            workflow_id=shipped.id,
            description=shipped.description,
            specified_pipelines=SpecifiedPipelines(functions=[WorkflowFunction.of(pipeline)]),
            auto_trigger_on_file_extensions_upload=shipped.triggers,
            date_created=now if before is None else before.date_created,
            date_modified=now if before is None else before.date_modified,
            shipped=True,
        )


def _use_writes(
    queries: PipelineQueries, workflow: Workflow, pipelines: Mapping[DefinitionRef, Pipeline]
) -> list[Write]:
    """Return the writes that record in pipelines whether the workflow uses them."""
    used = {function.pipeline for function in workflow.functions}
    return [
        write
        for place, pipeline in pipelines.items()
        for write in queries.use_writes(pipeline, workflow.key, is_used=place in used)
    ]


def _refusal(field: str, fact: str) -> InvalidInputError:
    return InvalidInputError(f"{field}: {fact}", fields=(FieldError(field, fact),))
