"""The function that inspects IFC models."""

from backend.entrypoints import ready
from backend.entrypoints.inspection import inspector
from backend.spec.functions.inspection import INSPECT_IFC

handler = ready(inspector(INSPECT_IFC).handle)
