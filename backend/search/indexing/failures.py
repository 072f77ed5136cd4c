"""Stores events that cannot be indexed, with body and reason, and raises an alarm.

Only poison is stored: events that would fail at every attempt. Outages are retried instead. Stored
events can be replayed: `replay` and `failure_entries` read them.
"""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from aws_lambda_powertools import Logger
from aws_lambda_powertools.metrics import MetricUnit, single_metric

from backend.core.clock import Clock, iso
from backend.core.objects import Objects
from backend.search.indexing.references import Reference, to_entries
from backend.spec.metrics import INDEXING_POISON, NAMESPACE, Metric, dimensions

JSON_TYPE = "application/json"
_logger = Logger()


class Failures(Protocol):
    """Stores events that the indexing path cannot index; `consumer` is the function."""

    @property
    def consumer(self) -> str: ...

    def store(
        self, name: str, body: object, reason: str, *, references: Iterable[Reference] = ()
    ) -> None:
        """Store a poison event under a unique name.

        `references` name the documents to rebuild once the cause is corrected; without them the
        body must contain them.
        """
        ...


@dataclass(eq=False, repr=False)
class FailureStore:
    """The failure bucket, for one consumer. An event that fails twice in a day is stored once."""

    objects: Objects
    bucket: str
    consumer: str
    clock: Clock

    def store(
        self, name: str, body: object, reason: str, *, references: Iterable[Reference] = ()
    ) -> None:
        """Store the item, and count it (see the protocol)."""
        at = iso(self.clock())
        named = to_entries(references)
        key = f"{self.consumer}/{at[:10]}/{_digest(name, named)}.json"
        # The body comes last: a list of failures reads only the beginning of each.
        content = {
            "consumer": self.consumer,
            "name": name,
            "reason": reason,
            "failedAt": at,
            "references": named,
            "body": body,
        }
        self.objects.put(
            self.bucket,
            key,
            json.dumps(content, default=str).encode(),
            content_type=JSON_TYPE,
            metadata={},
        )
        _logger.error("cannot be indexed", extra={"item": name, "reason": reason, "key": key})
        count_metric(INDEXING_POISON, self.consumer)


def _digest(name: str, references: list[list[str]]) -> str:
    """Return a digest of the item."""
    # With the references: other files of an asset may fail at other times.
    text = json.dumps([name, references])
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def count_metric(metric: Metric, consumer: str) -> None:
    """Count one event of a metric that an alarm watches."""
    with single_metric(
        name=metric.name,
        unit=MetricUnit.Count,
        value=1,
        namespace=NAMESPACE,
        default_dimensions=dimensions(consumer),
    ):
        pass
