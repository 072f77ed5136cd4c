"""The audit log in tests: its writer and its entries."""

from datetime import UTC, datetime
from typing import Any

from backend.core.clock import Clock
from backend.core.objects import Objects
from backend.core.paging import PageRequest
from backend.core.tables import Tables
from backend.domains.audit.repository import AuditArchive
from backend.domains.audit.rules import with_user
from backend.domains.audit.service.commands import AuditService
from backend.spec.tables.operations import AUDIT

ARCHIVE = "auditarchivebucket"
DAYS = 400
_NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def audit_service(
    objects: Objects, clock: Clock = lambda: _NOON, *, bucket: str = ARCHIVE
) -> AuditService:
    """The service that creates entries; its bucket may be missing: few values are large."""
    return AuditService(AuditArchive(objects, lambda: bucket), lambda: DAYS, clock)


def entries(tables: Tables) -> list[dict[str, Any]]:
    """All entries with their users, oldest first."""
    result: list[dict[str, Any]] = []
    page = tables.scan(AUDIT, PageRequest(1000))
    result += page.items
    while page.after is not None:
        page = tables.scan(AUDIT, PageRequest(1000, page.after))
        result += page.items
    return sorted(map(with_user, result), key=lambda entry: entry["at"])
