"""The function that starts checks of the search indexes."""

from backend.entrypoints import ready
from backend.entrypoints.operations import OperationsWiring
from backend.spec.functions import CHECK_SEARCH

handler = ready(OperationsWiring(CHECK_SEARCH).search_checks_handler)
