"""The audit log: who changed what, and when."""

from collections.abc import Iterator

from vitrine.api_models import AuditChange as AuditChange
from vitrine.api_models import AuditDenied as AuditDenied
from vitrine.api_models import AuditEntry as AuditEntry
from vitrine.api_models import AuditRead as AuditRead
from vitrine.api_models import AuditValue as AuditValue
from vitrine.api_models import AuditValueReference as AuditValueReference
from vitrine.resources.resource import Resource
from vitrine.transport import path_of


class Audit(Resource):
    def list(
        self,
        *,
        entity: str | None = None,
        user_id: str | None = None,
        since: str | None = None,
        until: str | None = None,
        page_size: int | None = None,
    ) -> Iterator[AuditEntry]:
        """List entries about an object (`asset:museum:statue`), or of a user, newest first.

        Exactly one of both is required. `since` and `until` are days or times in ISO 8601.
        """
        query = {"entity": entity, "userId": user_id, "from": since, "to": until}
        return self._transport.pages(AuditEntry, path_of("audit"), query=query, page_size=page_size)

    def value(self, sha256: str, *, entity: str, at: str) -> AuditValue:
        """Return a large value; `entity` and `at` are those of the entry that refers to it."""
        query = {"entity": entity, "at": at}
        return self._transport.read(AuditValue, path_of("audit", "values", sha256), query=query)
