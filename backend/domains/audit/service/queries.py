"""Reads audit entries and their large values."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from backend.core.authorization import Authorization, Secured, require
from backend.core.identity import Identity
from backend.core.paging import Page, PageRequest, all_items
from backend.domains.audit import rules
from backend.domains.audit.errors import AuditValueNotFoundError
from backend.domains.audit.models import Entry
from backend.domains.audit.repository import AuditArchive, AuditRepository

_PAGE = 100


@dataclass(eq=False, repr=False)
class AuditTrail:
    """Reads entries. They outlive their objects, so they have a permission of their own."""

    audit: AuditRepository
    archive: AuditArchive
    authorization: Authorization

    def list_entries(
        self,
        caller: Identity,
        page: PageRequest,
        *,
        entity: str | None = None,
        user_id: str = "",
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> Page[Entry]:
        """List entries about an object or of a user, newest first, within an inclusive period.

        Of those of a user, the last moments may be missing.

        Raises:
            PermissionDeniedError: the caller may not read them.
        """
        target = {"userId": user_id} if entity is None else {"entity": entity}
        require(self.authorization, caller, "GET", Secured("audit", target))
        period = rules.sort_keys_between(since, until)
        if entity is None:
            return self.audit.list_of_user(user_id, page, period=period)
        return self.audit.list_of_entity(entity, page, period=period)

    def get_value(
        self, caller: Identity, sha256: str, *, entity: str, at: datetime
    ) -> tuple[int, object]:
        """Return the size and the content of a large value in an entry of that moment.

        Raises:
            AuditValueNotFoundError: no such entry has a value with this hash.
            PermissionDeniedError: the caller may not read entries about this.
        """
        require(self.authorization, caller, "GET", Secured("audit", {"entity": entity}))
        for entry in self._entries(entity, at):
            references = set(rules.references(entry))
            if entry.changes_stored is not None and sha256 not in references:
                _, changes = self.archive.value(entry.changes_stored.sha256)
                references = set(rules.references_within(changes))
            if sha256 in references:
                return self.archive.value(sha256)
        raise AuditValueNotFoundError(sha256)

    def _entries(self, entity: str, at: datetime) -> Iterator[Entry]:
        period = rules.sort_keys_between(at, at)
        return all_items(partial(self.audit.list_of_entity, entity, period=period), _PAGE)
