"""Operations on facts."""

from backend.domains.facts.service.commands import FactCommands

__all__ = ["FactCommands"]
