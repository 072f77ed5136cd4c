"""Workflows: sequences of pipelines."""

from collections.abc import Iterator, Sequence

from vitrine.models import Message, Wire
from vitrine.resources.registry import given
from vitrine.transport import Transport, parse, path_of
from vitrine.workflow_models import Workflow, WorkflowPipeline, functions_of


class _Found(Wire):
    message: Workflow


class Workflows:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(
        self,
        database_id: str | None = None,
        *,
        show_deleted: bool | None = None,
        page_size: int | None = None,
    ) -> Iterator[Workflow]:
        """All workflows, or those of a database or of GLOBAL; or else the deleted ones."""
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
        """One workflow. Raises NotFoundError where it is absent or hidden."""
        path = path_of("database", database_id, "workflows", workflow_id)
        response = self._transport.send("GET", path, query={"showDeleted": show_deleted})
        return parse(_Found, response).message

    def put(
        self,
        database_id: str,
        workflow_id: str,
        *,
        description: str,
        pipelines: Sequence[WorkflowPipeline],
        extensions: str | None = None,
    ) -> Message:
        """Creates a workflow, or replaces the one of the same id.

        `extensions` (".glb,.obj", or ".all") are those of the files whose upload runs it. The
        settings of pipelines are copied now: later changes of a pipeline do not reach it.
        """
        body = given(
            databaseId=database_id,
            workflowId=workflow_id,
            description=description,
            specifiedPipelines=functions_of(pipelines),
            autoTriggerOnFileExtensionsUpload=extensions,
        )
        return self._transport.write(Message, "PUT", path_of("workflows"), body=body)

    def delete(self, database_id: str, workflow_id: str) -> Message:
        """Deletes a workflow; what runs of it ends normally."""
        path = path_of("database", database_id, "workflows", workflow_id)
        return parse(Message, self._transport.send("DELETE", path))
