"""The function that rebuilds the files of assets whose inherited attributes changed."""

from backend.entrypoints.wiring.events import handle
from backend.entrypoints.wiring.indexing import fan_out
from backend.spec.functions.workers import INDEX_FAN_OUT

handler = handle(INDEX_FAN_OUT, fan_out)
