"""Pipelines: what processes files, and how it is called."""

from collections.abc import Iterator

from vitrine.models import Message, Wire
from vitrine.transport import Transport, parse, path_of
from vitrine.workflow_models import Pipeline, PipelineSettings


class _Found(Wire):
    message: Pipeline


class Pipelines:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(
        self,
        database_id: str | None = None,
        *,
        show_deleted: bool | None = None,
        page_size: int | None = None,
    ) -> Iterator[Pipeline]:
        """All pipelines, or those of a database or of GLOBAL; or else the deleted ones."""
        of = () if database_id is None else ("database", database_id)
        return self._transport.pages(
            Pipeline,
            path_of(*of, "pipelines"),
            within="message",
            query={"showDeleted": show_deleted},
            page_size=page_size,
        )

    def get(
        self, database_id: str, pipeline_id: str, *, show_deleted: bool | None = None
    ) -> Pipeline:
        """One pipeline. Raises NotFoundError where it is absent or hidden."""
        path = path_of("database", database_id, "pipelines", pipeline_id)
        response = self._transport.send("GET", path, query={"showDeleted": show_deleted})
        return parse(_Found, response).message

    def put(self, settings: PipelineSettings) -> Message:
        """Creates a pipeline, or replaces the one of the same id.

        Raises InvalidInputError where it names a resource that the deployment does not allow.
        """
        path = path_of("pipelines")
        return self._transport.write(Message, "PUT", path, body=settings.body())

    def delete(self, database_id: str, pipeline_id: str) -> Message:
        """Deletes a pipeline. Raises InvalidInputError where workflows use it."""
        path = path_of("database", database_id, "pipelines", pipeline_id)
        return parse(Message, self._transport.send("DELETE", path))
