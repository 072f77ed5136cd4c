"""Many at once: a thousand uploads, ten thousand outputs, and all models of Debian."""

import json
import os
import sys
import threading
import time
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime
from itertools import accumulate
from pathlib import Path
from typing import Any

import psutil
import pytest
from botocore.config import Config

from tests.journeys.foreign_workflows import ALLOWED_QUEUES, WORKFLOW, define_workflow, queue_of
from tests.journeys.replaying import SESSION
from tests.journeys.runtime import Api, Runtime, wait_until
from tests.journeys.test_uploads import figures

UPLOADS = int(os.environ.get("UPLOADS", "1000"))
ASSETS = 10
AT_ONCE = 3
"""The setting `executionsAtOnce` of the local stage."""
DATABASE = "thousand"
GIBIBYTE = 1024**3
SECONDS = 120 + 2 * UPLOADS
"""Two seconds per upload, on two busy cores."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Assets of triangles, each of another size."""
    for number in range(UPLOADS):
        asset = tmp_path / "models" / f"asset-{number % ASSETS}"
        asset.mkdir(parents=True, exist_ok=True)
        text = f"v 0 0 0\nv {number + 1} 0 0\nv 0 1 0\nf 1 2 3\n"
        (asset / f"{number:04}.obj").write_text(text)
    return tmp_path / "models"


@contextmanager
def watched(pid: int) -> Generator[list[int]]:
    """Yield the resident bytes of a process and its children, once a second."""
    ended, seen = threading.Event(), [_resident(pid)]

    def watch() -> None:
        while not ended.wait(1):
            seen.append(_resident(pid))

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield seen
    finally:
        ended.set()
        thread.join()


def _resident(pid: int) -> int:
    """Unshared memory: shared memory of several processes would count several times."""
    runner = psutil.Process(pid)
    result = 0
    for process in (runner, *runner.children(recursive=True)):
        try:
            result += process.memory_full_info().uss
        except psutil.NoSuchProcess:
            continue  # it has ended meanwhile
    return result


def executions(api: Api) -> list[dict[str, Any]]:
    """All executions on the assets of the database."""
    result: list[dict[str, Any]] = []
    for asset in api.ok("GET", f"/database/{DATABASE}/assets")["Items"]:
        path = f"/database/{DATABASE}/assets/{asset['assetId']}/workflows/executions"
        page = api.ok("GET", path)["message"]
        result += page["Items"]
        while "NextToken" in page:
            page = api.ok("GET", path, params={"startingToken": page["NextToken"]})["message"]
            result += page["Items"]
    return result


def most_at_once(found: list[dict[str, Any]]) -> int:
    """Maximum number of executions at the same time; one that ends releases its place first."""
    changes = [(datetime.fromisoformat(item["startedAt"]), 1) for item in found]
    changes += [(datetime.fromisoformat(item["stoppedAt"]), -1) for item in found]
    return max(accumulate(change for _, change in sorted(changes)))


def test_a_thousand_uploads_are_all_processed(runtime: Runtime, folder: Path) -> None:
    pid = json.loads((runtime.state / "runner.json").read_text())["pid"]
    plain = runtime.client().new_database("thousand-plain", processing=False)
    with watched(pid) as without:
        assert figures(runtime, folder, plain, seconds=SECONDS)["unexplained"] == UPLOADS
    with watched(pid) as resident:
        result = figures(runtime, folder, DATABASE, seconds=SECONDS)
    assert result["searchable"] == result["files"] == UPLOADS
    assert result["facts"] == result["thumbnails"] == result["glbs"] == UPLOADS
    runs = executions(runtime.client())
    assert [run["executionStatus"] for run in runs] == ["SUCCEEDED"] * UPLOADS
    most = most_at_once(runs)
    more = max(resident) - max(without)
    sys.stdout.write(
        f"{UPLOADS} uploads: {most} executions at once, {more / GIBIBYTE:.2f} GiB more memory\n"
    )
    assert most <= AT_ONCE
    assert more < GIBIBYTE


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


DEBIAN_MODELS = Path("/usr/share/assimp/models")


def test_every_file_of_debians_models_is_found_and_inspected(runtime: Runtime) -> None:
    assert DEBIAN_MODELS.is_dir(), "install Debian's package assimp-testmodels"
    result = figures(runtime, DEBIAN_MODELS, "models", seconds=1200)
    assert result["searchable"] == result["files"] == 595
    # 360 models and 67 images.
    assert result["facts"] >= 427, result
    assert result["thumbnails"] >= 414, result
    assert result["glbs"] >= 350, result
    # Every other file has a reason in words; of 113, that its extension is not inspected.
    assert result["unexplained"] == 0, result
    assert result["facts"] + result["refused"] == 595, result
