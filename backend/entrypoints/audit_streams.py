"""Wires the consumers of streams for the audit log: new assets, and entries that expired.

After an outage the whole batch is delivered again, so everything here may be done twice. A record
that cannot be parsed is stored with the failures, so that it does not block others.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from aws_lambda_powertools import Logger

from backend.aws.items import from_wire
from backend.core.deliveries import Event, Reply, name_of, process_records, sequence_of
from backend.core.errors import UnavailableError, VitrineError
from backend.core.parallel import in_parallel
from backend.domains.audit.repository import AuditRepository
from backend.domains.audit.service.streams import Creations, Expired, ExpiredEntries
from backend.entrypoints.wiring import Wiring
from backend.search.indexing.failures import Failures, FailureStore
from backend.spec.buckets import FAILURE_BUCKET

Record = Mapping[str, Any]
Handler = Callable[[dict[str, Any], Any], Reply]
TIME_TO_LIVE = {"type": "Service", "principalId": "dynamodb.amazonaws.com"}
"""The identity that deletes expired items. (Source: DynamoDB Developer Guide, "Streams and Time to
Live".)"""
_logger = Logger()


class _NotUnderstoodError(Exception):
    """A record lacks a value; the message names it."""


@dataclass(eq=False, repr=False)
class CreationsConsumer:
    """Consumes the stream of assets."""

    creations: Creations
    failures: Failures

    def consume(self, event: Event) -> Reply:
        """Write the entries of the new assets in the batch."""
        return process_records(event, self._record_all)

    def _record_all(self, records: Sequence[Record]) -> None:
        for record, reason in zip(records, in_parallel(self._record, records), strict=True):
            if reason is not None:
                self.failures.keep(name_of(record), record, reason)

    def _record(self, record: Record) -> str | None:
        """Write one entry; return the reason if that is impossible."""
        try:
            self.creations.record(_image(record, "NewImage"))
        except UnavailableError:
            raise
        except (VitrineError, ValueError, _NotUnderstoodError) as error:
            return str(error)
        return None


@dataclass(eq=False, repr=False)
class ExpiryConsumer:
    """Consumes the stream of entries."""

    expired: ExpiredEntries
    failures: Failures

    def consume(self, event: Event) -> Reply:
        """Archive only the entries in the batch that their time to live removed."""
        return process_records(event, self._keep_all)

    def _keep_all(self, records: Sequence[Record]) -> None:
        found: list[Expired] = []
        for record in records:
            if record.get("eventName") != "REMOVE" or record.get("userIdentity") != TIME_TO_LIVE:
                continue
            try:
                found.append(_expired(record))
            except _NotUnderstoodError as error:
                self.failures.keep(name_of(record), record, str(error))
        self.expired.keep(found)


def _expired(record: Record) -> Expired:
    at = record["dynamodb"].get("ApproximateCreationDateTime")
    if not isinstance(at, int | float):
        raise _NotUnderstoodError("the record has no time")
    when = datetime.fromtimestamp(at, UTC)
    return Expired(sequence_of(record), when, _image(record, "OldImage"))


def _image(record: Record, name: str) -> dict[str, Any]:
    image = record["dynamodb"].get(name)
    if not image:
        raise _NotUnderstoodError(f"the record has no {name}")
    return from_wire(image)


@dataclass(eq=False, repr=False)
class AuditingWiring(Wiring):
    """Creates the services of both functions."""

    @cached_property
    def failures(self) -> FailureStore:
        bucket = self.settings.bucket(FAILURE_BUCKET)
        return FailureStore(self.objects, bucket, self.function.name, self.clock)

    @property
    def creations_handler(self) -> Handler:
        creations = Creations(AuditRepository(self.tables), self.audit)
        return _handler(CreationsConsumer(creations, self.failures).consume)

    @property
    def expiry_handler(self) -> Handler:
        expired = ExpiredEntries(self.audit_archive)
        return _handler(ExpiryConsumer(expired, self.failures).consume)


def _handler(consume: Callable[[Event], Reply]) -> Handler:
    @_logger.inject_lambda_context(clear_state=True)
    def handle(event: dict[str, Any], context: Any) -> Reply:  # noqa: ARG001 - Lambda's signature
        return consume(event)

    return handle
