"""The quarantine for scanned uploads, its consumer, and events of GuardDuty."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from backend.core.objects import VersionRef
from backend.core.tables import Tables
from backend.domains.quarantine.repository import QuarantineRepository
from backend.domains.quarantine.service.queries import Quarantine
from backend.entrypoints.wiring.context import Context
from backend.entrypoints.wiring.quarantine import scan_results
from backend.spec.functions.workers import QUARANTINE
from tests.factories.search import NOON
from tests.fakes.objects import MemoryObjects
from tests.fakes.queues import MemoryQueues
from tests.fakes.tables import MemoryTables
from tests.model.deployment import in_memory_settings

BUCKET = "assetbucket"
EICAR = "EICAR-Test-File (not a virus)"


def quarantine(tables: Tables, *, scans: bool = True) -> Quarantine:
    return Quarantine(QuarantineRepository(tables), lambda: scans)


def scan_event(
    key: str,
    version_id: str | None,
    status: str = "THREATS_FOUND",
    *,
    bucket: str = BUCKET,
    time: str = "2026-03-01T12:00:01Z",
) -> dict[str, Any]:
    """Return an event as GuardDuty's user guide shows it ("Monitoring S3 object scans")."""
    threats = [{"name": EICAR}] if status == "THREATS_FOUND" else None
    named = {"bucketName": bucket, "objectKey": key, "eTag": "ASIAI44QH8DHBEXAMPLE"}
    version = {} if version_id is None else {"versionId": version_id}
    plan = "arn:aws:guardduty:us-east-1:111122223333:malware-protection-plan/b4c7f464ab3a4EXAMPLE"
    return {
        "version": "0",
        "id": "72c7d362-737a-6dce-fc78-9e27a0171419",
        "detail-type": "GuardDuty Malware Protection Object Scan Result",
        "source": "aws.guardduty",
        "account": "111122223333",
        "time": time,
        "region": "us-east-1",
        "resources": [plan],
        "detail": {
            "schemaVersion": "1.0",
            "scanStatus": "COMPLETED",
            "resourceType": "S3_OBJECT",
            "s3ObjectDetails": {**named, **version, "s3Throttled": False},
            "scanResultDetails": {"scanResultStatus": status, "threats": threats},
        },
    }


def message(body: object, number: int = 0) -> dict[str, Any]:
    """Return a message of the queue; a text is its body unchanged."""
    return {
        "messageId": f"message-{number}",
        "receiptHandle": f"receipt-{number}",
        "body": body if isinstance(body, str) else json.dumps(body),
        "attributes": {"ApproximateReceiveCount": "1"},
    }


@dataclass
class ScanWorld:
    """The consumer of scan results, wired as deployed, over ports in memory."""

    tables: MemoryTables = field(default_factory=MemoryTables)
    objects: MemoryObjects = field(default_factory=MemoryObjects)
    queues: MemoryQueues = field(default_factory=MemoryQueues)

    @cached_property
    def context(self) -> Context:
        return Context(
            QUARANTINE,
            lambda: NOON,
            settings=in_memory_settings(SETTING_MALWARE_SCAN="1"),
            tables=self.tables,
            objects=self.objects,
            queues=self.queues,
        )

    def deliver_events(self, *events: Mapping[str, Any] | str) -> dict[str, Any]:
        """Deliver one batch of events."""
        records = [message(event, number) for number, event in enumerate(events)]
        return scan_results(self.context)({"Records": records})

    def is_quarantined(self, key: str, version_id: str, bucket: str = BUCKET) -> bool:
        version = VersionRef(key, version_id)
        return bool(quarantine(self.tables).among(bucket, [version]))

    @property
    def kept(self) -> list[dict[str, Any]]:
        """The content of the failure store."""
        stored = self.objects.buckets.get("failurebucket", {})
        return [json.loads(versions[0].body) for _, versions in sorted(stored.items())]
