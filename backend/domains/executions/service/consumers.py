"""Consumes the queues of executions: signals to start waiting ones, and changes of status."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from backend.core.deliveries import (
    CountMetric,
    Event,
    Message,
    Reply,
    StoreFailure,
    parse_messages,
    process_batch,
    received,
    return_messages,
)
from backend.core.errors import RateLimitedError
from backend.core.queues import Queues
from backend.domains.executions import rules
from backend.domains.executions.models.events import StatusDetail
from backend.domains.executions.rules import events
from backend.domains.executions.service.admission import Admission
from backend.domains.executions.service.progress import ExecutionProgress
from backend.spec.queues import EXECUTION_STARTS, EXECUTION_STATUS

_log = logging.getLogger(__name__)


@dataclass(eq=False, repr=False)
class StartConsumer:
    """Starts waiting executions. A message is only a signal; its content is not read."""

    admission: Admission
    queues: Queues
    count_metric: CountMetric

    def consume(self, event: Event) -> Reply:
        """Start waiting executions; return the messages to the queue while that is not possible."""
        return process_batch(
            event, self._start, self.queues, EXECUTION_STARTS, count_metric=self.count_metric
        )

    def _start(self, messages: Sequence[Message]) -> Reply | None:
        try:
            again = any(received(message) > 1 for message in messages)
            self.admission.start_waiting(again=again)
        except RateLimitedError as error:
            _log.info("executions are started later: %s", error.message)
            return return_messages(self.queues, EXECUTION_STARTS, messages)
        return None


@dataclass(eq=False, repr=False)
class StatusConsumer:
    progress: ExecutionProgress
    queues: Queues
    store_failure: StoreFailure
    count_metric: CountMetric

    def consume(self, event: Event) -> Reply:
        """Process the batch; after an outage, return all of its messages to the queue."""
        return process_batch(
            event, self._process, self.queues, EXECUTION_STATUS, count_metric=self.count_metric
        )

    def _process(self, messages: Sequence[Message]) -> None:
        for change in parse_messages(messages, events.status_change, self.store_failure):
            self._apply(change)

    def _apply(self, change: StatusDetail) -> None:
        status = events.ENDS.get(change.status)
        if status is None:
            # RUNNING, or PENDING_REDRIVE, which is never requested.
            started = events.time_of(change.start_date)
            self.progress.record_started(change.name, started or self.progress.clock())
            return
        self.progress.end(
            change.name,
            status,
            error=rules.error_of(status, change.error, change.cause),
            at=events.time_of(change.stop_date),
        )
