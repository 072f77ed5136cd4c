"""Writes batches that are no longer retried to the mapping's on-failure destination, as AWS does.

https://docs.aws.amazon.com/lambda/latest/dg/services-dynamodb-errors.html
"""

from __future__ import annotations

import asyncio
import json
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from local import arns
from local.pumps.records import created_at, sequence_of

if TYPE_CHECKING:
    from local.clients import Clients
    from local.function_process import InvocationResult
    from local.plan import Object, Plan, StreamMapping


@dataclass(frozen=True)
class FailedBatch:
    """A batch that is no longer retried, with the reason and the number of calls."""

    shard: str
    records: list[Object]
    condition: str
    calls: int
    result: InvocationResult | None


async def write_failure(
    clients: Clients, plan: Plan, mapping: StreamMapping, function_arn: str, batch: FailedBatch
) -> None:
    """Write the batch to the mapping's destination; into a bucket with its complete body."""
    if mapping.on_failure is None:
        return
    now = datetime.now(UTC)
    document = describe(mapping, function_arn, batch, now)
    service = mapping.on_failure.split(":")[2]
    if service == "s3":
        body = {**document, "payload": json.dumps({"Records": batch.records})}
        await asyncio.to_thread(
            clients.s3.put_object,
            Bucket=arns.last_part(mapping.on_failure),
            Key=object_key(mapping, batch, now),
            Body=json.dumps(body).encode(),
        )
    else:
        await asyncio.to_thread(
            clients.sqs.send_message,
            QueueUrl=plan.queues[mapping.on_failure].url,
            MessageBody=json.dumps(document),
        )


def object_key(mapping: StreamMapping, batch: FailedBatch, now: datetime) -> str:
    """Return the key under which AWS would store the document."""
    return (
        f"aws/lambda/{mapping.id}/{batch.shard}/{now:%Y/%m/%d}/"
        f"{now:%Y-%m-%dT%H.%M.%S}-{uuid.uuid4()}"
    )


def describe(
    mapping: StreamMapping, function_arn: str, batch: FailedBatch, now: datetime
) -> dict[str, object]:
    """Return the details of the batch, without its body."""
    first, last = batch.records[0], batch.records[-1]
    document: dict[str, object] = {
        "requestContext": {
            "requestId": str(uuid.uuid4()),
            "functionArn": function_arn,
            "condition": batch.condition,
            "approximateInvokeCount": batch.calls,
        },
        "version": "1.0",
        "timestamp": _time(now),
        "DDBStreamBatchInfo": {
            "shardId": batch.shard,
            "startSequenceNumber": sequence_of(first),
            "endSequenceNumber": sequence_of(last),
            "approximateArrivalOfFirstRecord": _time(
                datetime.fromtimestamp(created_at(first), UTC)
            ),
            "approximateArrivalOfLastRecord": _time(datetime.fromtimestamp(created_at(last), UTC)),
            "batchSize": len(batch.records),
            "streamArn": mapping.stream_arn,
        },
    }
    if batch.result is not None:
        response: dict[str, object] = {"statusCode": 200, "executedVersion": "$LATEST"}
        if batch.result.error is not None:
            response["functionError"] = batch.result.error
        document["responseContext"] = response
    return document


def _time(when: datetime) -> str:
    return when.strftime("%Y-%m-%dT%H:%M:%S.") + f"{when.microsecond // 1000:03d}Z"
