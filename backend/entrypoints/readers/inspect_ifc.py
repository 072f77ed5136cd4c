"""The function that reads IFC models."""

from backend.entrypoints import ready
from backend.entrypoints.reading import reader
from backend.spec.functions.inspection import INSPECT_IFC_READER

handler = ready(reader(INSPECT_IFC_READER).handle)
