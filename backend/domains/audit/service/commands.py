"""Creates the entries of writes, and of operations that change no item of a table."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from backend.core.clock import Clock, epoch_seconds, iso
from backend.core.identity import Identity
from backend.core.ids import NewId, new_suffix
from backend.core.transactions import Put
from backend.domains.audit import rules
from backend.domains.audit.models import Entry
from backend.domains.audit.repository import AuditArchive, AuditRepository, put


@dataclass(eq=False, repr=False)
class AuditService:
    """`days` returns how long entries remain in the table; it is called when first needed."""

    archive: AuditArchive
    days: Callable[[], int]
    clock: Clock
    suffix: NewId = new_suffix

    def entry(
        self,
        caller: Identity,
        operation: str,
        entity: str,
        *,
        before: Mapping[str, Any] | None = None,
        after: Mapping[str, Any] | None = None,
        at: datetime | None = None,
    ) -> Put:
        """Return the entry of a write, for the transaction that carries the write out.

        `operation` is the name of the route; `entity` is named by a function of this slice's
        models; `before` and `after` are attributes as stored (None if the object did not, or does
        not, exist); those that differ are kept. `at` is the time of the write, now by default. One
        entry for each transaction.

        Large values are stored in the archive before this returns. If the transaction is refused,
        they remain there without a reference, which does no harm.

        Raises:
            UnavailableError: the archive does not respond.
        """
        return self._entry(
            caller,
            operation,
            entity,
            changes=rules.changed(before, after),
            at=at or self.clock(),
            suffix=self.suffix(),
        )

    def creation(
        self,
        caller: Identity,
        operation: str,
        entity: str,
        *,
        after: Mapping[str, Any],
        at: datetime,
    ) -> Put:
        """Return the entry of a creation in a stream, the same one for each repetition."""
        return self._entry(
            caller,
            operation,
            entity,
            changes=rules.changed(None, after),
            at=at,
            suffix=rules.CREATION_SUFFIX,
        )

    def _entry(
        self,
        caller: Identity,
        operation: str,
        entity: str,
        *,
        changes: Mapping[str, tuple[Any, Any]],
        at: datetime,
        suffix: str,
    ) -> Put:
        kept, apart = rules.extract_large_values(changes)
        whole = rules.encoded(rules.dumped(kept))
        stored = None
        if len(whole) > rules.CHANGES_BYTES:
            apart.append(rules.large(whole))
            stored, kept = rules.reference(apart[-1]), {}
        self.archive.store_values(apart)
        return put(
            Entry(
                entity=entity,
                at=iso(at) + rules.SEPARATOR + suffix,
                user_id=caller.user_id,
                operation=operation,
                changes=kept,
                changes_stored=stored,
                expires_at=epoch_seconds(at + timedelta(days=self.days())),
            )
        )


@dataclass(eq=False, repr=False)
class AuditNotes:
    """Creates the entries of operations that change no item: replays, redrives.

    The entry is written before the operation runs, which is refused if the entry cannot be written.
    """

    audit: AuditRepository
    entries: AuditService

    def record(
        self, caller: Identity, operation: str, entity: str, *, request: Mapping[str, Any]
    ) -> None:
        """Write the entry of an operation that is about to run, whatever its result.

        Raises:
            UnavailableError: the entry cannot be written.
        """
        entry = self.entries.entry(caller, operation, entity, after=request)
        self.audit.add(entry)
