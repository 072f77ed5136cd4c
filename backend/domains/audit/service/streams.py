"""Creates entries of new assets from their stream, and archives entries that expired."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from backend.core.identity import Identity
from backend.core.transactions import Put
from backend.domains.audit import rules
from backend.domains.audit.models import audit_entity
from backend.domains.audit.repository import AuditArchive, AuditRepository
from backend.domains.audit.service.commands import AuditService
from backend.spec import keys
from backend.values import frozen


@dataclass(eq=False, repr=False)
class Creations:
    """Creates the entries of new assets from their rows."""

    audit: AuditRepository
    entries: AuditService

    def record(self, row: Mapping[str, Any]) -> None:
        """Create the entry of a row if it is new; no effect if repeated.

        Raises:
            UnavailableError: the table or the archive does not respond.
            ValueError: the row's time is invalid.
            VitrineError: another reason why there can be no entry.
        """
        if rules.is_creation(row):
            self.audit.add(self._entry(row))

    def _entry(self, row: Mapping[str, Any]) -> Put:
        attributes = {name: row[name] for name in rules.CREATED_ATTRIBUTES if name in row}
        return self.entries.creation(
            Identity(row["createdBy"]),
            "create_asset",
            audit_entity("asset", keys.active(row["databaseId"]), row["assetId"]),
            after=attributes,
            at=datetime.fromisoformat(row["createdAt"]),
        )


@frozen
class Expired:
    """An entry that its time to live removed, as the stream of the table contains it."""

    sequence: str
    at: datetime
    item: Mapping[str, Any]


@dataclass(eq=False, repr=False)
class ExpiredEntries:
    archive: AuditArchive

    def keep(self, expired: Sequence[Expired]) -> None:
        """Store entries in one object; the same ones replace it.

        Raises:
            UnavailableError: the archive does not respond.
        """
        if expired:
            first = expired[0]
            name = rules.archived_name(first.at, first.sequence)
            self.archive.store_expired(name, rules.packed(one.item for one in expired))
