"""The function of search."""

from backend.entrypoints.wiring.api import serve
from backend.entrypoints.wiring.search import search
from backend.search.query.routes import build_router
from backend.spec.functions.searches import SEARCH_API

handler = serve(SEARCH_API, lambda context: build_router(search(context)))
