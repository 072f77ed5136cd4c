"""Delivery of changes to functions, on real engines."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from conftest import Small


def test_a_change_reaches_the_consumer_of_the_stream(small: Small) -> None:
    small.put("plain", content={"B": b"\x00\xff"})
    small.wait_drained()

    item = small.seen_item("plain")
    assert item["times"] == {"N": "1"}
    assert item["content"] == {"S": "AP8="}


def test_drained_is_true_only_when_everything_before_it_was_processed(small: Small) -> None:
    for number in range(40):
        key = f"soon-{number}"
        small.put(key)
        if number % 10 == 0:
            small.wait_drained()
            assert small.seen(key) >= 1
    small.wait_drained()

    assert all(small.seen(f"soon-{number}") >= 1 for number in range(40))


def _failures(small: Small) -> list[dict[str, object]]:
    found: list[dict[str, object]] = []
    for entry in small.s3().list_objects_v2(Bucket="small-failures").get("Contents", []):
        key = entry.get("Key", "")
        body = small.s3().get_object(Bucket="small-failures", Key=key)["Body"].read()
        found.append({"key": key, **json.loads(body)})
    return found


def _failed_batches(small: Small, key: str) -> list[dict[str, object]]:
    return [each for each in _failures(small) if f'"{key}"' in str(each["payload"])]


def test_a_record_that_the_function_reports_is_abandoned_alone_with_its_body(small: Small) -> None:
    for key, more in (("before", {}), ("poison", {"fail": {"S": "yes"}}), ("behind", {})):
        small.put(key, **more)
    small.wait_drained()

    assert (small.seen("before"), small.seen("poison"), small.seen("behind")) == (1, 0, 1)
    (document,) = _failed_batches(small, "poison")
    context = cast("dict[str, object]", document["requestContext"])
    batch = cast("dict[str, object]", document["DDBStreamBatchInfo"])
    payload = json.loads(cast("str", document["payload"]))
    assert str(document["key"]).startswith("aws/lambda/")
    assert context["condition"] == "RetryAttemptsExhausted"
    assert batch["batchSize"] == 1
    assert [r["dynamodb"]["Keys"]["id"]["S"] for r in payload["Records"]] == ["poison"]


def test_a_record_that_makes_the_function_raise_is_found_by_splitting(small: Small) -> None:
    keys = [f"split-{number}" for number in range(12)]
    for key in keys:
        small.put(key, **({"raise": {"S": "yes"}} if key == "split-7" else {}))
    small.wait_drained()

    assert [key for key in keys if small.seen(key) == 0] == ["split-7"]
    (document,) = _failed_batches(small, "split-7")
    assert "Unhandled" in str(document["responseContext"])


def test_messages_that_fail_too_often_become_dead_letters(small: Small) -> None:
    for identifier, fail in (("good", False), ("bad", True)):
        body = json.dumps({"id": identifier, "fail": fail})
        small.sqs().send_message(QueueUrl=small.queue("Hasty"), MessageBody=body)
    small.wait_drained()

    assert small.seen("good") >= 1
    dead = small.sqs().receive_message(QueueUrl=small.queue("Dead"), WaitTimeSeconds=5)
    assert ['"bad"' in message.get("Body", "") for message in dead.get("Messages", [])] == [True]


def test_objects_made_and_removed_become_events_on_the_bus(small: Small) -> None:
    s3 = small.s3()
    first = s3.put_object(Bucket="small-objects", Key="a dir/ä+b.glb", Body=b"123")
    s3.put_object(Bucket="small-objects", Key="other.obj", Body=b"1")
    small.wait_drained()
    assert small.seen("Object Created:a dir/ä+b.glb") == 1
    event = json.loads(small.seen_item("Object Created:a dir/ä+b.glb")["message"]["S"])
    assert event["source"] == "aws.s3"
    assert event["detail"]["bucket"] == {"name": "small-objects"}
    assert event["detail"]["object"]["version-id"] == first["VersionId"]
    assert event["detail"]["object"]["size"] == 3

    s3.put_object(Bucket="small-objects", Key="a dir/ä+b.glb", Body=b"12345")
    s3.delete_object(Bucket="small-objects", Key="other.obj")
    small.wait_drained()

    assert small.seen("Object Created:a dir/ä+b.glb") == 2
    assert small.seen("Object Deleted:other.obj") == 1


def test_a_multipart_upload_is_one_event_with_its_size(small: Small) -> None:
    s3 = small.s3()
    upload = s3.create_multipart_upload(Bucket="small-objects", Key="parts.bin")["UploadId"]
    size = 5 * 1024 * 1024
    parts = [
        {
            "ETag": s3.upload_part(
                Bucket="small-objects",
                Key="parts.bin",
                UploadId=upload,
                PartNumber=number,
                Body=b"x" * size,
            )["ETag"],
            "PartNumber": number,
        }
        for number in (1, 2)
    ]
    s3.complete_multipart_upload(
        Bucket="small-objects",
        Key="parts.bin",
        UploadId=upload,
        MultipartUpload={"Parts": parts},  # pyright: ignore[reportArgumentType]
    )
    small.wait_drained()

    item = small.seen_item("Object Created:parts.bin")
    assert item["times"] == {"N": "1"}
    assert json.loads(item["message"]["S"])["detail"]["object"]["size"] == 2 * size


def _errors(small: Small) -> int:
    return int(small.admin("/functions").json()["small-Worker"]["errors"])


def test_an_outage_of_the_table_engine_heals_by_itself(small: Small) -> None:
    before = _errors(small)
    small.admin(
        "/faults", "PUT", [{"engine": "dynamodb", "operation": "UpdateItem", "status": 400}]
    )
    small.sqs().send_message(QueueUrl=small.queue("Work"), MessageBody=json.dumps({"id": "outage"}))
    try:
        small.wait_for(lambda: _errors(small) > before)
        assert small.admin("/drained").json()["drained"] is False
        assert small.seen("outage") == 0
    finally:
        small.admin("/faults", "DELETE")
    small.wait_drained()

    assert small.seen("outage") == 1


def test_a_queue_engine_that_was_away_is_read_again(small: Small) -> None:
    small.admin("/engines/queues/kill", "POST")
    assert small.admin("/health").json()["engines"]["queues"]["healthy"] is False
    small.admin("/engines/queues/start", "POST")

    body = json.dumps({"id": "after the engine was away"})
    small.wait_for(lambda: small.admin("/health").json()["engines"]["queues"]["healthy"])
    small.sqs().send_message(QueueUrl=small.queue("Work"), MessageBody=body)
    small.wait_drained()

    assert small.seen("after the engine was away") == 1
