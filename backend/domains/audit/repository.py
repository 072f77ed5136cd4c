"""The table of entries, and the archive of large values and expired entries."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from backend.core.errors import NotFoundError
from backend.core.identity import SYSTEM, SYSTEM_PARTITIONS
from backend.core.objects import Objects
from backend.core.paging import Page, PageRequest
from backend.core.parallel import in_parallel
from backend.core.tables import Query, Tables
from backend.core.transactions import Item, Put, put_new
from backend.domains.audit import rules
from backend.domains.audit.errors import AuditEntryExistsError, AuditValueNotFoundError
from backend.domains.audit.models import Entry, LargeValue, Period
from backend.domains.audit.rules import dumped, value_key
from backend.spec.tables.operations import (
    AUDIT,
    AUDIT_AT,
    AUDIT_BY_USER,
    AUDIT_USER_ID,
)


def put(entry: Entry) -> Put:
    """Return the write of an entry; its key is partly random, so no other entry is overwritten."""
    item = entry.model_dump(by_alias=True, exclude_none=True, exclude={"changes"})
    item |= {"changes": dumped(entry.changes), AUDIT_USER_ID.name: rules.partition_of(entry)}
    return Put(table=AUDIT, item=item)


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
        if user_id != SYSTEM.user_id:
            return self._page(_of_partition(user_id, period), page)

        def read(number: int) -> Page[Item]:
            """Read a page of one partition after the position in all of them.

            Of entries of the same moment, those of an earlier partition come first.
            """
            partition, after = SYSTEM_PARTITIONS[number], page.after
            last = number if after is None else SYSTEM_PARTITIONS.index(after[AUDIT_USER_ID.name])
            if after is None or number == last:
                return self.tables.query(_of_partition(partition, period), page)
            first, at = (period or rules.ALL_TIMES).first, after[AUDIT_AT.name]
            rest = Period(first, at) if number > last else rules.sort_keys_before(at, first)
            return self.tables.query(_of_partition(partition, rest), PageRequest(page.limit))

        parts = in_parallel(read, range(len(SYSTEM_PARTITIONS)))
        return rules.merged(parts, page.limit).map(_entry)

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
        return self.tables.query(query, page).map(_entry)


def _entry(item: Item) -> Entry:
    return Entry.model_validate(rules.with_user(item))


def _of_partition(partition: str, period: Period | None) -> Query:
    return Query(
        table=AUDIT,
        partition=partition,
        index=AUDIT_BY_USER,
        sort_between=period,
        newest_first=True,
    )


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
