"""The function that rebuilds the files of assets whose inherited attributes changed."""

from backend.entrypoints import ready
from backend.entrypoints.indexing import IndexingWiring
from backend.spec.functions.workers import INDEX_FAN_OUT

handler = ready(IndexingWiring(INDEX_FAN_OUT).fan_out_handler)
