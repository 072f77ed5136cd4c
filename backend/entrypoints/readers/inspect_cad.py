"""The function that reads CAD models."""

from backend.entrypoints import ready
from backend.entrypoints.reading import reader
from backend.spec.functions.inspection import INSPECT_CAD_READER

handler = ready(reader(INSPECT_CAD_READER).handle)
