"""Records of a stream as functions see them, and failures as destinations see them."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, cast

from local.function_process import function_error
from local.plan import Object, StreamMapping
from local.pumps.failures import FailedBatch, describe, object_key
from local.pumps.records import created_at, cut, event_record, sequence_of

if TYPE_CHECKING:
    from mypy_boto3_dynamodbstreams.type_defs import RecordTypeDef

_WHEN = datetime(2026, 1, 2, 3, 4, 5, 678000, tzinfo=UTC)


def _record(sequence: str = "000001", size: int = 10, **image: object) -> Object:
    record = cast(
        "RecordTypeDef",
        {
            "eventID": "id",
            "eventName": "INSERT",
            "dynamodb": {
                "ApproximateCreationDateTime": _WHEN,
                "Keys": {"id": {"S": "k"}},
                "NewImage": image,
                "SequenceNumber": sequence,
                "SizeBytes": size,
                "StreamViewType": "NEW_IMAGE",
            },
            "userIdentity": {"Type": "Service", "PrincipalId": "dynamodb.amazonaws.com"},
        },
    )
    return event_record(record, "arn:stream")


def test_binary_values_are_base64_wherever_they_are() -> None:
    record = _record(b={"B": b"\x00"}, bs={"BS": [b"\x01"]}, m={"M": {"x": {"B": b"\xff"}}})

    changed = cast("dict[str, dict[str, object]]", record["dynamodb"])
    assert changed["NewImage"] == {
        "b": {"B": "AA=="},
        "bs": {"BS": ["AQ=="]},
        "m": {"M": {"x": {"B": "/w=="}}},
    }


def test_the_envelope_is_lambdas() -> None:
    record = _record()

    assert record["eventSource"] == "aws:dynamodb"
    assert record["eventSourceARN"] == "arn:stream"
    assert record["userIdentity"] == {
        "type": "Service",
        "principalId": "dynamodb.amazonaws.com",
    }
    assert sequence_of(record) == "000001"
    assert created_at(record) == _WHEN.timestamp()


def test_large_batches_are_cut_to_what_an_event_may_have() -> None:
    records = [_record(str(n), 400_000, text={"S": "ä" * 200_000}) for n in range(40)]

    parts = list(cut(records))

    assert [record for part in parts for record in part] == records
    assert max(len(part) for part in parts) <= 14
    assert len(parts) == 3


def test_an_abandoned_batch_is_described_as_aws_does() -> None:
    mapping = StreamMapping(
        id="mapping",
        function="f",
        batch_size=1,
        window=0,
        filters=(),
        reports_failures=True,
        stream_arn="arn:stream",
        from_start=True,
        bisects=True,
        maximum_retries=1,
        maximum_age=None,
        on_failure="arn:aws:s3:::failures",
    )
    batch = FailedBatch(
        "shard", [_record("1"), _record("2")], "RetryAttemptsExhausted", 2, function_error("E", "m")
    )

    document = describe(mapping, "arn:function", batch, _WHEN)

    assert document["timestamp"] == "2026-01-02T03:04:05.678Z"
    assert document["responseContext"] == {
        "statusCode": 200,
        "executedVersion": "$LATEST",
        "functionError": "Unhandled",
    }
    info = cast("dict[str, object]", document["DDBStreamBatchInfo"])
    assert (info["startSequenceNumber"], info["endSequenceNumber"]) == ("1", "2")
    assert info["batchSize"] == 2
    assert re.fullmatch(
        r"aws/lambda/mapping/shard/2026/01/02/2026-01-02T03\.04\.05-[0-9a-f-]{36}",
        object_key(mapping, batch, _WHEN),
    )
