"""A pipeline that writes ten thousand files: all become files of the asset, in many calls."""

import json
import os
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from botocore.config import Config

from tests.journeys.foreign_workflows import ALLOWED_QUEUES, WORKFLOW, define_workflow, queue_of
from tests.journeys.replaying import SESSION
from tests.journeys.runtime import Api, Runtime, wait_until

OUTPUTS = int(os.environ.get("OUTPUTS", "10000"))
PATIENCE = 1800
ASSET = "/database/forge/assets/hammer"
NAMES = [f"tiles/{number % 100:02}/{number:05}.txt" for number in range(OUTPUTS)]


@pytest.fixture
def deployment(tmp_path: Path) -> Iterator[Runtime]:
    made = Runtime(tmp_path / "state")
    made.up("--in-memory", "--set", f"allowedPipelineQueues={ALLOWED_QUEUES}")
    yield made
    made.down()


def test_ten_thousand_outputs_of_a_run_are_all_stored(deployment: Runtime) -> None:
    api = deployment.client()
    api.new_database("forge")
    api.new_asset("forge", "Hammer", assetId="hammer")
    define_workflow(api, "forge")
    body = {"workflowDatabaseId": "forge"}
    execution_id = api.ok("POST", f"{ASSET}/workflows/{WORKFLOW}", body)["message"]
    _work(deployment)
    begun = time.monotonic()

    def found() -> dict[str, Any]:
        return api.ok("GET", f"{ASSET}/executions/{execution_id}")["message"]

    active = {"NEW", "RUNNING"}
    wait_until(lambda: found()["executionStatus"] not in active, seconds=PATIENCE, every=1)
    sys.stdout.write(f"{OUTPUTS} outputs are stored in {time.monotonic() - begun:.0f} s\n")
    ended = found()
    assert ended["executionStatus"] == "SUCCEEDED", ended["error"]
    counted = ended["outputs"]
    assert (counted["fileCount"], counted["refusedCount"]) == (OUTPUTS, 0)
    assert sorted(_stored(api)) == sorted(f"/{name}" for name in NAMES)


def _stored(api: Api) -> list[str]:
    """The paths of the asset's files, from all pages."""
    paths: list[str] = []
    query = {"basic": "true", "pageSize": "1000"}
    while True:
        page = api.ok("GET", f"{ASSET}/listFiles", params=query)
        paths += [file["relativePath"] for file in page["items"] if not file["isFolder"]]
        if not page.get("NextToken"):
            return paths
        query["startingToken"] = page["NextToken"]


def _work(deployment: Runtime) -> None:
    """Receive the message of the pipeline, write the files, and reply."""
    sqs, queue = queue_of(deployment)
    messages: list[Any] = []

    def received() -> bool:
        reply = sqs.receive_message(QueueUrl=queue, WaitTimeSeconds=1)
        messages.extend(reply.get("Messages", ()))
        return bool(messages)

    wait_until(received)
    body = json.loads(messages[0]["Body"])["body"]
    bucket, _, folder = body["outputS3AssetFilesPath"].removeprefix("s3://").partition("/")
    config = Config(signature_version="s3v4", max_pool_connections=16)
    url = deployment.endpoint["s3"]
    s3: Any = SESSION.client("s3", endpoint_url=url, config=config, **deployment.keys)

    def put(name: str) -> None:
        s3.put_object(Bucket=bucket, Key=folder + name, Body=name.encode())

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(put, NAMES))
    states: Any = SESSION.client("stepfunctions", endpoint_url=deployment.endpoint["states"])
    states.send_task_success(taskToken=body["TaskToken"], output="{}")
