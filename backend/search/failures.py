"""Keeps what cannot be indexed, with its body and the reason, and rings the alarm.

Only poison comes here: what would fail again however often it is tried. An outage never does.
"""

import hashlib
import json
from dataclasses import dataclass

from aws_lambda_powertools import Logger
from aws_lambda_powertools.metrics import MetricUnit, single_metric

from backend.core.clock import Clock, iso
from backend.core.objects import Objects

NAMESPACE = "Vitrine"
POISON_METRIC = "IndexingPoison"
BEHIND_METRIC = "SearchTicketsBehind"
_logger = Logger()


@dataclass(frozen=True, slots=True)
class FailureStore:
    """The failure bucket, for one consumer. What fails twice on a day stands there once."""

    objects: Objects
    bucket: str
    consumer: str
    clock: Clock

    def keep(self, name: str, body: object, reason: str) -> None:
        """Store an item that is poison under a name of its own, and count it."""
        at = iso(self.clock())
        key = f"{self.consumer}/{at[:10]}/{hashlib.sha256(name.encode()).hexdigest()[:32]}.json"
        content = {
            "consumer": self.consumer,
            "name": name,
            "reason": reason,
            "failedAt": at,
            "body": body,
        }
        self.objects.put(
            self.bucket,
            key,
            json.dumps(content, default=str).encode(),
            content_type="application/json",
            metadata={},
        )
        _logger.error("cannot be indexed", extra={"item": name, "reason": reason, "key": key})
        ring(POISON_METRIC, self.consumer)


def ring(metric: str, consumer: str) -> None:
    """Count one event of a metric that an alarm watches."""
    with single_metric(
        name=metric,
        unit=MetricUnit.Count,
        value=1,
        namespace=NAMESPACE,
        default_dimensions={"consumer": consumer},
    ):
        pass
