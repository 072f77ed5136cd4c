"""The routes of search."""

from backend.core.models import WireModel
from backend.core.sync_tokens import AFTER_HEADER, written_of
from backend.http.call import Call
from backend.http.router import Reply, Router
from backend.search.models import (
    MappingsReply,
    SearchBody,
    SimpleSearchBody,
    SuggestionsReply,
    SuggestQuery,
)
from backend.search.replies import SearchReply
from backend.search.service import SearchService
from backend.spec import routes


def build_router(service: SearchService) -> Router:
    """Bind the routes of search to the service."""
    router = Router()

    @router.bind(routes.GET_SEARCH_MAPPINGS)
    def get_mappings(call: Call) -> WireModel:
        return MappingsReply.model_validate({"mappings": service.get_mappings(call.caller)})

    @router.bind(routes.SEARCH)
    def search(call: Call, body: SearchBody) -> Reply[SearchReply]:
        token = call.headers.get(AFTER_HEADER.lower())
        written = None if token is None else written_of(call.tokens, call.caller, token)
        found = service.search(call.caller, body, written=written)
        status = 202 if "lag" in found else 200
        return Reply(SearchReply.model_validate(found), status=status, bounded_by="size")

    @router.bind(routes.SUGGEST)
    def suggest(call: Call, query: SuggestQuery) -> SuggestionsReply:
        found = service.suggest(call.caller, query)
        return SuggestionsReply.model_validate({"suggestions": found})

    @router.bind(routes.SEARCH_SIMPLE)
    def search_simple(call: Call, body: SimpleSearchBody) -> Reply[SearchReply]:
        found = service.search_simple(call.caller, body)
        return Reply(SearchReply.model_validate(found), bounded_by="size")

    return router
