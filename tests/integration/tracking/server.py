"""`mlflow server` as a process of its own, on a table of DynamoDB Local."""

import os
import subprocess
import sys
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from local.engines import LOOPBACK, Options, free_port

_STARTED_WITHIN_SECONDS = 180
_REPLIED_WITHIN_SECONDS = 60  # the first request of a worker loads the store


@dataclass(frozen=True)
class Server:
    """A running server."""

    url: str
    environment: Mapping[str, str]  # of its clients

    def ui(self, method: str, path: str, **options: Any) -> Any:
        """Send a request as the pages of the UI do; return the JSON of the reply."""
        return self._read_reply(self._send(method, f"ajax-api/{path}", **options))

    def api(self, method: str, path: str, **options: Any) -> httpx.Response:
        """Send a request as clients of other languages do."""
        return self._send(method, f"api/{path}", **options)

    def post_graphql(self, body: Any) -> Any:
        return self._read_reply(self._send("POST", "graphql", json=body))

    def _send(self, method: str, path: str, **options: Any) -> httpx.Response:
        url = f"{self.url}/{path}"
        return httpx.request(method, url, timeout=_REPLIED_WITHIN_SECONDS, **options)

    def _read_reply(self, reply: httpx.Response) -> Any:
        assert reply.is_success, f"{reply.status_code} {reply.url} {reply.text}"
        return reply.json()

    def run(self, script: Path, *arguments: str) -> str:
        """Run a client's script to its end; return its output."""
        result = subprocess.run(
            [sys.executable, str(script), *arguments],
            env=dict(self.environment), capture_output=True, text=True, check=False, timeout=100,
        )  # fmt: skip
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout


def store_uri(table: str, dynamodb: str) -> str:
    return f"dynamodb://{table}?region={Options().region}&endpoint={dynamodb}"


@contextmanager
def serve(uri: str, folder: Path, *arguments: str, **environment: str) -> Generator[Server]:
    """Start `mlflow server` on a store, and end its whole process group after the block."""
    port = free_port()
    options = Options()
    variables = {
        **{name: os.environ[name] for name in ("PATH", "LANG", "TZ") if name in os.environ},
        "HOME": str(folder),
        "AWS_ACCESS_KEY_ID": options.access_key,
        "AWS_SECRET_ACCESS_KEY": options.secret_key,
        "MLFLOW_DISABLE_TELEMETRY": "true",
        "MLFLOW_TRACKING_URI": f"http://{LOOPBACK}:{port}",
        "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1",  # a failure must not look like a slow server
        "GIT_PYTHON_REFRESH": "quiet",
        **environment,
    }  # fmt: skip
    log = folder / "server.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [str(Path(sys.executable).with_name("mlflow")), "server", "--workers", "1",
             "--host", LOOPBACK, "--port", str(port), "--backend-store-uri", uri,
             "--artifacts-destination", str(folder / "artifacts"), *arguments],
            env={**variables, "MLFLOW_TRACKING_URI": ""}, stdout=output, stderr=output, cwd=folder,
            start_new_session=True,
        )  # fmt: skip
    try:
        wait(process, f"http://{LOOPBACK}:{port}/health", log)
        yield Server(f"http://{LOOPBACK}:{port}", variables)
    finally:
        end(process)


def wait(process: "subprocess.Popen[bytes]", url: str, log: Path) -> None:
    end = time.monotonic() + _STARTED_WITHIN_SECONDS
    while time.monotonic() < end:
        try:
            if httpx.get(url, timeout=5).is_success:
                return
        except httpx.TransportError:
            time.sleep(0.1)
        assert process.poll() is None, log.read_text()
    raise AssertionError(log.read_text())


def end(process: "subprocess.Popen[bytes]") -> None:
    if process.poll() is None:
        os.killpg(process.pid, 15)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.wait()
