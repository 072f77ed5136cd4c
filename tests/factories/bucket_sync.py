"""The workers of the bucket sync, wired as deployed, over ports in memory."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from backend.domains.assets.models import Asset
from backend.domains.bucket_sync.service.commands import BucketImports
from backend.domains.jobs.models import Job
from backend.entrypoints.wiring.assets import assets
from backend.entrypoints.wiring.bucket_sync import bucket_imports
from backend.entrypoints.wiring.bucket_workers import imports, sync_events
from backend.entrypoints.wiring.context import Context
from backend.entrypoints.wiring.jobs import jobs
from backend.spec.functions import Function
from backend.spec.functions.apis import BUCKET_SYNC_API
from backend.spec.functions.workers import BUCKET_IMPORT_WORKER, BUCKET_SYNC
from tests.factories.access import OnlyUser
from tests.factories.buckets import stored_bucket
from tests.factories.search import NOON
from tests.fakes.objects import MemoryObjects
from tests.fakes.queues import MemoryQueues
from tests.fakes.tables import MemoryTables
from tests.model.deployment import in_memory_settings

BUCKET = "assetbucket"
DATABASE = "imported"
"""The database of assets, by the settings of tests."""


@dataclass
class SyncWorld:
    """A bucket that other programs write to, and the workers that follow it."""

    prefix: str = "/"
    default_database_id: str | None = None
    tables: MemoryTables = field(default_factory=MemoryTables)
    objects: MemoryObjects = field(default_factory=MemoryObjects)
    queues: MemoryQueues = field(default_factory=MemoryQueues)

    def __post_init__(self) -> None:
        stored_bucket(self.tables, prefix=self.prefix, default_database_id=self.default_database_id)

    @cached_property
    def sync(self) -> Context:
        return self.wired(BUCKET_SYNC)

    @cached_property
    def imports(self) -> Context:
        return self.wired(BUCKET_IMPORT_WORKER)

    @cached_property
    def api(self) -> Context:
        return self.wired(BUCKET_SYNC_API, authorization=OnlyUser())

    @property
    def starting(self) -> BucketImports:
        return bucket_imports(self.api)

    def wired(self, function: Function, **parts: Any) -> Context:
        """The context of a function with the ports of this test."""
        return Context(
            function,
            lambda: NOON,
            settings=in_memory_settings(),
            tables=self.tables,
            objects=self.objects,
            queues=self.queues,
            **parts,
        )

    def put(self, key: str, body: bytes = b"points") -> None:
        """Write an object as another client does."""
        self.objects.put(BUCKET, key, body, content_type="text/plain", metadata={})

    def deliver_events(self, *keys: str) -> dict[str, Any]:
        """Deliver an event for each key, without details of the change."""
        return self.deliver(*(message(key, n) for n, key in enumerate(keys)))

    def deliver(self, *messages: Mapping[str, Any]) -> dict[str, Any]:
        return sync_events(self.sync)({"Records": list(messages)})

    def stored_asset(self, asset_id: str = "pump", database_id: str = DATABASE) -> Asset:
        asset = self.asset(asset_id, database_id)
        assert asset is not None
        return asset

    def asset(self, asset_id: str, database_id: str = DATABASE) -> Asset | None:
        return assets(self.sync).find_asset(database_id, asset_id)

    def step(self, job: Job) -> Job:
        """Deliver one message of a job, and process it."""
        body = json.dumps({"jobId": job.job_id})
        record = {"messageId": "one", "receiptHandle": "one", "body": body}
        imports(self.imports)({"Records": [record]})
        result = jobs(self.api).find(job.job_id)
        assert result is not None
        return result

    @property
    def kept(self) -> list[dict[str, Any]]:
        """The content of the failure store."""
        stored = self.objects.buckets.get("failurebucket", {})
        return [json.loads(versions[0].body) for _, versions in sorted(stored.items())]


def message(key: str, number: int = 0, *, bucket: str = BUCKET) -> dict[str, Any]:
    """A queue message with an event of S3 in EventBridge's form."""
    event = {
        "version": "0",
        "detail-type": "Object Created",
        "source": "aws.s3",
        "detail": {"bucket": {"name": bucket}, "object": {"key": key, "size": 6}},
    }
    return {
        "messageId": f"message-{number}",
        "receiptHandle": f"receipt-{number}",
        "body": json.dumps(event, ensure_ascii=False),
        "attributes": {"ApproximateReceiveCount": "1"},
    }
