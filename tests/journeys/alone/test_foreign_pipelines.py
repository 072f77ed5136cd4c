"""A pipeline function written for VAMS, unchanged: it reads `body`, writes outputs, and answers.

The deployment's setting lets pipelines name the queue by which it is called.
"""

import json
import re
from typing import Any, cast

import boto3
import pytest

from local.engines import Options
from tests.journeys import canaries
from tests.journeys.runtime import Api, Runtime, wait_until

OPTIONS = Options()
QUEUE = "convert-jobs"
QUEUE_URL = f"https://sqs.us-east-1.amazonaws.com/000000000000/{QUEUE}"


def client(service: str, endpoint: str) -> Any:
    """Somebody's own client of the runtime's engines."""
    return cast("Any", boto3).client(
        service,
        endpoint_url=endpoint,
        region_name=OPTIONS.region,
        aws_access_key_id=OPTIONS.access_key,
        aws_secret_access_key=OPTIONS.secret_key,
    )


class Pipeline:
    """Somebody else's function behind a queue; `bad` makes it write what no asset may hold."""

    def __init__(self, runtime: Runtime) -> None:
        log = (runtime.state / "logs" / "up.log").read_text()
        queues = re.search(r"queues: ready at (\S+)", log)
        assert queues is not None
        self.s3 = client("s3", runtime.endpoint["s3"])
        self.sqs = client("sqs", queues[1])
        self.states = client("stepfunctions", runtime.endpoint["states"])
        self.url = self.sqs.create_queue(QueueName=QUEUE)["QueueUrl"]
        self.bad = False

    def work(self) -> None:
        """Take one message."""
        found: list[Any] = []
        wait_until(lambda: found.extend(self._received()) or bool(found))
        self.handler(json.loads(found[0]["Body"]))
        self.sqs.delete_message(QueueUrl=self.url, ReceiptHandle=found[0]["ReceiptHandle"])

    def handler(self, event: dict[str, Any]) -> None:
        body = event["body"]
        canaries.planted.add(body["TaskToken"])
        bucket, key = _parts(body["inputS3AssetFilePath"])
        text = self.s3.get_object(Bucket=bucket, Key=key)["Body"].read()
        path = key.removeprefix(body["inputAssetLocationKey"])
        files, metadata = body["outputS3AssetFilesPath"], body["outputS3AssetMetadataPath"]
        self._write(files + path + ".txt", text.upper())
        self._write(body["outputS3AssetPreviewPath"] + path + ".previewFile.gif", b"GIF89a")
        record = {"metadataKey": "pages", "metadataValue": "3", "metadataValueType": "number"}
        self._write(metadata + path + ".metadata.json", json.dumps({"metadata": [record]}))
        if self.bad:
            self._write(files + "tool.exe", b"x")
        self.states.send_task_success(taskToken=body["TaskToken"], output="{}")

    def _received(self) -> list[Any]:
        reply = self.sqs.receive_message(QueueUrl=self.url, WaitTimeSeconds=1)
        return list(reply.get("Messages", []))

    def _write(self, uri: str, body: bytes | str) -> None:
        bucket, key = _parts(uri)
        self.s3.put_object(Bucket=bucket, Key=key, Body=body)


@pytest.fixture
def pipeline(runtime: Runtime) -> Pipeline:
    return Pipeline(runtime)


def test_outputs_are_stored_and_a_failing_run_names_what_was_stored(
    runtime: Runtime, pipeline: Pipeline
) -> None:
    api = runtime.client()
    api.new_database("forge")
    asset = {"databaseId": "forge", "assetId": "hammer", "assetName": "hammer"}
    api.ok("POST", "/assets", {**asset, "description": "a hammer", "isDistributable": True})
    bucket = api.own_bucket()["bucketName"]
    pipeline.s3.put_object(Bucket=bucket, Key="hammer/in/notes.md", Body=b"hello")
    _workflow(api)

    done = _run(api, pipeline)
    assert done["executionStatus"] == "SUCCEEDED", done
    assert done["outputs"]["files"] == ["/in/notes.md.txt"]
    files = api.ok("GET", "/database/forge/assets/hammer/listFiles")["items"]
    shown = {one["relativePath"]: one.get("previewFile") for one in files}
    assert shown["/in/notes.md"] == "hammer/in/notes.md.previewFile.gif"
    assert "/in/notes.md.txt" in shown
    where = "/database/forge/assets/hammer/metadata/file?filePath=/in/notes.md&type=metadata"
    (record,) = api.ok("GET", where)["metadata"]
    assert record["metadataValue"] == "3"

    pipeline.bad = True
    failed = _run(api, pipeline)
    assert failed["executionStatus"] == "FAILED"
    assert failed["error"]["code"] == "OutputsRefused"
    assert "1/files/tool.exe: the extension .exe is blocked" in failed["error"]["message"]
    assert (failed["outputs"]["fileCount"], failed["outputs"]["refusedCount"]) == (1, 1)


def _workflow(api: Api) -> None:
    shared = {
        "databaseId": "forge",
        "pipelineType": "standardFile",
        "pipelineExecutionType": "SQS",
        "outputType": ".txt",
        "waitForCallback": "Enabled",
        "taskTimeout": "600",
    }
    described = {"pipelineId": "convert", "description": "Converts files", "assetType": ".md"}
    api.ok("PUT", "/pipelines", {**shared, **described, "sqsQueueUrl": QUEUE_URL})
    resource = {"resourceId": QUEUE_URL, "resourceType": "SQS", "isProvided": True}
    function = {**shared, "name": "convert", "userProvidedResource": json.dumps(resource)}
    body = {"workflowId": "convert", "databaseId": "forge", "description": "Converts files"}
    api.ok("PUT", "/workflows", {**body, "specifiedPipelines": {"functions": [function]}})


def _run(api: Api, pipeline: Pipeline) -> dict[str, Any]:
    """Run the workflow on the file; the execution when it has ended."""
    of = "/database/forge/assets/hammer"
    body = {"workflowDatabaseId": "forge", "fileKey": "in/notes.md"}
    execution_id = api.ok("POST", f"{of}/workflows/convert", body)["message"]
    pipeline.work()

    def found() -> dict[str, Any]:
        return api.ok("GET", f"{of}/executions/{execution_id}")["message"]

    wait_until(lambda: found()["executionStatus"] not in {"NEW", "RUNNING"})
    return found()


def _parts(uri: str) -> tuple[str, str]:
    bucket, _, key = uri.removeprefix("s3://").partition("/")
    return bucket, key
