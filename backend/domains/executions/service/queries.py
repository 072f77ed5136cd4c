"""Reads executions. Only the steps of a single one are read from Step Functions."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass

from backend.core.authorization import Authorization, Secured, require
from backend.core.definitions import DefinitionRef
from backend.core.errors import RateLimitedError, UnavailableError
from backend.core.identity import Identity
from backend.core.paging import Page, PageRequest, fill
from backend.core.references import AssetRef
from backend.core.runs import Runs, StepState
from backend.domains.assets.service.commands import AssetService
from backend.domains.assets.service.queries import secured
from backend.domains.executions import rules
from backend.domains.executions.errors import ExecutionNotFoundError
from backend.domains.executions.models import Execution
from backend.domains.executions.repository.rows import (
    ExecutionRepository,
    position_in_asset,
    position_in_workflow,
)
from backend.domains.executions.rules import new_executions
from backend.spec.routes import Action

_log = logging.getLogger(__name__)


@dataclass(eq=False, repr=False)
class ExecutionQueries:
    executions: ExecutionRepository
    assets: AssetService
    runs: Runs
    authorization: Authorization

    def list_executions(
        self,
        caller: Identity,
        ref: AssetRef,
        page: PageRequest,
        *,
        workflow: tuple[str | None, str] | None = None,
    ) -> Page[Execution]:
        """List the executions of an asset, newest first, or those of one workflow on it.

        A workflow is a database and an id; without the database, workflows of this id in any
        database. Those of one workflow of one database are in no particular order. Executions of
        workflows that the caller may not see are left out.

        Raises:
            AssetNotFoundError: the asset does not exist, or the caller may not see it.
        """
        asset = self.assets.get_asset(caller, *ref.ids)
        database_id, workflow_id = workflow or (None, None)
        indexed = DefinitionRef(database_id, workflow_id) if database_id and workflow_id else None

        def fetch(request: PageRequest) -> Page[Execution]:
            if indexed is None:
                return self.executions.list_of_asset(asset.ref, request)
            return self.executions.list_of_workflow(asset.ref, indexed, request)

        def position_of(execution: Execution) -> Mapping[str, str]:
            if indexed is None:
                return position_in_asset(execution)
            return position_in_workflow(execution)

        def visible(execution: Execution) -> bool:
            if workflow_id not in (None, execution.workflow_id):
                return False
            return self.authorization.may(caller, "GET", secured_workflow(execution))

        return fill(fetch, page, visible=visible, position_of=position_of)

    def get_execution(self, caller: Identity, ref: AssetRef, execution_id: str) -> Execution:
        """Return one execution of an asset.

        Raises:
            AssetNotFoundError: the asset does not exist, or the caller may not see it.
            ExecutionNotFoundError: it has no such execution, or the caller may not see it.
        """
        return self.execution_for(caller, "GET", ref, execution_id)

    def steps(self, execution: Execution) -> Mapping[int, StepState]:
        """Return the states of the pipelines that were started, by their numbers from 1.

        None while Step Functions does not respond; all other data of an execution is available
        without it.
        """
        if not execution.started_at:
            return {}
        try:
            steps = self.runs.steps(execution.execution_id)
        except (RateLimitedError, UnavailableError) as error:
            _log.info(
                "execution %s: its steps cannot be read: %s", execution.execution_id, error.message
            )
            return {}
        return steps if execution.is_active else rules.ended_steps(execution, steps)

    def execution_for(
        self, caller: Identity, action: Action, ref: AssetRef, execution_id: str
    ) -> Execution:
        """Return an execution, for a caller who may perform the action on its asset and workflow.

        Raises:
            AssetNotFoundError: the asset does not exist, or the caller may not see it.
            ExecutionNotFoundError: it has no such execution, or the caller may not see it.
            PermissionDeniedError: the caller may see it, but not perform the action.
        """
        asset = self.assets.get_asset(caller, *ref.ids)
        execution = self.executions.get(asset.database_id, asset.asset_id, execution_id)
        if execution is None or not self.authorization.may(
            caller, "GET", secured_workflow(execution)
        ):
            raise ExecutionNotFoundError(execution_id)
        require(self.authorization, caller, action, secured(asset))
        require(self.authorization, caller, action, secured_workflow(execution))
        return execution


def secured_workflow(execution: Execution) -> Secured:
    """Return the workflow of an execution as permissions see it, even if it no longer exists."""
    fields = new_executions.secured_fields(execution.workflow_database_id, execution.workflow_id)
    return Secured("workflow", fields)
