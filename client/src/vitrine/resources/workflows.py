"""Workflows: sequences of pipelines."""

from collections.abc import Iterator, Sequence

from vitrine import api_models as api
from vitrine.models import Message, Wire
from vitrine.resources.resource import Resource
from vitrine.transport import path_of
from vitrine.workflow_models import Workflow, WorkflowPipeline, functions_of


class _Found(Wire):
    message: Workflow


class Workflows(Resource):
    def list(
        self,
        database_id: str | None = None,
        *,
        show_deleted: bool | None = None,
        page_size: int | None = None,
    ) -> Iterator[Workflow]:
        """List all workflows, or those of a database or of GLOBAL; optionally the deleted ones."""
        of = () if database_id is None else ("database", database_id)
        return self._transport.pages(
            Workflow,
            path_of(*of, "workflows"),
            within="message",
            query={"showDeleted": show_deleted},
            page_size=page_size,
        )

    def get(
        self, database_id: str, workflow_id: str, *, show_deleted: bool | None = None
    ) -> Workflow:
        """Return one workflow. Raises NotFoundError if it is absent or hidden."""
        path = path_of("database", database_id, "workflows", workflow_id)
        return self._transport.read(_Found, path, query={"showDeleted": show_deleted}).message

    def put(
        self,
        database_id: str,
        workflow_id: str,
        *,
        description: str,
        pipelines: Sequence[WorkflowPipeline],
        extensions: str | None = None,
    ) -> Message:
        """Create a workflow, or replace the one with the same id.

        `extensions` (".glb,.obj", or ".all") are those of the files whose upload starts it. The
        settings of pipelines are copied now: later changes of a pipeline do not affect it.
        """
        body = api.PutWorkflowBody(
            database_id=database_id,
            workflow_id=workflow_id,
            description=description,
            specified_pipelines=functions_of(pipelines),
            auto_trigger_on_file_extensions_upload=extensions,
        )
        return self._transport.write(Message, "PUT", path_of("workflows"), body=body)

    def delete(self, database_id: str, workflow_id: str) -> Message:
        """Delete a workflow; running executions end normally."""
        path = path_of("database", database_id, "workflows", workflow_id)
        return self._transport.write(Message, "DELETE", path)
