"""Pipelines, which process files."""

from collections.abc import Iterator

from vitrine.models import Message, Wire
from vitrine.resources.resource import Resource
from vitrine.transport import path_of
from vitrine.workflow_models import Pipeline, PipelineSettings


class _Found(Wire):
    message: Pipeline


class Pipelines(Resource):
    def list(
        self,
        database_id: str | None = None,
        *,
        show_deleted: bool | None = None,
        page_size: int | None = None,
    ) -> Iterator[Pipeline]:
        """List all pipelines, or those of a database or of GLOBAL; optionally the deleted ones."""
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
        """Return one pipeline. Raises NotFoundError if it is absent or hidden."""
        path = path_of("database", database_id, "pipelines", pipeline_id)
        return self._transport.read(_Found, path, query={"showDeleted": show_deleted}).message

    def put(self, settings: PipelineSettings) -> Message:
        """Create a pipeline, or replace the one with the same id.

        Raises InvalidInputError if it names a resource that the deployment does not allow.
        """
        path = path_of("pipelines")
        return self._transport.write(Message, "PUT", path, body=settings.body())

    def delete(self, database_id: str, pipeline_id: str) -> Message:
        """Delete a pipeline. Raises InvalidInputError if workflows use it."""
        path = path_of("database", database_id, "pipelines", pipeline_id)
        return self._transport.write(Message, "DELETE", path)
