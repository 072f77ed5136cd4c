"""The function that starts checks of the search indexes."""

from backend.entrypoints import ready
from backend.entrypoints.search_administration import KeepingWiring
from backend.spec.functions.operations import CHECK_SEARCH

handler = ready(KeepingWiring(CHECK_SEARCH).search_checks_handler)
