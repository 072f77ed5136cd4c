"""The shipped pipelines outlast an outage: each file is read, however few environments exist.

The state machine, its pauses, the pipeline and the SDK are real. The service that runs the readers
counts environments as Lambda does in tenant isolation: each serves one tenant, also while idle. It
ends some whenever it has refused a call, so that the test does not depend on time.
"""

import json
import threading
import uuid
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import boto3
import pytest
from botocore.config import Config

from backend.aws import function_calls
from backend.aws.function_calls import LambdaCalls
from backend.core.errors import UnavailableError
from backend.entrypoints.inspection import Inspector
from backend.entrypoints.reading import RemoteReading
from backend.spec.formats import EXTENSIONS_OF
from backend.spec.functions.inspection import READER_SECONDS
from tests.integration.local.states.conftest import FunctionError, Site, pipeline
from tests.integration.processing.test_inspecting import FakeWorkFiles
from tests.unit.processing import samples

FILES = 500
# A new account: 2,500 environments for each 1,000 concurrent executions, of which it has ten.
# Source: Lambda Developer Guide, "Tenant isolation", quotas.
ENVIRONMENTS = 25
ENDED = 5
AT_ONCE = 50
FACTS = {"format": "OBJ", "triangles": 12}


class Environments(ThreadingHTTPServer):
    """Lambda's Invoke for one function."""

    daemon_threads = True
    request_queue_size = AT_ONCE

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Invocation)
        self.lock = threading.Lock()
        self.tenants: list[str] = []
        self.most = self.refused = 0

    def admit(self, tenant: str) -> bool:
        with self.lock:
            if tenant in self.tenants:
                return True
            if len(self.tenants) == ENVIRONMENTS:
                self.refused += 1
                del self.tenants[:ENDED]
                return False
            self.tenants.append(tenant)
            self.most = max(self.most, len(self.tenants))
            return True


class _Invocation(BaseHTTPRequestHandler):
    server: Environments  # pyright: ignore[reportIncompatibleVariableOverride] - as it is created

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        if self.server.admit(self.headers["X-Amz-Tenant-Id"]):
            self._reply(200, {"result": {"facts": FACTS}, "wrote": []})
        else:
            self._reply(429, {"Reason": "CallerRateLimitExceeded", "message": "Rate Exceeded."})

    def _reply(self, status: int, body: object) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        if status != 200:
            self.send_header("x-amzn-ErrorType", "TooManyRequestsException")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
        """Log nothing."""


@pytest.fixture
def environments() -> Iterator[Environments]:
    server = Environments()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    thread.join(10)
    server.server_close()


def _inspector(environments: Environments, files: FakeWorkFiles) -> Inspector:
    session: Any = boto3.Session("local", "local-secret", region_name="us-east-1")
    config = Config(retries={"total_max_attempts": 1}, max_pool_connections=1)
    url = f"http://127.0.0.1:{environments.server_port}"
    client = session.client("lambda", endpoint_url=url, config=config)
    calls = LambdaCalls(client, READER_SECONDS)
    remote = RemoteReading(files, calls, "reader", READER_SECONDS, False, lambda: str(uuid.uuid4()))
    return Inspector(files, None, EXTENSIONS_OF["Inspect"], remote)


def _body(number: int) -> dict[str, Any]:
    run = f"s3://auxiliary/pipelines/r{number}/1/"
    return {
        "inputS3AssetFilePath": f"s3://assets/statue/{number}.obj",
        "outputS3AssetFilesPath": run + "files/",
        "outputS3AssetPreviewPath": run + "previews/",
        "outputS3AssetMetadataPath": run + "metadata/",
        "bucketAsset": "assets",
        "inputAssetLocationKey": "statue/",
        "executionId": f"r{number}",
    }


def test_each_of_500_files_has_facts_where_25_environments_exist(
    site: Site, environments: Environments, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The pipeline gives up at once instead of after a minute: the pauses are the state machine's.
    monkeypatch.setattr(function_calls, "_BUSY_SECONDS", 0)
    files, given_up = FakeWorkFiles(), list[str]()
    # A client names its tenant by an event handler: each instance of the function has its own.
    instances = threading.local()

    def inspect(event: Any) -> object:
        if not hasattr(instances, "inspector"):
            instances.inspector = _inspector(environments, files)
        try:
            return instances.inspector.handle(event)
        except UnavailableError as error:
            given_up.append(event["body"]["executionId"])
            raise FunctionError(type(error).__name__, str(error)) from error

    monkeypatch.setitem(site.functions.handlers, "inspect-all", inspect)
    for number in range(FILES):
        files.objects["assets", f"statue/{number}.obj"] = samples.cube_obj()
    # As admission does: an execution starts when another has ended.
    slots = threading.Semaphore(AT_ONCE)
    ends: list[str] = []

    def note_end(event: Any) -> None:
        if event["detail"]["status"] != "RUNNING":
            ends.append(event["detail"]["status"])
            slots.release()

    monkeypatch.setitem(site.functions.handlers, "on-status", note_end)
    for number in range(FILES):
        assert slots.acquire(timeout=300)
        site.start(pipeline("Lambda", "inspect-all", message=_body(number)))
    site.wait_for(lambda: len(ends) == FILES, seconds=300)
    assert set(ends) == {"SUCCEEDED"}
    results = [
        json.loads(files.objects["auxiliary", f"pipelines/r{number}/1/metadata/inspection.json"])
        for number in range(FILES)
    ]
    assert all(result["facts"] == FACTS for result in results)
    assert environments.most == ENVIRONMENTS
    assert len(given_up) == environments.refused >= (FILES - ENVIRONMENTS) / ENDED
