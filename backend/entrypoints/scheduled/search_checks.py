"""The function that starts checks of the search indexes."""

from backend.entrypoints.wiring.events import handle
from backend.entrypoints.wiring.search_work import search_checks
from backend.spec.functions.operations import CHECK_SEARCH

handler = handle(CHECK_SEARCH, search_checks)
