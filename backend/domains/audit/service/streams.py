"""Creates entries of new assets from their stream, and archives entries that expired.

After an outage the whole batch is delivered again, so everything here may be done twice. A record
that cannot be parsed is stored with the failures, so that it does not block others.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from backend.core.deliveries import (
    Event,
    FromWire,
    InvalidEventError,
    Reply,
    StoreFailure,
    name_of,
    process_records,
    sequence_of,
)
from backend.core.errors import UnavailableError, VitrineError
from backend.core.identity import Identity
from backend.core.parallel import in_parallel
from backend.core.transactions import Put
from backend.domains.audit import rules
from backend.domains.audit.models import audit_entity
from backend.domains.audit.repository import AuditArchive, AuditRepository
from backend.domains.audit.service.commands import AuditService
from backend.spec import keys
from backend.values import frozen

Record = Mapping[str, Any]
# The identity that deletes expired items. (Source: DynamoDB Developer Guide, "Streams and Time to
# Live".)
TIME_TO_LIVE = {"type": "Service", "principalId": "dynamodb.amazonaws.com"}


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

    def store(self, expired: Sequence[Expired]) -> None:
        """Store entries in one object; the same ones replace it.

        Raises:
            UnavailableError: the archive does not respond.
        """
        if expired:
            first = expired[0]
            name = rules.archived_name(first.at, first.sequence)
            self.archive.store_expired(
                name, rules.compressed_lines(entry.item for entry in expired)
            )


@dataclass(eq=False, repr=False)
class CreationsConsumer:
    """Consumes the stream of assets."""

    creations: Creations
    from_wire: FromWire
    store_failure: StoreFailure

    def consume(self, event: Event) -> Reply:
        """Write the entries of the new assets in the batch."""
        return process_records(event, self._record_all)

    def _record_all(self, records: Sequence[Record]) -> None:
        for record, reason in zip(records, in_parallel(self._record, records), strict=True):
            if reason is not None:
                self.store_failure(name_of(record), record, reason)

    def _record(self, record: Record) -> str | None:
        """Write one entry; return the reason if that is impossible."""
        try:
            self.creations.record(self.from_wire(_image(record, "NewImage")))
        except UnavailableError:
            raise
        except (VitrineError, ValueError, InvalidEventError) as error:
            return str(error)
        return None


@dataclass(eq=False, repr=False)
class ExpiryConsumer:
    """Consumes the stream of entries."""

    expired: ExpiredEntries
    from_wire: FromWire
    store_failure: StoreFailure

    def consume(self, event: Event) -> Reply:
        """Archive only the entries in the batch that their time to live removed."""
        return process_records(event, self._archive_expired)

    def _archive_expired(self, records: Sequence[Record]) -> None:
        entries: list[Expired] = []
        for record in records:
            if record.get("eventName") != "REMOVE" or record.get("userIdentity") != TIME_TO_LIVE:
                continue
            try:
                entries.append(self._expired_entry(record))
            except InvalidEventError as error:
                self.store_failure(name_of(record), record, str(error))
        self.expired.store(entries)

    def _expired_entry(self, record: Record) -> Expired:
        at = record["dynamodb"].get("ApproximateCreationDateTime")
        if not isinstance(at, int | float):
            raise InvalidEventError("the record has no time")
        when = datetime.fromtimestamp(at, UTC)
        item = self.from_wire(_image(record, "OldImage"))
        return Expired(sequence_of(record), when, rules.with_user(item))


def _image(record: Record, name: str) -> Mapping[str, Any]:
    image = record["dynamodb"].get(name)
    if not image:
        raise InvalidEventError(f"the record has no {name}")
    return image
