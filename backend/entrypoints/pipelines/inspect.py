"""The function that inspects models, point clouds, images and documents."""

from backend.entrypoints import ready
from backend.entrypoints.inspection import inspector
from backend.spec.functions.inspection import INSPECT

handler = ready(inspector(INSPECT).handle)
