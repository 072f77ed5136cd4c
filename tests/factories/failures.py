"""The failure bucket in tests, and the service that replays it."""

import json
from collections.abc import Sequence
from typing import Any

from backend.aws.clients import s3
from backend.aws.guarded_objects import S3GuardedObjects
from backend.core.clock import Clock
from backend.core.objects import Objects
from backend.core.queues import Queues
from backend.core.tables import Tables
from backend.domains.jobs.service.consumers import JobStarter
from backend.search.indexing.consumers import StreamConsumer
from backend.search.indexing.failures import Failures, FailureStore
from backend.search.indexing.fan_out import FanOuts
from backend.search.indexing.rebuild import Rebuilder
from backend.search.maintenance.failure_entries import FailureEntries
from backend.search.maintenance.replay import Replayer
from tests.factories.jobs import job_service
from tests.factories.search import NOON

BUCKET = "failurebucket"
BATCH_KEY = (
    "aws/lambda/2d1bcf5e-6d6c-4f0b-9a3e-51c0a3f7a001/shardId-00000001573416256302-3011a914"
    "/2026/03/01/2026-03-01T11.00.00-8c2d6a54-4a3e-4c53-b5a9-0f6d2b3b7c11"
)


def failed_batch(
    records: Sequence[Any], *, function: str = "vitrine-prod-indexing-IndexChanges-1RT8Q2B9K7XW"
) -> dict[str, Any]:
    """A batch as a mapping writes it to S3, in the form that AWS documents."""
    return {
        "requestContext": {
            "requestId": "316aa6d0-8154-xmpl-9af7-85d5f4a6bc81",
            "functionArn": f"arn:aws:lambda:eu-central-1:123456789012:function:{function}",
            "condition": "RecordAgeExceeded",
            "approximateInvokeCount": 17,
        },
        "responseContext": {
            "statusCode": 200,
            "executedVersion": "$LATEST",
            "functionError": "Unhandled",
        },
        "version": "1.0",
        "timestamp": "2026-03-01T11:00:00.717Z",
        "DDBStreamBatchInfo": {
            "shardId": "shardId-00000001573416256302-3011a914",
            "startSequenceNumber": "100",
            "endSequenceNumber": "200",
            "approximateArrivalOfFirstRecord": "2026-02-28T11:00:00Z",
            "approximateArrivalOfLastRecord": "2026-02-28T11:00:00Z",
            "batchSize": len(records),
            "streamArn": "arn:aws:dynamodb:eu-central-1:123456789012:table/t/stream/s",
        },
        "payload": json.dumps({"Records": records}),
    }


def put_object(
    objects: Objects, content: object, *, key: str = BATCH_KEY, bucket: str = BUCKET
) -> str:
    """Put an object into the failure bucket: JSON of a value, or a text or bytes unchanged."""
    body = content if isinstance(content, bytes) else str(content).encode()
    if not isinstance(content, str | bytes):
        body = json.dumps(content).encode()
    objects.put(bucket, key, body, content_type="application/json", metadata={})
    return key


def entries_in(objects: Objects, bucket: str = BUCKET) -> FailureEntries:
    return FailureEntries(objects, S3GuardedObjects(s3()), bucket)


def replayer_of(
    rebuilder: Rebuilder,
    tables: Tables,
    objects: Objects,
    queues: Queues,
    *,
    entries: FailureEntries | None = None,
    clock: Clock = lambda: NOON,
) -> Replayer:
    """Replay failures as the deployed functions do."""
    result = entries or entries_in(objects)

    def changes(failures: Failures) -> StreamConsumer:
        from dataclasses import replace

        fan_outs = FanOuts(tables, job_service(tables))
        return StreamConsumer(replace(rebuilder, failures=failures), failures, fan_outs)

    return Replayer(
        entries=result,
        rebuilder=rebuilder,
        streams={
            "IndexChanges": lambda failures: changes(failures).consume,
            "JobStarter": lambda failures: JobStarter(queues).consume,
        },
        store_of=lambda consumer: FailureStore(objects, result.bucket, consumer, clock),
        queues=queues,
        clock=clock,
    )
