"""Stores the outputs of executions."""

from backend.domains.outputs.service.commands import OutputCommands, Stored
from backend.domains.outputs.service.inspections import Inspections
from backend.domains.outputs.service.previews import GeneratedPreviews

__all__ = ["GeneratedPreviews", "Inspections", "OutputCommands", "Stored"]
