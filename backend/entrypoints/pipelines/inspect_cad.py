"""The function that inspects CAD models."""

from backend.entrypoints import ready
from backend.entrypoints.inspection import inspector
from backend.spec.formats import INSPECT_CAD_EXTENSIONS
from backend.spec.functions.inspection import INSPECT_CAD

handler = ready(inspector(INSPECT_CAD, INSPECT_CAD_EXTENSIONS).handle)
