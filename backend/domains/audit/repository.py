"""The table of entries, and the archive of large values and expired entries."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from backend.core.errors import NotFoundError
from backend.core.objects import Objects
from backend.core.paging import Page, PageRequest
from backend.core.parallel import in_parallel
from backend.core.tables import Query, Tables
from backend.core.transactions import Put, put_new
from backend.domains.audit.errors import AuditEntryExistsError, AuditValueNotFoundError
from backend.domains.audit.models import Entry, LargeValue, Period
from backend.domains.audit.rules import dumped, value_key
from backend.spec.tables.operations import AUDIT, AUDIT_BY_USER


def put(entry: Entry) -> Put:
    """Return the write of an entry; its key is partly random, so no other entry is overwritten."""
    item = entry.model_dump(by_alias=True, exclude_none=True, exclude={"changes"})
    return Put(table=AUDIT, item=item | {"changes": dumped(entry.changes)})


@dataclass(eq=False, repr=False)
class AuditRepository:
    tables: Tables

    def list_of_entity(
        self, entity: str, page: PageRequest, *, period: Period | None
    ) -> Page[Entry]:
        """List entries about an object, newest first."""
        query = Query(
            table=AUDIT,
            partition=entity,
            sort_between=period,
            newest_first=True,
            consistent=True,
        )
        return self._page(query, page)

    def list_of_user(
        self, user_id: str, page: PageRequest, *, period: Period | None
    ) -> Page[Entry]:
        """List entries of a user, newest first, by an eventually consistent index."""
        query = Query(
            table=AUDIT,
            partition=user_id,
            index=AUDIT_BY_USER,
            sort_between=period,
            newest_first=True,
        )
        return self._page(query, page)

    def add(self, entry: Put) -> None:
        """Store an entry for a write that was carried out before."""
        self.tables.write(entry)

    def add_once(self, entry: Entry) -> None:
        """Store an entry unless one with its key exists."""
        write = put_new(AUDIT, put(entry).item, AuditEntryExistsError(entry.entity))
        try:
            self.tables.write(write)
        except AuditEntryExistsError:
            return

    def _page(self, query: Query, page: PageRequest) -> Page[Entry]:
        return self.tables.query(query, page).map(Entry.model_validate)


@dataclass(eq=False, repr=False)
class AuditArchive:
    """The archive bucket; its name is read when it is first needed."""

    objects: Objects
    bucket: Callable[[], str]

    def store_values(self, values: Sequence[LargeValue]) -> None:
        """Store large values, each under its hash; no effect if repeated."""

        def put(value: LargeValue) -> None:
            self.objects.put(
                self.bucket(),
                value_key(value.sha256),
                value.content,
                content_type="application/json",
                metadata={},
            )

        unique = {value.sha256: value for value in values}
        in_parallel(put, list(unique.values()))

    def value(self, sha256: str) -> tuple[int, object]:
        """Return the size and the content of a large value.

        Raises:
            AuditValueNotFoundError: there is no value with this hash.
        """
        try:
            content = b"".join(self.objects.read_chunks(self.bucket(), value_key(sha256)))
        except NotFoundError:
            raise AuditValueNotFoundError(sha256) from None
        return len(content), json.loads(content)

    def store_expired(self, name: str, content: bytes) -> None:
        """Store expired entries; the same name always has the same entries."""
        self.objects.put(self.bucket(), name, content, content_type="application/gzip", metadata={})
