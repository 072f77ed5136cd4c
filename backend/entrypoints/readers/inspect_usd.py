"""The function that reads USD stages."""

from backend.entrypoints import ready
from backend.entrypoints.reading import reader
from backend.spec.functions.inspection import INSPECT_USD_READER

handler = ready(reader(INSPECT_USD_READER).handle)
