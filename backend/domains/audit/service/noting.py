"""Enters what somebody had the product do that changes no item of a table: replays, redrives."""

from collections.abc import Mapping
from typing import Any

from backend.core.clock import Clock
from backend.core.identity import Identity
from backend.core.wired import wired
from backend.domains.audit.repository import AuditRepository
from backend.domains.audit.service.recording import AuditService


@wired
class AuditNotes:
    """The entry comes before the act: what cannot be entered is not done."""

    audit: AuditRepository
    entries: AuditService
    clock: Clock

    def note(
        self, caller: Identity, operation: str, entity: str, *, request: Mapping[str, Any]
    ) -> None:
        """Enter what is about to be done, whatever comes of it.

        Raises:
            UnavailableError: it cannot be entered.
        """
        entry = self.entries.entry(caller, operation, entity, after=request, at=self.clock())
        self.audit.add(entry)
