"""The routes of pipelines."""

from backend.core.paging import Page
from backend.domains.pipelines.models import Pipeline, PutPipelineBody
from backend.domains.pipelines.models.replies import (
    DatabasePipelinesPath,
    PipelineDoneReply,
    PipelineItem,
    PipelinePage,
    PipelinePath,
    PipelineQuery,
    PipelineReply,
    PipelinesQuery,
    PipelinesReply,
)
from backend.domains.pipelines.service.commands import PipelineCommands, Updated
from backend.domains.pipelines.service.queries import PipelineQueries
from backend.http.call import Call
from backend.http.router import Router
from backend.spec import routes


def build_router(queries: PipelineQueries, commands: PipelineCommands) -> Router:
    """Bind the routes of pipelines to the services."""
    router = Router()
    _bind_reads(router, queries)
    _bind_writes(router, commands)
    return router


def _bind_reads(router: Router, queries: PipelineQueries) -> None:
    @router.bind(routes.LIST_ALL_PIPELINES)
    def list_all_pipelines(call: Call, query: PipelinesQuery) -> PipelinesReply:
        page = queries.list_pipelines(
            call.caller, call.page(query), show_deleted=query.show_deleted
        )
        return _page(call, page)

    @router.bind(routes.LIST_PIPELINES)
    def list_pipelines(
        call: Call, path: DatabasePipelinesPath, query: PipelinesQuery
    ) -> PipelinesReply:
        page = queries.list_pipelines(
            call.caller,
            call.page(query),
            database_id=path.database_id,
            show_deleted=query.show_deleted,
        )
        return _page(call, page)

    @router.bind(routes.GET_PIPELINE)
    def get_pipeline(call: Call, path: PipelinePath, query: PipelineQuery) -> PipelineReply:
        pipeline = queries.get_pipeline(
            call.caller, path.database_id, path.pipeline_id, show_deleted=query.show_deleted
        )
        return PipelineReply(message=PipelineItem.of(pipeline))


def _bind_writes(router: Router, commands: PipelineCommands) -> None:
    @router.bind(routes.PUT_PIPELINE)
    def put_pipeline(call: Call, body: PutPipelineBody) -> PipelineDoneReply:
        pipeline, updated = commands.put_pipeline(call.caller, body)
        return PipelineDoneReply(message=_sentence(pipeline, updated))

    @router.bind(routes.DELETE_PIPELINE)
    def delete_pipeline(call: Call, path: PipelinePath) -> PipelineDoneReply:
        commands.delete_pipeline(call.caller, path.database_id, path.pipeline_id)
        return PipelineDoneReply(message=f"Pipeline {path.pipeline_id} was deleted")


def _page(call: Call, page: Page[Pipeline]) -> PipelinesReply:
    items = [PipelineItem.of(pipeline) for pipeline in page.items]
    return PipelinesReply(message=PipelinePage(items=items, next_token=call.next_token(page.after)))


def _sentence(pipeline: Pipeline, updated: Updated) -> str:
    said = f"Pipeline {pipeline.pipeline_id} was stored"
    if updated.changed:
        said += f"; workflows updated: {updated.changed}"
    if updated.refused:
        said += f"; workflows that you have no permission to change: {updated.refused}"
    return said
