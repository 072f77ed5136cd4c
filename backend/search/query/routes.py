"""The routes of search."""

from backend.core.sync_tokens import AFTER_HEADER, written_of
from backend.http.call import Call
from backend.http.router import Reply, Router
from backend.search.query.answers import with_fields
from backend.search.query.models import (
    MappingsReply,
    PreviewsBody,
    SearchBody,
    SimpleSearchBody,
    SuggestionsReply,
    SuggestQuery,
)
from backend.search.query.preview_replies import OMITTED, without_previews
from backend.search.query.replies import PreviewsReply, SearchReply
from backend.search.query.service import SearchService
from backend.spec import routes


def build_router(service: SearchService) -> Router:
    """Bind the routes of search to the service."""
    router = Router()

    @router.bind(routes.GET_SEARCH_MAPPINGS)
    def get_mappings(call: Call) -> MappingsReply:
        return MappingsReply.model_validate({"mappings": service.get_mappings(call.caller)})

    @router.bind(routes.SEARCH)
    def search(call: Call, body: SearchBody) -> Reply[SearchReply]:
        token = call.headers.get(AFTER_HEADER.lower())
        written = None if token is None else written_of(call.tokens, call.caller, token)
        answer, read = service.search(call.caller, body, written=written), None
        status = 202 if "lag" in answer else 200
        if body.previews:
            answer, read = service.with_previews(call.caller, answer, held=body.held_previews)
        if body.source_fields is not None:
            answer = with_fields(answer, body.source_fields)
        plain = None if read is None else SearchReply.model_validate(without_previews(answer))
        return Reply(
            SearchReply.model_validate(answer),
            status=status,
            compressible=True,
            bounded_by="size",
            read=read,
            unrecorded=plain,
        )

    @router.bind(routes.LIST_PREVIEWS)
    def list_previews(call: Call, body: PreviewsBody) -> Reply[PreviewsReply]:
        previews, read = service.list_previews(call.caller, body)
        plain = PreviewsReply(items=[], previews_omitted=OMITTED)
        return Reply(previews, compressible=True, bounded_by="items", read=read, unrecorded=plain)

    @router.bind(routes.SUGGEST)
    def suggest(call: Call, query: SuggestQuery) -> SuggestionsReply:
        suggestions = service.suggest(call.caller, query)
        return SuggestionsReply.model_validate({"suggestions": suggestions})

    @router.bind(routes.SEARCH_SIMPLE)
    def search_simple(call: Call, body: SimpleSearchBody) -> Reply[SearchReply]:
        answer = service.search_simple(call.caller, body)
        return Reply(SearchReply.model_validate(answer), compressible=True, bounded_by="size")

    return router
