"""The guide on replaying failures, command by command, with real poison and real dead letters.

`test_docs` runs the commands of all other pages: here something has to be broken first.
"""

import json
import os
from typing import Any

import boto3
import httpx
import pytest
from botocore.config import Config

from local.engines import Options
from tests.journeys.runtime import Api, Runtime, noise, wait_until
from tests.journeys.test_docs import CLIENT, REPLAYING, commands, ran

OPTIONS = Options()
SESSION = boto3.Session(
    aws_access_key_id=OPTIONS.access_key,
    aws_secret_access_key=OPTIONS.secret_key,
    region_name=OPTIONS.region,
)


def nested_documents(runtime: Runtime, limit: int) -> None:
    """How many nested documents an asset may have; of more OpenSearch refuses the document."""
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
    """Put an object event where EventBridge puts what it cannot deliver."""
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
    return SESSION.client("s3", endpoint_url=runtime.endpoint["s3"], config=config)


def failure_bucket(s3: Any) -> str:
    names = [bucket["Name"] for bucket in s3.list_buckets()["Buckets"]]
    (found,) = (name for name in names if "failurebucket" in name.replace("-", "").lower())
    return found


@pytest.fixture
def broken(own_runtime: Runtime) -> Runtime:
    """A runtime with an asset that OpenSearch refuses, and a dead letter."""
    own_runtime.up()
    api = own_runtime.client()
    api.new_database("museum")
    pump, gear = (api.new_asset("museum", name) for name in ("Pump", "Gear"))
    api.upload("museum", gear, {"/gear.stl": [noise(100, "gear")]})
    own_runtime.drain()
    nested_documents(own_runtime, 1)
    set_metadata(api, "museum", pump, "material", "maker")
    set_metadata(api, "museum", gear, "material")
    own_runtime.drain()
    bucket = api.own_bucket()["bucketName"]
    dead_letter(own_runtime, bucket, f"{gear}/gear.stl")
    return own_runtime


def test_the_guide_leads_from_poison_and_dead_letters_to_none(broken: Runtime) -> None:
    api = broken.client()
    written = commands(REPLAYING)
    assert all(command.startswith(f"{CLIENT}admin ") for command in written)
    listing, show, replay, queues, redrive = written
    (stub,) = api.search(assetName="Pump")
    assert "MD_" not in stub
    assert [one["str_assetname"] for one in api.search(metadataKey="material")] == ["Gear"]
    assert "IndexChanges" in say(broken, listing)
    assert "nested documents" in say(broken, listing)
    assert "assets-1/museum:" in say(broken, show)
    nested_documents(broken, 10_000)
    assert "replayed\tIndexChanges/" in say(broken, replay)
    assert say(broken, f"{CLIENT}admin failures list") == ""

    def found() -> set[str]:
        return {one["str_assetname"] for one in api.search(metadataKey="material")}

    wait_until(lambda: found() == {"Pump", "Gear"})  # after the next refresh
    assert "ObjectEvents\t0\t0\t0\t1\t" in say(broken, queues)
    assert say(broken, redrive) == "ObjectEvents\t1\n"
    wait_until(lambda: "ObjectEvents\t0\t0\t0\t0\tcompleted" in say(broken, queues))
    broken.drain()
    assert len(api.search(databaseId="museum", entityTypes=["file"])) == 1


def say(runtime: Runtime, command: str) -> str:
    return ran(command, {**os.environ, "VITRINE_ENDPOINT": str(runtime.state / "endpoint.json")})
