"""Tells entries and their large values."""

from datetime import datetime

from backend.core.authorization import Authorization, Secured, require
from backend.core.identity import Identity
from backend.core.paging import Page, PageRequest
from backend.core.wired import wired
from backend.domains.audit.models import Entry
from backend.domains.audit.repository import AuditArchive, AuditRepository
from backend.domains.audit.rules import period


@wired
class AuditTrail:
    """Entries outlive what they speak of, so they have a permission of their own."""

    audit: AuditRepository
    archive: AuditArchive
    authorization: Authorization

    def list_of_entity(
        self,
        caller: Identity,
        entity: str,
        page: PageRequest,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> Page[Entry]:
        """Entries about something, newest first, both ends of the time included.

        Raises:
            PermissionDeniedError: the caller may not read them.
        """
        require(self.authorization, caller, "GET", Secured("audit", {"entity": entity}))
        return self.audit.list_of_entity(entity, page, period=period(since, until))

    def list_of_user(
        self,
        caller: Identity,
        user_id: str,
        page: PageRequest,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> Page[Entry]:
        """Entries of what a user did, newest first; the last moments may be missing.

        Raises:
            PermissionDeniedError: the caller may not read them.
        """
        require(self.authorization, caller, "GET", Secured("audit", {"userId": user_id}))
        return self.audit.list_of_user(user_id, page, period=period(since, until))

    def get_value(self, caller: Identity, sha256: str) -> tuple[int, object]:
        """The size and the content of a large value of some entry.

        Raises:
            AuditValueNotFoundError: there is none with this hash.
            PermissionDeniedError: the caller may not read entries.
        """
        require(self.authorization, caller, "GET", Secured("audit"))
        return self.archive.value(sha256)
