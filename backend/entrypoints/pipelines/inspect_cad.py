"""The function that inspects CAD models."""

from backend.entrypoints import ready
from backend.entrypoints.inspection import inspector
from backend.spec.functions.inspection import INSPECT_CAD

handler = ready(inspector(INSPECT_CAD).handle)
