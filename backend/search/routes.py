"""The routes of search."""

from backend.core.errors import FieldError, TooLargeError
from backend.core.models import WireModel
from backend.core.search_engine import JsonObject
from backend.core.written import AFTER_HEADER, written_of
from backend.http.call import Call
from backend.http.router import Reply, Router
from backend.search.models import MappingsReply, SearchBody, SearchReply, SimpleSearchBody
from backend.search.service import SearchService
from backend.spec import routes

MAX_REPLY_BYTES = 5_900_000
"""Of the 6 MB that a Lambda function may answer, with room for headers."""


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
        return Reply(_reply(found), status=202 if "lag" in found else 200)

    @router.bind(routes.SEARCH_SIMPLE)
    def search_simple(call: Call, body: SimpleSearchBody) -> WireModel:
        return _reply(service.search_simple(call.caller, body))

    return router


def _reply(found: JsonObject) -> SearchReply:
    """The reply, if it is one that a function can send: its text is sent as a text in JSON.

    Raises:
        TooLargeError: it is not.
    """
    reply = SearchReply.model_validate(found)
    text = reply.model_dump_json(by_alias=True, exclude_none=True)
    size = len(text.encode()) + text.count('"') + text.count("\\")
    if size > MAX_REPLY_BYTES:
        fact = f"makes a reply of {size} bytes, at most {MAX_REPLY_BYTES} are sent; ask for less"
        raise TooLargeError(f"size: {fact}", fields=(FieldError("size", fact),))
    return reply
