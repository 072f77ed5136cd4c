"""The functions that inspect files, each those of its own formats."""

from backend.aws.settings import running
from backend.entrypoints import ready
from backend.entrypoints.inspection import inspector
from backend.spec.functions.inspection import PIPELINES

handler = ready(inspector(running(PIPELINES)).handle)
