"""Workflows, pipelines of others, and the main path: create, upload, describe, find."""

import json
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.journeys import canaries
from tests.journeys.foreign_workflows import define_workflow, queue_of
from tests.journeys.replaying import SESSION
from tests.journeys.runtime import Api, Runtime, noise, wait_for, wait_until

TRIANGLE = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"
SHIPPED = "vitrine-inspect"
SAMPLE = Path(__file__).parents[2] / "samples" / "pipelines" / "inspect-again.json"


def executions(api: Api, path: str) -> list[dict[str, Any]]:
    """The executions on an asset, the newest first."""
    items: list[dict[str, Any]] = api.ok("GET", f"{path}/workflows/executions")["message"]["Items"]
    return items


def have_ended(api: Api, path: str, count: int) -> bool:
    """Whether there are so many executions on an asset, and all of them have ended."""
    result = executions(api, path)
    active = [item for item in result if item["executionStatus"] in {"NEW", "RUNNING"}]
    return len(result) >= count and not active


def test_an_upload_runs_the_shipped_workflow_and_a_user_runs_it_again(
    runtime: Runtime,
) -> None:
    api = runtime.client()
    database = api.new_database(f"db-{uuid4().hex[:12]}", processing=True)
    asset = api.new_asset(database, "Pump")
    path = f"/database/{database}/assets/{asset}"
    api.upload(database, asset, {"/parts/a.obj": [TRIANGLE]})
    wait_until(lambda: have_ended(api, path, 1))
    (first,) = executions(api, path)
    assert (first["workflowId"], first["executionStatus"]) == (SHIPPED, "SUCCEEDED")
    assert (first["trigger"], first["inputAssetFileKey"]) == ("upload", f"{asset}/parts/a.obj")
    body = {"workflowDatabaseId": "GLOBAL", "fileKey": "/parts/a.obj"}
    started = api.ok("POST", f"{path}/workflows/{SHIPPED}", body)["message"]
    wait_until(lambda: have_ended(api, path, 2))
    result = executions(api, path)
    assert [item["executionId"] for item in result] == [started, first["executionId"]]
    assert result[0]["executionStatus"] == "SUCCEEDED"
    shown = api.ok("GET", f"{path}/executions/{started}")["message"]
    (step,) = shown["steps"]
    assert (step["pipelineId"], step["state"]) == (SHIPPED, "SUCCEEDED")
    assert step["startedAt"] <= step["stoppedAt"]
    # The outputs of the run started nothing, or it would be listed.
    runtime.drain()
    assert len(executions(api, path)) == 2
    assert api.refused("POST", f"{path}/workflows/unknown", body)[0] == 404


def test_the_pipeline_of_the_guide_inspects_a_file_and_is_refused_for_a_whole_asset(
    runtime: Runtime,
) -> None:
    api = runtime.client()
    database = api.new_database(f"db-{uuid4().hex[:12]}", processing=False)
    pipeline = {**json.loads(SAMPLE.read_text(encoding="utf-8")), "databaseId": database}
    api.ok("PUT", "/pipelines", pipeline)
    function = {"name": pipeline["pipelineId"], "databaseId": database}
    workflow = {
        "workflowId": "look-again",
        "databaseId": database,
        "description": "Inspects a file on request",
        "specifiedPipelines": {"functions": [function]},
    }
    api.ok("PUT", "/workflows", workflow)
    asset = api.new_asset(database, "Pump")
    path = f"/database/{database}/assets/{asset}"
    api.upload(database, asset, {"/a.obj": [TRIANGLE]})
    for workflow_id, owner in (("look-again", database), (SHIPPED, "GLOBAL")):
        body = {"workflowDatabaseId": owner}
        status, reply = api.refused("POST", f"{path}/workflows/{workflow_id}", body)
        assert (status, "reads a single file" in str(reply)) == (400, True)
    body = {"workflowDatabaseId": database, "fileKey": "/a.obj"}
    started = api.ok("POST", f"{path}/workflows/look-again", body)["message"]
    wait_until(lambda: have_ended(api, path, 1))
    shown = api.ok("GET", f"{path}/executions/{started}")["message"]
    assert (shown["executionStatus"], shown["outputs"]["metadata"]) == ("SUCCEEDED", ["/a.obj"])
    assert [execution["executionId"] for execution in executions(api, path)] == [started]


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
        result: list[Any] = []
        wait_until(lambda: result.extend(self._received()) or bool(result))
        self.handler(json.loads(result[0]["Body"]))
        self.sqs.delete_message(QueueUrl=self.url, ReceiptHandle=result[0]["ReceiptHandle"])

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
    shown = {file["relativePath"]: file.get("previewFile") for file in files}
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


MIB = 1024 * 1024


def test_uploaded_files_with_metadata_are_found(runtime: Runtime, database: str) -> None:
    api = runtime.client()
    asset = api.new_asset(database, "Beam Engine")
    parts = [noise(5 * MIB, "first"), noise(1000, "second")]
    reply = api.upload(database, asset, {"/models/engine.glb": parts, "/empty.txt": []})
    assert reply["overallSuccess"] is True
    path = f"/database/{database}/assets/{asset}/metadata"
    entry = {"metadataKey": "maker", "metadataValue": "Boulton", "metadataValueType": "string"}
    assert api.ok("POST", path, {"metadata": [entry]})["successCount"] == 1
    file_path = f"{path}/file"
    described = {"filePath": "/models/engine.glb", "type": "metadata", "metadata": [entry]}
    assert api.ok("POST", file_path, described)["successCount"] == 1

    def itself() -> list[tuple[str, str, Any]]:
        hits = api.search(query="beam", databaseId=database, entityTypes=["asset"])
        return [(f["str_assetname"], f["str_assetid"], f.get("MD_")) for f in hits]

    def files(**more: str) -> set[tuple[str, int]]:
        hits = api.search(databaseId=database, entityTypes=["file"], **more)
        return {(f["str_key"], f["num_filesize"]) for f in hits}

    model = (f"{asset}/models/engine.glb", 5 * MIB + 1000)
    wait_for(itself, [("Beam Engine", asset, {"maker": "Boulton"})])
    wait_for(files, {model, (f"{asset}/empty.txt", 0)})
    wait_for(lambda: files(metadataKey="maker", metadataValue="boulton"), {model})


def test_a_new_name_reaches_the_documents_of_the_files(runtime: Runtime, database: str) -> None:
    api = runtime.client()
    asset = api.new_asset(database, "Before")
    api.upload(database, asset, {f"/part-{n}.obj": [b"v 0 0 0\n"] for n in range(12)})

    def names() -> list[str]:
        hits = api.search(databaseId=database, entityTypes=["file"])
        return [item["str_assetname"] for item in hits]

    wait_for(names, ["Before"] * 12)
    api.ok("PUT", f"/database/{database}/assets/{asset}", {"assetName": "After"})
    wait_for(names, ["After"] * 12)


def test_both_mappings_are_returned(api: Api) -> None:
    mappings = api.ok("GET", "/search")["mappings"]
    assert mappings["asset_index"]["mappings"]["properties"]["MD_"]["type"] == "flat_object"
    assert mappings["file_index"]["mappings"]["properties"]["AB_"]["type"] == "flat_object"
