"""Real poison and real dead letters, for the commands of the guide on replaying failures."""

import json
import sqlite3
from collections.abc import Callable
from typing import Any

import boto3
import httpx
from botocore.config import Config

from backend.spec.schedules import SCHEDULES
from local.engines import Options
from local.state import StateFolder
from tests.factories.failures import BATCH_KEY, failed_batch
from tests.factories.search import stream_record
from tests.journeys.runtime import Api, Runtime, noise, wait_until

DATABASE = "workshop"
OPTIONS = Options()
SESSION = boto3.Session(
    aws_access_key_id=OPTIONS.access_key,
    aws_secret_access_key=OPTIONS.secret_key,
    region_name=OPTIONS.region,
)
"""For all engines but S3, which checks signatures with `Runtime.keys`."""


def nested_documents(runtime: Runtime, limit: int) -> None:
    """Maximum number of nested documents of an asset.

    With more, OpenSearch refuses the document.
    """
    answer = httpx.put(
        f"{runtime.endpoint['opensearch']}/assets-1/_settings",
        json={"index.mapping.nested_objects.limit": limit},
        timeout=30,
    )
    answer.raise_for_status()


def set_metadata(api: Api, database: str, asset: str, *keys: str) -> None:
    records = [
        {"metadataKey": key, "metadataValue": "brass", "metadataValueType": "string"}
        for key in keys
    ]
    path = f"/database/{database}/assets/{asset}/metadata"
    api.ok("POST", path, {"metadata": records})


def dead_letter(runtime: Runtime, bucket: str, key: str) -> None:
    """Put an object event into the queue where EventBridge puts undeliverable events."""
    url = runtime.admin("GET", "/health")["engines"]["queues"]["url"]
    sqs: Any = SESSION.client("sqs", endpoint_url=url)
    (queue,) = (
        found
        for found in sqs.list_queues().get("QueueUrls", [])
        if "ObjectEventsDeadLetters" in found
    )
    event = {
        "source": "aws.s3",
        "detail-type": "Object Created",
        "detail": {"bucket": {"name": bucket}, "object": {"key": key}},
    }
    sqs.send_message(QueueUrl=queue, MessageBody=json.dumps(event))


def s3_of(runtime: Runtime) -> Any:
    config = Config(signature_version="s3v4")
    return SESSION.client("s3", endpoint_url=runtime.endpoint["s3"], config=config, **runtime.keys)


def failure_bucket(s3: Any) -> str:
    names = [bucket["Name"] for bucket in s3.list_buckets()["Buckets"]]
    (found,) = (name for name in names if "failurebucket" in name.replace("-", "").lower())
    return found


def abandon_batch(runtime: Runtime, database: str, asset: str) -> None:
    """Store a batch of a stream as Lambda does after a consumer's last attempt."""
    record = stream_record({"databaseId": database, "assetId": asset}, {})
    s3 = s3_of(runtime)
    s3.put_object(Bucket=failure_bucket(s3), Key=BATCH_KEY, Body=json.dumps(failed_batch([record])))
    (listed,) = runtime.client().ok("GET", "/admin/failures")["Items"]
    assert (listed["key"], listed["consumer"], listed["attempts"]) == (BATCH_KEY, "IndexChanges", 0)


def let_schedules_be_due(runtime: Runtime) -> None:
    """Set the last run of all schedules to a time days ago, as after a long stop of the runtime."""
    base = sqlite3.connect(StateFolder(runtime.state).journal)
    with base:
        assert base.execute("UPDATE schedules SET last = 0").rowcount == len(SCHEDULES)
    base.close()


def break_something(runtime: Runtime) -> None:
    """Create an asset in the database `workshop` that OpenSearch refuses, and a dead letter."""
    api = runtime.client()
    api.new_database(DATABASE)
    pump, gear = (api.new_asset(DATABASE, name) for name in ("Pump", "Gear"))
    api.upload(DATABASE, gear, {"/gear.stl": [noise(100, "gear")]})
    runtime.drain()
    nested_documents(runtime, 1)
    set_metadata(api, DATABASE, pump, "material", "maker")
    set_metadata(api, DATABASE, gear, "material")
    runtime.drain()
    dead_letter(runtime, api.own_bucket()["bucketName"], f"{gear}/gear.stl")


def follow_the_guide(runtime: Runtime, say: Callable[[str], str], written: list[str]) -> None:
    """Run the guide's commands in their order, after `break_something`.

    Args:
        runtime: a runtime that no other test uses meanwhile.
        say: runs a command against that runtime and returns what it prints.
        written: the guide's five commands.
    """
    api = runtime.client()
    listing, show, replay, queues, redrive = written

    def found() -> set[str]:
        hits = api.search(databaseId=DATABASE, metadataKey="material")
        return {one["str_assetname"] for one in hits}

    (stub,) = api.search(databaseId=DATABASE, assetName="Pump")
    assert "MD_" not in stub
    assert found() == {"Gear"}
    assert "IndexChanges" in say(listing)
    assert "nested documents" in say(listing)
    assert f"assets-1/{DATABASE}:" in say(show)
    nested_documents(runtime, 10_000)
    assert "replayed\tIndexChanges/" in say(replay)
    assert say(listing) == ""
    wait_until(lambda: found() == {"Pump", "Gear"})  # after the next refresh
    assert "ObjectEvents\t0\t0\t0\t1\t" in say(queues)
    assert say(redrive) == "ObjectEvents\t1\n"
    wait_until(lambda: "ObjectEvents\t0\t0\t0\t0\tcompleted" in say(queues))
    runtime.drain()
    assert len(api.search(databaseId=DATABASE, entityTypes=["file"])) == 1
