"""Copies changed pipelines into the workflows that use them."""

from dataclasses import dataclass

from backend.core.attempts import attempts
from backend.core.authorization import Authorization
from backend.core.clock import Clock, iso
from backend.core.definitions import DefinitionRef
from backend.core.identity import Identity
from backend.core.transactions import Write
from backend.domains.audit.models import audit_entity
from backend.domains.audit.service.commands import AuditService
from backend.domains.pipelines.errors import PipelineRevisionError
from backend.domains.pipelines.models import Pipeline
from backend.domains.pipelines.service.commands import Updated
from backend.domains.pipelines.service.queries import PipelineQueries
from backend.domains.workflows.errors import WorkflowRevisionError
from backend.domains.workflows.models import SpecifiedPipelines, Workflow, WorkflowFunction
from backend.domains.workflows.repository import WorkflowRepository
from backend.domains.workflows.service.queries import attributes, not_runnable, secured
from backend.spec.keys import WORKFLOW

_ATTEMPTS = 8  # of a batch that conflicts with other changes
# Workflows that one transaction writes. A row may have 400 KB, and a transaction 4 MB.
_AT_ONCE = 10


def _revision_error(
    _: object, _caller: Identity, _pipeline: Pipeline, wanted: list[DefinitionRef]
) -> WorkflowRevisionError:
    return WorkflowRevisionError(wanted[0].definition_id)


@dataclass(eq=False, repr=False)
class AssociatedUpdates:
    """Implements the port `pipelines.service.AssociatedWorkflows`."""

    workflows: WorkflowRepository
    pipelines: PipelineQueries
    authorization: Authorization
    audit: AuditService
    clock: Clock

    def update_associated(self, caller: Identity, pipeline: Pipeline) -> Updated:
        """Copy a pipeline's settings to the workflows that use it, if the caller may change them.

        A trigger then runs for the caller, who needs the rights to store it.

        Raises:
            WorkflowRevisionError: one of them is changed concurrently at every attempt.
        """
        changed = refused = 0
        wanted = [DefinitionRef(*WORKFLOW.parse(key)) for key in sorted(pipeline.used_by)]
        for start in range(0, len(wanted), _AT_ONCE):
            done = self._update(caller, pipeline, wanted[start : start + _AT_ONCE])
            changed, refused = changed + done.changed, refused + done.refused
        return Updated(changed, refused)

    @attempts(_ATTEMPTS, PipelineRevisionError, WorkflowRevisionError, refusal=_revision_error)
    def _update(self, caller: Identity, pipeline: Pipeline, wanted: list[DefinitionRef]) -> Updated:
        place = DefinitionRef(pipeline.database_id, pipeline.pipeline_id)
        current = self.pipelines.find_pipelines([place]).get(place)
        if current is None:  # it was deleted since, so no workflow uses it
            return Updated()
        values = self.workflows.get_many(wanted).values()
        allowed = [value for value in values if self._may_change(caller, value)]
        writes = [
            write for workflow in allowed for write in self._writes(caller, workflow, current)
        ]
        if writes:
            self.workflows.commit([self.pipelines.require_unchanged(current), *writes])
        return Updated(len(allowed), len(values) - len(allowed))

    def _may_change(self, caller: Identity, workflow: Workflow) -> bool:
        if not self.authorization.may(caller, "PUT", secured(workflow)):
            return False
        if not workflow.has_trigger:
            return True
        used = self.pipelines.find_pipelines([function.pipeline for function in workflow.functions])
        return not_runnable(self.authorization, caller, workflow, used.values()) is None

    def _writes(self, caller: Identity, workflow: Workflow, pipeline: Pipeline) -> list[Write]:
        place = DefinitionRef(pipeline.database_id, pipeline.pipeline_id)
        functions = [
            WorkflowFunction.of(pipeline) if function.pipeline == place else function
            for function in workflow.functions
        ]
        now = self.clock()
        changes = {
            "specified_pipelines": SpecifiedPipelines(functions=functions),
            "date_modified": iso(now),
            # Else another user's trigger would run what the caller chose, on assets that the
            # caller may not see.
            "stored_by": caller.user_id,
            "stored_at": iso(now),
        }
        changed = workflow.model_copy(update=changes)
        entry = self.audit.entry(
            caller,
            "put_workflow",
            audit_entity("workflow", workflow.database_id, workflow.workflow_id),
            before=attributes(workflow),
            after=attributes(changed),
            at=now,
        )
        return [self.workflows.change_write(workflow, changed), entry]
