"""A pipeline function written for VAMS, unchanged: it reads `body`, writes outputs, and replies.

The deployment's setting allows pipelines to name the queue by which it is called.
"""

import json
from typing import Any

import pytest

from tests.journeys import canaries
from tests.journeys.foreign_workflows import define_workflow, queue_of
from tests.journeys.replaying import SESSION
from tests.journeys.runtime import Api, Runtime, wait_until

HAMMER = "/database/forge/assets/hammer"


class Pipeline:
    """Functions of another owner behind a queue.

    `bad` makes one write an output that an asset refuses. `failure` makes it reply with an error of
    that cause.
    """

    def __init__(self, runtime: Runtime) -> None:
        self.s3: Any = SESSION.client("s3", endpoint_url=runtime.endpoint["s3"], **runtime.keys)
        states = runtime.endpoint["states"]
        self.states: Any = SESSION.client("stepfunctions", endpoint_url=states)
        self.sqs, self.url = queue_of(runtime)
        self.bad = False
        self.failure = ""
        self.inputs: list[str] = []

    def work(self) -> None:
        """Receive one message."""
        found: list[Any] = []
        wait_until(lambda: found.extend(self._received()) or bool(found))
        self.handler(json.loads(found[0]["Body"]))
        self.sqs.delete_message(QueueUrl=self.url, ReceiptHandle=found[0]["ReceiptHandle"])

    def handler(self, event: dict[str, Any]) -> None:
        body = event["body"]
        canaries.plant_words(body["TaskToken"])
        self.inputs.append(body["inputS3AssetFilePath"])
        if self.failure:
            self.states.send_task_failure(
                taskToken=body["TaskToken"], error="Broken", cause=self.failure
            )
            return
        bucket, key = _parts(body["inputS3AssetFilePath"])
        if key.endswith("/1/files/"):  # the second pipeline, which writes nothing
            self.states.send_task_success(taskToken=body["TaskToken"], output="{}")
            return
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
    define_workflow(api, "forge", "report")

    done = _run(api, pipeline)
    assert done["executionStatus"] == "SUCCEEDED", done
    read, report = pipeline.inputs
    assert read == f"s3://{bucket}/hammer/in/notes.md"
    assert report.endswith(f"/pipelines/{done['executionId']}/1/files/")
    first, second = done["steps"]
    assert (first["state"], second["state"]) == ("SUCCEEDED", "SUCCEEDED")
    assert first["startedAt"] <= first["stoppedAt"] <= second["startedAt"] <= second["stoppedAt"]
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
    assert (
        "1/files/tool.exe: files with the extension .exe are blocked in this deployment"
        in failed["error"]["message"]
    )
    assert (failed["outputs"]["fileCount"], failed["outputs"]["refusedCount"]) == (1, 1)
    _check_no_secret_is_returned(runtime, pipeline)


def _check_no_secret_is_returned(runtime: Runtime, pipeline: Pipeline) -> None:
    """No reply or entry contains a token or a presigned URL, although a cause contains both."""
    api = runtime.client()
    signed = f"http://s3/a.md?X-Amz-Date=1&X-Amz-Signature={'5ca1ab1e' * 8}"
    token = "AQDEAAAAKgAAAAMAAAAAAAAAAT" * 8  # as long as those of Step Functions
    pipeline.failure = f"cannot read {signed} with {token}"
    for secret in (signed, token):
        canaries.plant(secret)
        canaries.plant_words(secret.rpartition("=")[2])
    failed = _run(api, pipeline, steps=1)
    assert failed["error"]["message"] == "cannot read http://s3/a.md?[removed] with [removed]"
    (first, second) = failed["steps"]
    assert (first["state"], "state" in second) == ("FAILED", False)
    execution = {"entity": f"execution:{failed['executionId']}"}
    texts = [
        json.dumps(failed),
        api.send("GET", f"{HAMMER}/workflows/executions").text,
        api.send("GET", "/audit", params=execution).text,
        api.send("GET", "/audit", params={"entity": "asset:forge:hammer"}).text,
    ]
    assert failed["executionId"] in texts[1]
    assert "start_execution" in texts[2]
    assert [canaries.found_in(text) for text in texts] == [set()] * len(texts)


def _run(api: Api, pipeline: Pipeline, *, steps: int = 2) -> dict[str, Any]:
    """Run the workflow on the file; return the execution when it has ended."""
    body = {"workflowDatabaseId": "forge", "fileKey": "in/notes.md"}
    execution_id = api.ok("POST", f"{HAMMER}/workflows/convert", body)["message"]
    for _ in range(steps):
        pipeline.work()

    def found() -> dict[str, Any]:
        return api.ok("GET", f"{HAMMER}/executions/{execution_id}")["message"]

    wait_until(lambda: found()["executionStatus"] not in {"NEW", "RUNNING"})
    return found()


def _parts(uri: str) -> tuple[str, str]:
    bucket, _, key = uri.removeprefix("s3://").partition("/")
    return bucket, key
