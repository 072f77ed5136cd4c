"""Creates, changes and deletes pipelines."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from backend.core.attempts import attempts
from backend.core.authorization import Authorization, Secured, require
from backend.core.clock import Clock, iso
from backend.core.errors import InvalidInputError
from backend.core.identity import Identity
from backend.core.names import GLOBAL
from backend.domains.audit.models import audit_entity
from backend.domains.audit.service.commands import AuditService
from backend.domains.databases.errors import DatabaseNotFoundError
from backend.domains.databases.service import DatabaseService, Definition
from backend.domains.pipelines import rules
from backend.domains.pipelines.errors import PipelineNotFoundError, PipelineRevisionError
from backend.domains.pipelines.models import Pipeline, PutPipelineBody, Resource
from backend.domains.pipelines.repository import PipelineRepository
from backend.domains.pipelines.rules import Allowed
from backend.domains.pipelines.service.queries import attributes, secured
from backend.spec.keys import WORKFLOW
from backend.spec.shipped import SHIPPED, Shipped

_ATTEMPTS = 8  # of a change that conflicts with others of the same pipeline
_NAMED = 5
_KIND: Definition = "pipelines"


class Updated(NamedTuple):
    """The workflows that use a pipeline.

    How many were updated, and how many the caller may not change.
    """

    changed: int = 0
    refused: int = 0


class AssociatedWorkflows(Protocol):
    """Updates workflows. The slice of workflows, which is above this one, implements it."""

    def update_associated(self, caller: Identity, pipeline: Pipeline) -> Updated:
        """Copy a pipeline's settings into the workflows that use it."""
        ...


