"""The routes of search."""

from backend.core.models import WireModel
from backend.http.call import Call
from backend.http.router import Router
from backend.search.models import MappingsReply, SearchBody, SearchReply, SimpleSearchBody
from backend.search.service import SearchService
from backend.spec import routes


def build_router(service: SearchService) -> Router:
    """Bind the routes of search to the service."""
    router = Router()

    @router.bind(routes.GET_SEARCH_MAPPINGS)
    def get_mappings(call: Call) -> WireModel:  # noqa: ARG001 - tier 1 has asked for the caller
        return MappingsReply.model_validate({"mappings": service.get_mappings()})

    @router.bind(routes.SEARCH)
    def search(call: Call, body: SearchBody) -> WireModel:
        return SearchReply.model_validate(service.search(call.caller, body))

    @router.bind(routes.SEARCH_SIMPLE)
    def search_simple(call: Call, body: SimpleSearchBody) -> WireModel:
        return SearchReply.model_validate(service.search_simple(call.caller, body))

    return router
