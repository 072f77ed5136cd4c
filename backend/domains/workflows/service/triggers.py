"""Why triggers of workflows start nothing, for the routes of workflows and for uploads."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from backend.domains.identity.service.profiles import DeletedUsers
from backend.domains.workflows.models import Workflow


@dataclass(eq=False, repr=False)
class WorkflowTriggers:
    deleted_users: DeletedUsers

    def stop_reasons(self, workflows: Sequence[Workflow]) -> dict[str, str]:
        """Return why triggers start nothing in any asset, by keys of workflows.

        The others run where the user who stored them may run their pipelines. Workflows that ship
        with the product run as the product.
        """
        own = [
            workflow
            for workflow in workflows
            if workflow.has_trigger and not workflow.is_shipped and not workflow.is_deleted
        ]
        authors = {item.stored_by for item in own if item.stored_by}
        deletions = self.deleted_users.deletions(sorted(authors)) if authors else {}
        reasons = ((item.key, _reason(item, deletions)) for item in own)
        return {key: reason for key, reason in reasons if reason is not None}


def _reason(workflow: Workflow, deletions: Mapping[str, str]) -> str | None:
    if not workflow.stored_by or not workflow.stored_at:
        return (
            "uploads do not start it: an earlier release stored it without its user; store it again"
        )
    if workflow.stored_at <= deletions.get(workflow.stored_by, ""):
        return f"uploads do not start it: user {workflow.stored_by} was deleted; store it again"
    return None
