"""The audit log: who changed what, and when."""

from collections.abc import Iterator

from pydantic import JsonValue

from vitrine.models import Wire
from vitrine.transport import Transport, path_of


class AuditValueReference(Wire):
    """A value too large for an entry: `bytes` is its size as JSON."""

    sha256: str
    bytes: int


class AuditChange(Wire):
    """One attribute; a missing side had no value, a large one is under `…_stored`."""

    before: JsonValue = None
    after: JsonValue = None
    before_stored: AuditValueReference | None = None
    after_stored: AuditValueReference | None = None


class AuditDenied(Wire):
    """The refused request; `left_out` counts earlier refusals of the user without an entry."""

    refusal: str
    route: str
    action: str
    object_type: str
    path: dict[str, str] = {}
    left_out: int = 0


class AuditRead(Wire):
    """What a caller received: `files` are the first of `file_count` paths.

    `urls`: presigned URLs, which carry `request_id`. `first_at`: the entry covers all such reads of
    an hour, of which this is the first.
    """

    request_id: str
    urls: bool
    files: list[str] = []
    file_count: int = 0
    first_at: str | None = None


class AuditEntry(Wire):
    """One write, with `denied` one refusal, or with `read` one read.

    If there were very many changes, `changes_stored` refers to all of them.
    """

    entity: str
    at: str
    user_id: str
    operation: str
    changes: dict[str, AuditChange] = {}
    changes_stored: AuditValueReference | None = None
    denied: AuditDenied | None = None
    read: AuditRead | None = None


class AuditValue(AuditValueReference):
    value: JsonValue = None


class Audit:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

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
