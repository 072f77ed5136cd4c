"""Keeps what cannot be indexed, with its body and the reason, and raises the alarm.

Only poison comes here: what would fail again however often it is tried. An outage never does.
What is kept can be replayed: `replay` and `failure_entries` read it again.
"""

import hashlib
import json
from collections.abc import Iterable
from typing import Protocol

from aws_lambda_powertools import Logger
from aws_lambda_powertools.metrics import MetricUnit, single_metric

from backend.core.clock import Clock, iso
from backend.core.objects import Objects
from backend.core.wired import wired
from backend.search.references import Reference, to_entries
from backend.spec.metrics import INDEXING_POISON, NAMESPACE, Metric, dimensions

JSON_TYPE = "application/json"
_logger = Logger()


class Failures(Protocol):
    """Where the indexing path puts what it cannot index; `consumer` is who puts it there."""

    @property
    def consumer(self) -> str: ...

    def keep(
        self, name: str, body: object, reason: str, *, references: Iterable[Reference] = ()
    ) -> None:
        """Keep an item that is poison under a name of its own.

        `references` name the documents that are to be built again when the cause is gone; without
        them the body must say it.
        """
        ...


@wired
class FailureStore:
    """The failure bucket, for one consumer. What fails twice on a day stands there once."""

    objects: Objects
    bucket: str
    consumer: str
    clock: Clock

    def keep(
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
        ring(INDEXING_POISON, self.consumer)


def _digest(name: str, references: list[list[str]]) -> str:
    """One for each item: of an asset, other files may fail at another time."""
    text = json.dumps([name, references])
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def ring(metric: Metric, consumer: str) -> None:
    """Count one event of a metric that an alarm watches."""
    with single_metric(
        name=metric.name,
        unit=MetricUnit.Count,
        value=1,
        namespace=NAMESPACE,
        default_dimensions=dimensions(consumer),
    ):
        pass