@dataclass(eq=False, repr=False)
class PipelineCommands:
    pipelines: PipelineRepository
    databases: DatabaseService
    workflows: AssociatedWorkflows
    allowed: Allowed
    authorization: Authorization
    audit: AuditService
    clock: Clock

    @attempts(_ATTEMPTS, PipelineRevisionError)
    def put_pipeline(self, caller: Identity, body: PutPipelineBody) -> tuple[Pipeline, Updated]:
        """Create a pipeline, or replace the settings of the one that has the id.

        Raises:
            InvalidInputError: the resource is not allowed, the execution type differs from the
                stored one, or the database does not exist.
            PermissionDeniedError: the caller may not create or change it.
            PipelineRevisionError: it is changed concurrently at every attempt.
        """
        before = self.pipelines.get(body.database_id, body.pipeline_id)
        wanted = self._build(body, before)
        for checked in (wanted,) if before is None else (before, wanted):
            require(self.authorization, caller, "PUT", secured(checked))
        kind = wanted.pipeline_execution_type
        if before is not None and before.pipeline_execution_type != kind:
            fact = (
                f"cannot be changed: pipeline {wanted.pipeline_id} has the execution type "
                f"{before.pipeline_execution_type}; create another pipeline"
            )
            raise InvalidInputError.of("pipelineExecutionType", fact)
        rules.check_seconds(body)
        resource = rules.resource_of(body, self.allowed)
        pipeline = wanted.model_copy(update={"user_provided_resource": resource.text})
        try:
            self._put(caller, pipeline, before)
        except DatabaseNotFoundError as error:
            raise InvalidInputError.of("databaseId", error.message) from error
        if before is None or not body.update_associated_workflows:
            return pipeline, Updated()
        return pipeline, self.workflows.update_associated(caller, pipeline)

    @attempts(_ATTEMPTS, PipelineRevisionError)
    def delete_pipeline(self, caller: Identity, database_id: str, pipeline_id: str) -> None:
        """Delete a pipeline that no active workflow uses; its row is kept as a deleted one.

        Raises:
            InvalidInputError: workflows use it; up to five that the caller may see are named.
            PermissionDeniedError: the caller may see it, but not delete it.
            PipelineNotFoundError: it does not exist, or the caller may not see it.
            PipelineRevisionError: it is changed concurrently at every attempt.
        """
        pipeline = self.pipelines.get(database_id, pipeline_id)
        if pipeline is None or not self.authorization.may(caller, "GET", secured(pipeline)):
            raise PipelineNotFoundError(pipeline_id)
        require(self.authorization, caller, "DELETE", secured(pipeline))
        if pipeline.used_by:
            # Which workflows use a pipeline: some by name, and the number of others.
            seen = [key for key in pipeline.used_by if self._sees_workflow(caller, key)]
            parsed = (WORKFLOW.parse(key) for key in sorted(seen)[:_NAMED])
            named = [f"{workflow_id} ({database})" for database, workflow_id in parsed]
            others = len(pipeline.used_by) - len(named)
            if others:
                named.append(f"{others} other{'s' if others > 1 else ''}")
            raise InvalidInputError.of(
                "pipelineId",
                f"{pipeline.pipeline_id} is used by these workflows: {', '.join(named)}",
            )
        now = self.clock()
        marks = {"deleted_at": iso(now), "deleted_by": caller.user_id}
        deleted = pipeline.model_copy(update=marks)
        entry = self.audit.entry(
            caller,
            "delete_pipeline",
            audit_entity("pipeline", database_id, pipeline_id),
            before=attributes(pipeline),
            after=attributes(deleted),
            at=now,
        )
        away = self.pipelines.deletion_writes(pipeline, deleted)
        counted = self.databases.count_definition(database_id, _KIND, -1)
        return self.pipelines.commit([*away, *counted, entry])

    def _build(self, body: PutPipelineBody, before: Pipeline | None) -> Pipeline:
        """Return the new pipeline without its resource, because permissions are checked first."""
        now = iso(self.clock())
        enabled = body.enabled
        if enabled is None:
            enabled = True if before is None else before.enabled
        return Pipeline(
            **body.stored_attributes(),
            user_provided_resource="",
            enabled=enabled,
            date_created=now if before is None else before.date_created,
            date_updated=now,
            used_by=[] if before is None else before.used_by,
            revision=1 if before is None else before.revision,
        )

    def _put(self, caller: Identity, pipeline: Pipeline, before: Pipeline | None) -> None:
        entry = self.audit.entry(
            caller,
            "put_pipeline",
            audit_entity("pipeline", pipeline.database_id, pipeline.pipeline_id),
            before=None if before is None else attributes(before),
            after=attributes(pipeline),
        )
        if before is not None:
            return self.pipelines.commit([self.pipelines.change_write(before, pipeline), entry])
        counted = self.databases.count_definition(pipeline.database_id, _KIND, 1)
        return self.pipelines.commit([self.pipelines.create_write(pipeline), *counted, entry])

    def _sees_workflow(self, caller: Identity, key: str) -> bool:
        database_id, workflow_id = WORKFLOW.parse(key)
        fields = {"databaseId": database_id, "workflowId": workflow_id}
        return self.authorization.may(caller, "GET", Secured("workflow", fields))


@dataclass(eq=False, repr=False)
class ShippedPipelines:
    """Creates the pipelines that ship with the product, and applies changed declarations."""

    pipelines: PipelineRepository
    clock: Clock

    def ensure(self, shipped: Sequence[Shipped] = SHIPPED) -> None:
        """Create each that never existed, and update each that no user has changed or deleted."""
        for shipped_pipeline in shipped:
            pipeline = self.pipelines.get(GLOBAL, shipped_pipeline.id)
            wanted = self._build(shipped_pipeline, pipeline)
            if pipeline is None:
                if self.pipelines.get(GLOBAL, shipped_pipeline.id, deleted=True) is None:
                    self.pipelines.commit([self.pipelines.create_write(wanted)])
            elif pipeline.shipped and attributes(wanted) != attributes(pipeline):
                self.pipelines.commit([self.pipelines.change_write(pipeline, wanted)])

    def _build(self, shipped: Shipped, before: Pipeline | None) -> Pipeline:
        now = iso(self.clock())
        resource = Resource(resource_id=shipped.function, resource_type="Lambda", is_provided=False)
        return Pipeline(
            database_id=GLOBAL,
            pipeline_id=shipped.id,
            pipeline_type="standardFile",
            pipeline_execution_type="Lambda",
            description=shipped.description,
            asset_type=".all",
            user_provided_resource=resource.text,
            date_created=now if before is None else before.date_created,
            date_updated=now if before is None else before.date_updated,
            used_by=[] if before is None else before.used_by,
            shipped=True,
        )
