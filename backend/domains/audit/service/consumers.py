"""Consumes the queue of reads, and writes their audit entries."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from pydantic import ValidationError

from backend.core.deliveries import CountMetric, Event, Message, Reply, failed, process_batch
from backend.core.parallel import in_parallel
from backend.core.queues import Queues
from backend.domains.audit.models import Entry
from backend.domains.audit.models.reads import ReadMessage
from backend.domains.audit.repository import AuditRepository
from backend.domains.audit.rules import reads
from backend.spec.queues import READS

_log = logging.getLogger(__name__)


@dataclass(eq=False, repr=False)
class ReadsConsumer:
    """Messages may be repeated and in any order: an entry's key derives from what was read."""

    audit: AuditRepository
    days: Callable[[], int]
    queues: Queues
    count_metric: CountMetric

    def consume(self, event: Event) -> Reply:
        """Write the entries of a batch.

        After an outage, return all of its messages to the queue.
        """
        return process_batch(event, self._write, self.queues, READS, count_metric=self.count_metric)

    def _write(self, messages: Sequence[Message]) -> Reply:
        entries: dict[tuple[str, str], Entry] = {}
        unreadable: list[str] = []
        kept_for = timedelta(days=self.days())
        for message in messages:
            try:
                read = ReadMessage.model_validate_json(message["body"])
            except ValidationError:
                # Delivered again until it is a dead letter, which raises an alarm.
                _log.exception("a message is not a report of a read")
                unreadable.append(str(message["messageId"]))
                continue
            for entry in reads.read_entries(read, kept_for):
                entries.setdefault((entry.entity, entry.at), entry)
        in_parallel(self.audit.add_once, list(entries.values()))
        return failed(unreadable)
