"""The function that reads models, point clouds, images and documents."""

from backend.entrypoints import ready
from backend.entrypoints.reading import reader
from backend.spec.functions.inspection import INSPECT_READER

handler = ready(reader(INSPECT_READER).handle)
