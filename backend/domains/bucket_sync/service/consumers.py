"""Consumes the queue of object events, and passes those of assets' files on.

Workflows start on a file only once its asset is stored: an object of another program has none at
first, and only the sync knows when it has one.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from backend.core.deliveries import (
    CountMetric,
    Event,
    Message,
    Reply,
    parse_messages,
    process_batch,
    return_messages,
)
from backend.core.file_kinds import is_file
from backend.core.objects import ObjectRef
from backend.core.queues import Queues
from backend.domains.bucket_sync import rules
from backend.domains.bucket_sync.service.sync import BucketSync, SkipReports
from backend.spec.queues import BUCKET_EVENTS, UPLOAD_TRIGGERS


@dataclass(eq=False, repr=False)
class SyncConsumer:
    sync: BucketSync
    notes: SkipReports
    queues: Queues
    count_metric: CountMetric

    def consume(self, event: Event) -> Reply:
        """Process the batch; after an outage, return all of its messages to the queue."""
        return process_batch(
            event, self._follow, self.queues, BUCKET_EVENTS, count_metric=self.count_metric
        )

    def _follow(self, messages: Sequence[Message]) -> Reply:
        named: dict[ObjectRef, list[Message]] = {}
        read = parse_messages(
            messages,
            lambda message: (rules.named_object(message), message),
            self.notes.store_failure,
        )
        for place, message in read:
            named.setdefault(place, []).append(message)
        done = self.sync.follow(named)
        self.notes.report(done.skips)
        # Folders and previews start nothing, each inspected file has one. A permanent deletion is
        # passed on: the version before may never have been processed.
        started = [
            file
            for file in done.files
            if is_file(file.key) and not all(rules.adds_marker(message) for message in named[file])
        ]
        self.queues.send(UPLOAD_TRIGGERS, [rules.event_of(upload) for upload in started])
        # For folders whose asset is still being deleted or archived, which is usually soon over.
        return return_messages(
            self.queues, BUCKET_EVENTS, [message for item in done.later for message in named[item]]
        )
