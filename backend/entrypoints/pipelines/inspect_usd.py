"""The function that inspects USD stages."""

from backend.entrypoints import ready
from backend.entrypoints.inspection import inspector
from backend.spec.functions.inspection import INSPECT_USD

handler = ready(inspector(INSPECT_USD).handle)
